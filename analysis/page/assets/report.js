// Puts the charts of a report into their places; the pictures that show the same fold away.
(function () {
  "use strict";

  var charts = JSON.parse(document.getElementById("chart-data").textContent);
  var element = window.Pessim.element;

  // The pictures that show the same are still there for whoever wants them, and for paper.
  function fold(box) {
    var pictures = box.parentNode.querySelectorAll("figure.charted");
    if (!pictures.length) { return; }
    var details = element("details", "same"), together = element("div", "figures");
    details.appendChild(element("summary", "", "The same as a picture"));
    details.appendChild(together);
    box.parentNode.insertBefore(details, box.nextSibling);
    pictures.forEach(function (picture) {
      var left = picture.parentNode;
      together.appendChild(picture);
      if (!left.children.length) { left.remove(); }
    });
  }

  document.querySelectorAll(".charts").forEach(function (box) {
    var group = window.Pessim.group();
    box.hidden = false;
    box.querySelectorAll(".chart").forEach(function (place) {
      var aside = "The picture below shows the same, with a description in words.";
      var chart = charts[place.getAttribute("data-chart")];
      new window.Pessim.Chart(place, Object.assign({ aside: aside }, chart), group);
    });
  });
  document.querySelectorAll("section").forEach(function (part) {
    var box = part.querySelector(".charts");
    if (box) { fold(box); }
  });
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details.same").forEach(function (one) { one.open = true; });
  });
}());
