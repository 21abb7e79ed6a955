// Draws the curves of studies over one another.
(function () {
  "use strict";

  var data = JSON.parse(document.getElementById("data").textContent), box = document.getElementById("charts");
  data.charts.forEach(function (chart) {
    var place = window.Pessim.element("div", "compared");
    place.appendChild(window.Pessim.element("h2", "", chart.title));
    box.appendChild(place);
    chart.series.forEach(function (one) { one.points = []; });
    new window.Pessim.Plot(place, Object.assign({ now: null, hidden: {} }, chart));
  });
}());
