// The explorer: controls, the answer to each turn of them, and a curve over one of them.
(function () {
  "use strict";

  var data = JSON.parse(document.getElementById("data").textContent);
  var root = document.documentElement.getAttribute("data-root");
  var element = window.Pessim.element, short = window.Pessim.short, plain = window.Pessim.plain;
  var MODES = { sync: "sync", pipelined: "pipelined", in_memory: "in memory" };
  var FIGURES = {
    lock_latency_ms: "lock latency, mean (ms)",
    txn_per_s: "transactions (1/s)",
    txn_latency_ms: "transaction latency, mean (ms)",
    write_kib_per_txn: "disk writes per transaction (KiB)",
    fsyncs_per_s: "fsyncs (1/s)",
    busiest: "busiest station (%)"
  };
  var DELAY_MS = 60;
  var controls = {}, values = {}, load = "", round = 0, waiting = null, answer = null, curve = {};

  function byId(id) { return document.getElementById(id); }

  // What the address says: only what was turned.
  function turned() {
    var said = new URLSearchParams();
    said.set("base", data.base);
    data.controls.forEach(function (control) {
      var value = values[control.name];
      if (value === null || value === undefined || isAside(control.name)) { return; }
      if (value !== control.base) { said.set(control.name, value); }
    });
    return said;
  }

  function isAside(name) { return (name === "threads" || name === "rate") && name !== load; }

  function address(path, more) {
    var said = turned();
    Object.keys(more || {}).forEach(function (key) { said.set(key, more[key]); });
    return root + path + "?" + said;
  }

  function ask(path, options) {
    return fetch(path, options).then(function (found) {
      return found.json();
    }).catch(function () {
      return { problem: "The server does not answer; is it still running?" };
    });
  }

  function nearest(control, value) {
    var best = 0;
    control.steps.forEach(function (step, at) {
      if (Math.abs(step - value) < Math.abs(control.steps[best] - value)) { best = at; }
    });
    return best;
  }

  function build(control) {
    var row = element("div", "control"), label = element("label", "", control.label);
    var slider = element("input"), number = element("input"), both = element("div", "turn");
    label.htmlFor = number.id = "c-" + control.name;
    slider.type = "range"; slider.min = 0; slider.max = control.steps.length - 1; slider.step = 1;
    slider.id = "s-" + control.name;
    slider.setAttribute("aria-label", control.label + ", slider");
    number.type = "number"; number.step = control.kind === "count" ? 1 : "any";
    number.min = control.steps[0]; number.max = control.steps[control.steps.length - 1];
    label.title = control.key;
    both.appendChild(slider);
    both.appendChild(number);
    both.appendChild(element("span", "unit", control.unit));
    row.appendChild(label);
    row.appendChild(both);
    slider.addEventListener("input", function () { turn(control.name, control.steps[Number(slider.value)]); });
    number.addEventListener("input", function () {
      if (number.value !== "" && number.checkValidity()) { turn(control.name, Number(number.value)); }
    });
    number.addEventListener("change", function () {
      if (!number.checkValidity() || number.value === "") { number.value = values[control.name]; }
    });
    controls[control.name] = { row: row, slider: slider, number: number, control: control };
    byId("turns").appendChild(row);
  }

  function show(name) {
    var parts = controls[name], value = values[name];
    parts.row.hidden = isAside(name);
    if (value === null || value === undefined) { return; }
    if (parts.number.value === "" || Number(parts.number.value) !== value) { parts.number.value = value; }
    parts.slider.value = nearest(parts.control, value);
    parts.slider.setAttribute("aria-valuetext", plain(value) + " " + parts.control.unit);
    parts.row.classList.toggle("turned", value !== parts.control.base);
  }

  function turn(name, value) {
    values[name] = value;
    show(name);
    changed();
  }

  function changed() {
    history.replaceState(null, "", address("/explore", axisSaid()));
    document.body.removeAttribute("data-answered");
    clearTimeout(waiting);
    waiting = setTimeout(refresh, DELAY_MS);
  }

  function axisSaid() { return { over: byId("axis").value, of: byId("figure").value }; }

  function refresh() {
    round += 1;
    var mine = round;
    ask(address("/api/answer")).then(function (found) {
      if (mine !== round) { return undefined; }
      take(found);
      return fetch(address("/api/scenario")).then(function (text) { return text.text(); })
        .then(function (text) { byId("yaml").textContent = text; });
    }).then(function () { if (mine === round) { trace(mine); } });
  }

  function take(found) {
    byId("problem").hidden = !found.problem;
    byId("problem").textContent = found.problem || "";
    document.body.setAttribute("data-answered", String(round));
    if (found.problem) { return; }
    answer = found.modes;
    figures();
    warnings();
    leftOut();
    stations();
    drawCurve();
  }

  function valueOf(mode, figure) {
    if (figure !== "busiest") { return mode.figures[figure]; }
    return 100 * mode.busiest;
  }

  function simulatedOf(mode, figure) {
    return mode.simulated.map(function (one) {
      if (figure !== "busiest") { return one.figures[figure] || null; }
      if (one.busiest === null) { return null; }
      var most = 100 * one.busiest;
      return { value: most, low: null, high: null, words: short(most) };
    }).filter(Boolean);
  }

  function figures() {
    var table = byId("figures"), head = element("tr"), body = [];
    head.appendChild(element("td"));
    Object.keys(MODES).forEach(function (name) {
      var cell = element("th", "number", MODES[name]);
      cell.scope = "col";
      head.appendChild(cell);
    });
    table.tHead.replaceChildren(head);
    Object.keys(FIGURES).forEach(function (figure) {
      var row = element("tr"), title = element("th", "", FIGURES[figure]);
      title.scope = "row";
      row.appendChild(title);
      Object.keys(MODES).forEach(function (name) {
        var mode = answer[name], value = valueOf(mode, figure), cell = element("td", "number");
        cell.appendChild(document.createTextNode(value === null ? "–" : short(value)));
        simulatedOf(mode, figure).forEach(function (found) {
          cell.appendChild(element("span", "interval", "simulated " + found.words));
        });
        row.appendChild(cell);
      });
      body.push(row);
    });
    body.push(buttons());
    strip();
    table.tBodies[0].replaceChildren.apply(table.tBodies[0], body);
  }

  // On a narrow screen the main figure stays in sight while something is turned.
  function strip() {
    var figure = byId("figure").value || "lock_latency_ms";
    byId("strip").textContent = FIGURES[figure] + ": " + Object.keys(MODES).map(function (name) {
      var value = valueOf(answer[name], figure);
      return MODES[name] + " " + (value === null ? "–" : short(value));
    }).join(", ");
  }

  function buttons() {
    var row = element("tr"), title = element("th", "", "simulate here");
    title.scope = "row";
    row.appendChild(title);
    Object.keys(MODES).forEach(function (name) {
      var cell = element("td", "number"), mode = answer[name];
      var button = element("button", "small", "about " + Math.max(1, Math.round(mode.seconds)) + " s");
      button.type = "button";
      button.id = "simulate-" + name;
      button.setAttribute("aria-label", "simulate " + MODES[name] + " here, about " + Math.max(1, Math.round(mode.seconds)) + " s");
      button.disabled = !byId("stop").hidden;
      button.addEventListener("click", function () { simulate(name); });
      cell.appendChild(button);
      mode.simulated.forEach(function (one) {
        if (one.verdict) { cell.appendChild(element("span", "interval", one.verdict)); }
      });
      row.appendChild(cell);
    });
    return row;
  }

  function warnings() {
    var said = {};
    Object.keys(MODES).forEach(function (name) {
      answer[name].warnings.forEach(function (text) {
        said[text] = (said[text] || []).concat(MODES[name]);
      });
    });
    byId("warnings").replaceChildren.apply(byId("warnings"), Object.keys(said).map(function (text) {
      return element("li", "", said[text].join(", ") + ": " + text);
    }));
  }

  function leftOut() {
    var parts = {};
    Object.keys(MODES).forEach(function (name) {
      answer[name].left_out.forEach(function (part) { parts[part] = true; });
    });
    byId("left-out").textContent = "Only the simulation includes: " + Object.keys(parts).join("; ") + ".";
  }

  function stations() {
    var rows = answer.sync.stations.map(function (station) {
      var row = element("div", "station"), bars = element("div", "bars");
      row.appendChild(element("span", "station-name", station.name + " ×" + station.servers));
      Object.keys(MODES).forEach(function (name) {
        var one = answer[name].stations.filter(function (each) { return each.name === station.name; })[0];
        if (!one) { return; }
        var bar = element("div", "busy"), fill = element("span", "fill");
        bar.style.setProperty("--colour", window.Pessim.shade(data.looks[name].colour));
        fill.style.width = Math.min(100, 100 * one.busy) + "%";
        bar.appendChild(fill);
        bar.appendChild(element("span", "busy-text", MODES[name] + " " + Math.round(100 * one.busy) + " %"));
        bars.appendChild(bar);
      });
      row.appendChild(bars);
      return row;
    });
    byId("stations").replaceChildren.apply(byId("stations"), rows);
  }

  // The curve: one value of the axis after another, as long as nothing is turned meanwhile.
  function trace(mine) {
    var name = byId("axis").value, steps = controls[name].control.steps.slice();
    if (values[name] !== null && steps.indexOf(values[name]) < 0) { steps.push(values[name]); }
    steps.sort(function (a, b) { return a - b; });
    curve = { name: name, steps: steps, found: {} };
    curve.found[values[name]] = answer;
    drawCurve();
    (function next(at) {
      if (mine !== round || at >= steps.length) {
        if (mine === round) { document.body.setAttribute("data-traced", String(mine)); }
        return;
      }
      var said = {};
      said[name] = steps[at];
      ask(address("/api/answer", said)).then(function (found) {
        if (mine !== round) { return; }
        curve.found[steps[at]] = found.modes || null;
        drawCurve();
        next(at + 1);
      });
    }(0));
  }

  var chart = null;
  function drawCurve() {
    if (!curve.name) { return; }
    var figure = byId("figure").value, control = controls[curve.name].control, steps = curve.steps;
    var lines = Object.keys(MODES).map(function (name) {
      var line = { name: MODES[name], v: [], dots: [] };
      steps.forEach(function (step) {
        var found = curve.found[step];
        line.v.push(found ? valueOf(found[name], figure) : found);
        (found ? simulatedOf(found[name], figure) : []).forEach(function (one) {
          line.dots.push([step, one.value, one.low, one.high]);
        });
      });
      return Object.assign(line, data.looks[name]);
    });
    var said = {
      title: FIGURES[figure], axis: control.label + (control.unit ? " (" + control.unit + ")" : ""),
      x: steps, xlog: steps[0] > 0 && steps[steps.length - 1] / steps[0] > 12,
      log: figure.indexOf("latency") >= 0, now: values[curve.name], views: [{ name: "", series: lines }]
    };
    if (chart === null) { chart = new window.Pessim.Chart(byId("curve"), said); } else { chart.set(said); }
  }

  function simulate(mode) {
    ask(address("/api/simulate", { mode: mode }), { method: "POST" }).then(follow);
  }

  function follow(found) {
    if (!found.state) {
      byId("units").textContent = found.problem || "";
      return;
    }
    var running = found.state === "running";
    byId("stop").hidden = !running;
    Object.keys(MODES).forEach(function (name) {
      if (byId("simulate-" + name)) { byId("simulate-" + name).disabled = running; }
    });
    byId("units").textContent = {
      running: "A unit is being simulated, " + Math.round(found.seconds || 0) + " s so far.",
      done: "The unit is done: its figures are in the table, and it is a dot on the curve.",
      stopped: "The unit was stopped.", failed: "The unit failed: " + found.error
    }[found.state] || "";
    if (running) {
      setTimeout(function () { ask(root + "/api/simulate").then(follow); }, 500);
    } else if (found.state === "done") {
      refresh();
    }
  }

  function copy(text, what) {
    navigator.clipboard.writeText(text).then(function () {
      byId("copied").textContent = what + " is copied.";
    }, function () { byId("copied").textContent = "The browser does not let this page copy."; });
  }

  function option(select, value, text, chosen) {
    var made = element("option", "", text);
    made.value = value;
    made.selected = value === chosen;
    select.appendChild(made);
  }

  function setLoad(name) {
    load = name;
    byId("load-" + name).checked = true;
    if (values[name] === null) { values[name] = name === "threads" ? 50 : 400; }
    ["threads", "rate"].forEach(show);
    axes();
  }

  function axes() {
    var select = byId("axis"), before = select.value || data.over || load;
    select.replaceChildren();
    data.controls.forEach(function (control) {
      if (!isAside(control.name)) { option(select, control.name, control.label, before); }
    });
    if (isAside(before)) { select.value = load; }
  }

  byId("base").addEventListener("change", function () {
    window.location.assign(root + "/explore?" + new URLSearchParams({ base: byId("base").value }));
  });
  if (!data.controls.length) { return; }
  data.controls.forEach(function (control) { values[control.name] = control.value; build(control); });
  Object.keys(FIGURES).forEach(function (name) { option(byId("figure"), name, FIGURES[name], data.of); });
  setLoad(data.load);
  data.controls.forEach(function (control) { show(control.name); });
  ["threads", "rate"].forEach(function (name) {
    byId("load-" + name).addEventListener("change", function () { setLoad(name); changed(); });
  });
  byId("axis").addEventListener("change", changed);
  byId("figure").addEventListener("change", function () {
    history.replaceState(null, "", address("/explore", axisSaid()));
    strip();
    drawCurve();
  });
  byId("reset").addEventListener("click", function () {
    data.controls.forEach(function (control) { values[control.name] = control.base; });
    setLoad(data.own);
    data.controls.forEach(function (control) { show(control.name); });
    changed();
  });
  byId("stop").addEventListener("click", function () {
    ask(root + "/api/simulate/stop", { method: "POST" }).then(follow);
  });
  byId("copy").addEventListener("click", function () { copy(byId("yaml").textContent, "The file"); });
  byId("link").addEventListener("click", function () { copy(window.location.href, "The address"); });
  byId("controls").addEventListener("submit", function (event) { event.preventDefault(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
    if (answer) { stations(); }
  });
  refresh();
  ask(root + "/api/simulate").then(function (found) { if (found.state === "running") { follow(found); } });
}());
