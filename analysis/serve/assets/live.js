// Asks again and again how far a run is, as long as it goes on and somebody looks.
(function () {
  "use strict";

  var root = document.documentElement.getAttribute("data-root");
  var study = document.getElementById("live").getAttribute("data-study");
  var element = window.Pessim.element, plot = null;
  var RUNNING_MS = 1500, RESTING_MS = 5000;

  function byId(id) { return document.getElementById(id); }

  function span(seconds) {
    if (seconds < 100) { return Math.round(seconds) + " s"; }
    return seconds < 6000 ? Math.round(seconds / 60) + " min" : (seconds / 3600).toFixed(1) + " h";
  }

  function says(found) {
    var units = found.units, text = units.done + " of " + units.asked + " units are done";
    if (units.failed) { text += ", " + units.failed + " failed"; }
    if (found.left_s !== null) { text += "; about " + span(found.left_s) + " left"; }
    if (found.running) { return text + "; running (" + found.held_by + ")."; }
    if (found.starting) { return text + "; a run is starting."; }
    return text + (units.missing ? "; nothing is running." : ".");
  }

  function cell(text) { return element("td", "number", text); }

  function variants(found) {
    byId("latency").textContent = found.latency;
    byId("variants").tBodies[0].replaceChildren.apply(byId("variants").tBodies[0], found.variants.map(function (one) {
      var row = element("tr"), title = element("th", "", one.variant);
      title.scope = "row";
      row.appendChild(title);
      row.appendChild(cell(one.latency_ms));
      row.appendChild(cell(one.txn_per_s));
      ["done", "running", "missing", "failed"].forEach(function (state) { row.appendChild(cell(one.units[state])); });
      return row;
    }));
  }

  function course(found) {
    var xs = [1, 2], lines = found.variants.map(function (one) {
      function column(place) { return one.course.map(function (so_far) { return so_far[place]; }); }
      one.course.slice(xs.length).forEach(function (so_far) { xs.push(so_far[0]); });
      return Object.assign({ name: one.variant, v: column(1), lo: column(2), hi: column(3), dots: one.course.slice(-1) }, one.look);
    });
    var chart = {
      title: found.latency.charAt(0).toUpperCase() + found.latency.slice(1) + ": how its interval narrows", heading: "h2",
      axis: "units of the variant that are done", x: xs, joined: true, whole: true, log: true,
      views: [{ name: "", series: lines }]
    };
    if (plot === null) { plot = new window.Pessim.Chart(byId("course"), chart); } else { plot.set(chart); }
  }

  function howFar(one) {
    var text = span(one.seconds) + " so far";
    if (one.until_s) { return window.Pessim.short(one.simulated_s) + " of " + window.Pessim.short(one.until_s) + " simulated s, " + text; }
    return one.share === null ? text : text + ", about " + Math.round(100 * one.share) + " % if it takes as long as the others did";
  }

  function now(found) {
    var rows = found.now.map(function (one) {
      var row = element("div", "station"), bar = element("div", "busy"), fill = element("span", "fill");
      row.appendChild(element("span", "station-name", one.words));
      fill.style.width = 100 * (one.share || 0) + "%";
      bar.appendChild(fill);
      bar.appendChild(element("span", "busy-text", howFar(one)));
      row.appendChild(bar);
      return row;
    });
    byId("now").replaceChildren.apply(byId("now"), rows.length ? rows : [element("p", "note", "No unit is running.")]);
  }

  function take(found) {
    if (found.problem) { byId("says").textContent = found.problem; return; }
    byId("says").textContent = says(found);
    byId("bar").max = Math.max(1, found.units.asked);
    byId("bar").value = found.units.done;
    byId("stop").disabled = !found.running && !found.starting;
    byId("go").disabled = found.running || found.starting;
    byId("go").textContent = found.units.missing ? "Continue" : "Run again";
    variants(found);
    byId("no-figures").textContent = found.no_figures;
    byId("no-figures").hidden = !found.no_figures;
    byId("about-figures").hidden = byId("course").hidden = Boolean(found.no_figures);
    if (!found.no_figures) { course(found); }
    now(found);
    byId("failed").hidden = !found.failures.length;
    byId("failures").replaceChildren.apply(byId("failures"), found.failures.map(function (one) {
      return element("li", "", one.words + ": " + one.error);
    }));
    byId("log").hidden = !found.said.length;
    byId("said").textContent = found.said.join("\n");
    document.body.setAttribute("data-answered", "true");
  }

  function look() {
    if (document.hidden) { setTimeout(look, RUNNING_MS); return; }
    fetch(root + "/api/live/" + study).then(function (answer) { return answer.json(); }).catch(function () {
      return { problem: "The server does not answer; is it still running?" };
    }).then(function (found) {
      take(found);
      setTimeout(look, found.running || found.starting ? RUNNING_MS : RESTING_MS);
    });
  }

  look();
}());
