// Draws the curves of studies over one another; charts over the same values zoom together.
(function () {
  "use strict";

  var data = JSON.parse(document.getElementById("data").textContent), groups = {};
  data.charts.forEach(function (chart) {
    var place = document.getElementById("charts").appendChild(window.Pessim.element("div"));
    var over = chart.axis + chart.x;
    groups[over] = groups[over] || window.Pessim.group();
    new window.Pessim.Chart(place, chart, groups[over]);
  });
}());
