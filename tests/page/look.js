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

  setTimeout(function () {
    list("details").forEach(function (one) { one.open = true; });
    Promise.all(list("img").map(function (image) { return image.decode().catch(function () {}); }))
      .then(function () {
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
          hidden: list(".charts[hidden]").length
        });
      });
  }, 300);
});
