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

  // Whether anything but one colour was drawn on a canvas.
  function painted(canvas) {
    var bits = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    var seen = {};
    for (var at = 0; at < bits.length; at += 4) {
      seen[[bits[at], bits[at + 1], bits[at + 2], bits[at + 3]].join()] = true;
    }
    return Object.keys(seen).length > 3;
  }

  function ticks(chart) {
    var labels = chart.querySelectorAll(".dygraph-axis-label-x");
    return Array.prototype.map.call(labels, function (one) { return one.textContent; }).join();
  }

  function press(chart, word) {
    Array.prototype.filter.call(chart.querySelectorAll("button"), function (one) {
      return one.textContent === word;
    })[0].click();
  }

  // Charts that do not zoom with the first of their group, or do not come back.
  function stuck() {
    return list(".charts").map(function (group) {
      var charts = Array.prototype.slice.call(group.querySelectorAll(".chart"));
      if (!charts.length || !charts[0].querySelector("button")) { return []; }
      var before = charts.map(ticks);
      press(charts[0], "closer");
      var closer = charts.map(ticks);
      press(charts[0], "all");
      var after = charts.map(ticks);
      return charts.filter(function (chart, at) {
        return before[at] === closer[at] || before[at] !== after[at];
      }).map(name);
    });
  }

  setTimeout(function () {
    list("details").forEach(function (one) { one.open = true; });
    setTimeout(function () {
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
        stuck: [].concat.apply([], stuck()),
        hidden: list(".charts[hidden]").length
      });
    }, 300);
  }, 300);
});
