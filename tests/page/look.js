// Looks at the page in the frame: is it as wide as it should be, and is everything drawn?
document.getElementById("page").addEventListener("load", function () {
  "use strict";
  var view = this.contentWindow, page = this.contentDocument, root = page.documentElement;
  var width = root.clientWidth;

  function list(selector) { return Array.prototype.slice.call(page.querySelectorAll(selector)); }

  function name(one) {
    return one.tagName + "." + one.className + " " + (one.textContent || one.alt || "").slice(0, 40);
  }

  // What lies in a box that scrolls by itself, or in a part that is folded away, widens nothing.
  function loose(one) {
    return !one.closest(".scroll, pre, details:not([open]), .skip, .chart-canvas");
  }

  // Whether more than three colours were drawn on a canvas.
  function painted(canvas) {
    var bits = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    var seen = new Set();
    return new Uint32Array(bits.buffer).some(function (pixel) {
      return seen.add(pixel).size > 3;
    });
  }

  // What is written on a chart's canvas when it is drawn again: its ticks. The listener is the page's
  // own drawing context, since text on a canvas is in no document.
  function ticks(chart) {
    return (written.get(chart.querySelector("canvas")) || []).join();
  }

  var written = new Map(), context = view.CanvasRenderingContext2D.prototype;
  var clear = context.clearRect, fill = context.fillText;
  context.clearRect = function () {
    written.set(this.canvas, []);
    return clear.apply(this, arguments);
  };
  context.fillText = function (text) {
    (written.get(this.canvas) || []).push(text);
    return fill.apply(this, arguments);
  };

  function press(chart, word) {
    Array.prototype.filter.call(chart.querySelectorAll("button"), function (one) {
      return one.textContent === word;
    })[0].click();
  }

  // Presses a button of the first chart of each group, then passes on what all charts show.
  function pressed(word, then) {
    list(".charts").forEach(function (group) {
      var chart = group.querySelector(".chart");
      if (chart && chart.querySelector("button")) { press(chart, word); }
    });
    setTimeout(function () { then(list(".chart").map(ticks)); }, 50);
  }

  // Charts that do not zoom with the first of their group, or do not come back.
  function stuck(then) {
    pressed("show all", function () {
      pressed("zoom out", function (before) {
        pressed("zoom in", function (closer) {
          pressed("show all", function (after) {
            then(after, list(".chart").filter(function (chart, at) {
              return closer[at] === after[at] || (before[at] && before[at] !== after[at]);
            }).map(name));
          });
        });
      });
    });
  }

  // Buttons of lines that do not say that they have hidden theirs, or cannot show it again.
  function unhidden() {
    return list(".legend button").filter(function (one) {
      one.click();
      var hidden = one.getAttribute("aria-pressed") === "false";
      one.click();
      return !hidden || one.getAttribute("aria-pressed") !== "true";
    }).map(name);
  }

  setTimeout(function () {
    list("details").forEach(function (one) { one.open = true; });
    setTimeout(function () { stuck(function (axes, still) {
      document.getElementById("found").textContent = JSON.stringify({
        width: view.innerWidth,
        dark: view.matchMedia("(prefers-color-scheme: dark)").matches,
        background: view.getComputedStyle(page.body).backgroundColor,
        scrollWidth: Math.max(root.scrollWidth, page.body.scrollWidth),
        tooWide: list("body *").filter(loose).filter(function (one) {
          var box = one.getBoundingClientRect();
          return box.width > 0 && (box.right > width + 1 || box.left < -1);
        }).map(name),
        pictures: list("img").length,
        undrawn: list("img").filter(function (image) {
          return !image.complete || image.naturalWidth < 50 || image.width < 50 || !image.alt;
        }).map(name),
        charts: list(".chart").length,
        unpainted: list(".chart").filter(function (chart) {
          var canvases = Array.prototype.slice.call(chart.querySelectorAll("canvas"));
          return !canvases.some(painted) || chart.getBoundingClientRect().width > width;
        }).map(name),
        stuck: still,
        axes: axes,
        limits: list(".limit").map(function (one) { return one.textContent; }),
        unhidden: unhidden(),
        hidden: list(".charts[hidden]").length
      });
    }); }, 300);
  }, 300);
});
