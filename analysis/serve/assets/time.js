// One unit over simulated time: choose what happened, see what became of locks.
(function () {
  "use strict";

  var root = document.documentElement.getAttribute("data-root"), select = document.getElementById("unit");
  if (!select) { return; }
  var element = window.Pessim.element, short = window.Pessim.short;
  var found = null, chosen = -1, plots = [];

  function byId(id) { return document.getElementById(id); }

  function words(text) { return text.replace(/_/g, " "); }

  function choose(at) {
    chosen = Math.max(0, Math.min(found.events.length - 1, at));
    var event = found.events[chosen];
    if (!event) { return; }
    var latency = event.latency_ms, box = byId("event"), list = element("ul");
    Array.prototype.forEach.call(byId("timeline").querySelectorAll("button"), function (one) {
      one.setAttribute("aria-pressed", String(one.getAttribute("data-at") === String(chosen)));
    });
    event.counts.forEach(function (one) {
      list.appendChild(element("li", "", one.what + (one["class"] === "all" ? "" : ", " + one["class"]) + ": " + one.count.toLocaleString("en")));
    });
    box.replaceChildren(
      element("h2", "", words(event.kind) + (event.detail ? ": " + event.detail : "") + ", at " + event.at_s.toFixed(3) + " s"),
      element("p", "", "In the " + short(event.after_s) + " s from the start of its window" +
        (latency.after === null ? "" : ", mean lock latency " + short(latency.after) + " ms" +
          (latency.before === null ? "" : " (before " + short(latency.before) + " ms)")) + ":"),
      list);
    plots.forEach(function (one) { one.chart.now = event.at_s; one.lay(); });
  }

  function timeline() {
    var kinds = [];
    found.events.forEach(function (event) { if (kinds.indexOf(event.kind) < 0) { kinds.push(event.kind); } });
    byId("timeline").replaceChildren.apply(byId("timeline"), kinds.map(function (kind) {
      var lane = element("div", "lane"), line = element("div", "lane-line");
      lane.appendChild(element("span", "lane-name", words(kind)));
      found.events.forEach(function (event, at) {
        if (event.kind !== kind) { return; }
        var button = element("button", "happening");
        button.type = "button";
        button.setAttribute("data-at", at);
        button.setAttribute("aria-pressed", "false");
        button.setAttribute("aria-label", words(kind) + " " + event.detail + " at " + event.at_s.toFixed(3) + " s");
        button.title = button.getAttribute("aria-label");
        button.style.left = 100 * event.at_s / found.span_s + "%";
        button.addEventListener("click", function () { choose(at); });
        line.appendChild(button);
      });
      lane.appendChild(line);
      return lane;
    }));
    byId("steps").hidden = byId("event").hidden = !found.events.length;
    if (!found.events.length) { byId("timeline").appendChild(element("p", "note", "Nothing was done to the cluster in this unit.")); }
  }

  function charts() {
    var group = window.Pessim.group();
    plots.forEach(function (one) { one.plot.destroy(); });
    byId("charts").replaceChildren();
    plots = found.charts.map(function (chart) {
      return new window.Pessim.Chart(byId("charts").appendChild(element("div")), chart, group);
    });
  }

  function load() {
    fetch(root + "/api/time/" + select.getAttribute("data-study") + "/" + encodeURIComponent(select.value)).then(function (answer) {
      return answer.json();
    }).catch(function () { return { problem: "The server does not answer; is it still running?" }; }).then(function (said) {
      byId("problem").hidden = !said.problem;
      byId("problem").textContent = said.problem || "";
      if (said.problem) { return; }
      found = said;
      chosen = -1;
      timeline();
      charts();
      document.body.setAttribute("data-answered", select.value);
    });
  }

  select.addEventListener("change", load);
  byId("sooner").addEventListener("click", function () { choose(chosen - 1); });
  byId("later").addEventListener("click", function () { choose(chosen + 1); });
  load();
}());
