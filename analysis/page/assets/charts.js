// Draws the charts of a report; the pictures that show the same fold away where this runs.
(function () {
  "use strict";

  var charts = JSON.parse(document.getElementById("chart-data").textContent);
  var dark = window.matchMedia("(prefers-color-scheme: dark)");

  function element(tag, className, text) {
    var made = document.createElement(tag);
    if (className) { made.className = className; }
    if (text) { made.textContent = text; }
    return made;
  }

  // On a dark page colours are mixed with white, so that the darkest of them can be seen.
  function shade(colour) {
    if (!dark.matches) { return colour; }
    var parts = [1, 3, 5].map(function (at) {
      var part = parseInt(colour.substr(at, 2), 16);
      return Math.round(part + (255 - part) * 0.38);
    });
    return "rgb(" + parts.join(",") + ")";
  }

  function shown(value) {
    if (value === null || isNaN(value)) { return "–"; }
    if (Math.abs(value) >= 1000) { return Math.round(value).toLocaleString("en"); }
    return String(Number(value.toPrecision(3)));
  }

  function style(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function rows(chart, view) {
    return chart.x.map(function (x, at) {
      return [x].concat(view.series.map(function (line) {
        var value = line.v[at];
        if (line.gaps && line.gaps.indexOf(at) >= 0) { return [NaN, NaN, NaN]; }
        if (value === null || value === undefined || (chart.log && value <= 0)) {
          return [null, null, null];
        }
        var low = line.lo ? line.lo[at] : value;
        var high = line.hi ? line.hi[at] : value;
        low = low === null || (chart.log && low <= 0) ? value : low;
        return [low, value, high === null ? value : high];
      }));
    });
  }

  // From the least to the greatest of what is drawn, bands included, with some room.
  function reach(chart, data) {
    var low = Infinity, high = -Infinity;
    data.forEach(function (row) {
      row.slice(1).forEach(function (cell) {
        if (cell[1] === null || isNaN(cell[1])) { return; }
        low = Math.min(low, cell[0]);
        high = Math.max(high, cell[2]);
      });
    });
    if (high === -Infinity) { return null; }
    var room = Math.max(1.01, Math.pow(high / low, 0.08));
    return chart.log ? [low / room, high * room] : [0, high > 0 ? high * 1.06 : 1];
  }

  function behind(chart) {
    return function (context, area, graph) {
      function place(x) { return graph.toDomXCoord(x); }
      context.save();
      context.beginPath();
      context.rect(area.x, area.y, area.w, area.h);
      context.clip();
      if (chart.warmup > 0) {
        context.fillStyle = dark.matches ? "rgba(127,184,245,.13)" : "rgba(0,90,180,.10)";
        context.fillRect(place(0), area.y, place(chart.warmup) - place(0), area.h);
      }
      chart.marks.forEach(function (mark) {
        var from = place(mark[0]), until = place(mark[1]);
        context.fillStyle = dark.matches ? "rgba(255,255,255,.10)" : "rgba(0,0,0,.07)";
        if (until - from > 2) { context.fillRect(from, area.y, until - from, area.h); }
        context.fillStyle = dark.matches ? "rgba(255,255,255,.45)" : "rgba(0,0,0,.35)";
        context.fillRect(Math.round(from), area.y, 1, area.h);
      });
      context.restore();
    };
  }

  // What happens at a time, or within a hundredth of what is seen.
  function happening(chart, graph, x) {
    if (chart.warmup > 0 && x < chart.warmup) { return "warm-up, in no figure"; }
    var range = graph.xAxisRange(), near = (range[1] - range[0]) / 100;
    return chart.marks.filter(function (mark) {
      return x >= mark[0] - near && x <= mark[1] + near;
    }).map(function (mark) { return mark[2]; }).slice(0, 4).join("; ");
  }

  function touched(model) {
    // One finger scrolls the page; two zoom.
    var start = model.touchstart, move = model.touchmove;
    model.touchstart = function (event, graph, context) {
      if (event.touches.length > 1) { start(event, graph, context); }
    };
    model.touchmove = function (event, graph, context) {
      if (event.touches.length > 1) { move(event, graph, context); }
    };
    return model;
  }

  function Chart(box, chart, group) {
    var self = this, head = element("div", "chart-head"), buttons = element("div", "buttons");
    this.chart = chart;
    this.group = group;
    this.view = chart.views[0];
    this.legend = element("div", "legend");
    this.happens = element("div", "happens");
    this.canvas = element("div", "chart-canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", chart.title + ", by " + chart.axis +
      ". The picture below shows the same, with words that stand for it.");
    head.appendChild(element("h3", "", chart.title));
    if (chart.views.length > 1) {
      chart.views.forEach(function (view) {
        var button = element("button", "", view.name);
        button.type = "button";
        button.setAttribute("aria-pressed", String(view === self.view));
        button.addEventListener("click", function () {
          self.view = view;
          Array.prototype.forEach.call(buttons.querySelectorAll("[aria-pressed]"), function (one) {
            one.setAttribute("aria-pressed", String(one === button));
          });
          self.draw(self.graph.xAxisRange());
        });
        buttons.appendChild(button);
      });
    }
    [["closer", 0.5], ["wider", 2], ["all", 0]].forEach(function (step) {
      var button = element("button", "", step[0]);
      button.type = "button";
      button.addEventListener("click", function () { self.zoom(step[1]); });
      buttons.appendChild(button);
    });
    head.appendChild(buttons);
    [head, this.legend, this.canvas, this.happens].forEach(function (part) {
      box.appendChild(part);
    });
    this.draw(null);
  }

  Chart.prototype.zoom = function (factor) {
    var range = this.graph.xAxisRange(), ends = this.graph.xAxisExtremes();
    var middle = (range[0] + range[1]) / 2, half = (range[1] - range[0]) / 2 * factor;
    var wide = factor === 0 || 2 * half >= ends[1] - ends[0];
    this.graph.updateOptions({
      dateWindow: wide ? null : [Math.max(ends[0], middle - half), Math.min(ends[1], middle + half)]
    });
  };

  Chart.prototype.draw = function (range) {
    var self = this, chart = this.chart, series = this.view.series, options = {};
    var data = rows(chart, this.view);
    if (this.graph) { this.graph.destroy(); }
    series.forEach(function (line, at) {
      options["s" + at] = { strokePattern: line.dash.length ? line.dash : null };
    });
    this.graph = new Dygraph(this.canvas, data, {
      labels: ["x"].concat(series.map(function (line, at) { return "s" + at; })),
      labelsDiv: element("div"),
      showLabelsOnHighlight: false,
      colors: series.map(function (line) { return shade(line.colour); }),
      series: options,
      customBars: true,
      logscale: chart.log,
      fillAlpha: 0.18,
      strokeWidth: 1.6,
      drawPoints: chart.x.length < 30,
      pointSize: 3,
      drawGapEdgePoints: true,
      connectSeparatedPoints: Boolean(chart.joined),
      xRangePad: chart.joined ? 14 : 0,
      valueRange: reach(chart, data),
      highlightCircleSize: 4,
      xlabel: chart.axis,
      xLabelHeight: 20,
      dateWindow: range,
      axisLabelFontSize: 12,
      axisLabelColor: style("--soft"),
      axisLineColor: style("--line"),
      gridLineColor: style("--line"),
      gridLineWidth: 0.6,
      rightGap: 12,
      axes: {
        x: { axisLabelFormatter: shown, pixelsPerLabel: 42 },
        y: { axisLabelFormatter: shown, axisLabelWidth: 48 }
      },
      interactionModel: touched(Object.assign({}, Dygraph.Interaction.defaultModel)),
      underlayCallback: behind(chart),
      highlightCallback: function (event, x, points) {
        self.tell(points);
        self.happens.textContent = chart.axis + " " + shown(x) +
          (happening(chart, self.graph, x) ? ": " + happening(chart, self.graph, x) : "");
      },
      unhighlightCallback: function () { self.tell([]); self.happens.textContent = ""; },
      drawCallback: function (graph, first) { if (!first) { self.follow(graph); } }
    });
    this.tell([]);
  };

  // Charts of a group show the same time.
  Chart.prototype.follow = function (graph) {
    if (this.group.busy) { return; }
    this.group.busy = true;
    var range = graph.xAxisRange(), self = this;
    this.group.charts.forEach(function (other) {
      if (other !== self) { other.graph.updateOptions({ dateWindow: range }); }
    });
    this.group.busy = false;
  };

  Chart.prototype.tell = function (points) {
    var legend = this.legend, values = {};
    points.forEach(function (point) { values[point.name] = point.yval; });
    legend.textContent = "";
    this.view.series.forEach(function (line, at) {
      var entry = element("span"), swatch = element("span", "swatch"), name = "s" + at;
      swatch.style.borderTopColor = shade(line.colour);
      swatch.style.borderTopStyle = !line.dash.length ? "solid" : line.dash[0] > 3 ? "dashed" : "dotted";
      entry.appendChild(swatch);
      entry.appendChild(document.createTextNode(
        line.name + (name in values ? " " + shown(values[name]) : "")));
      legend.appendChild(entry);
    });
  };

  // The pictures that show the same are still there for whoever wants them, and for paper.
  function fold(box) {
    var pictures = box.parentNode.querySelectorAll("figure.charted");
    if (!pictures.length) { return; }
    var details = element("details", "same"), summary = element("summary", "", "The same as a picture");
    details.appendChild(summary);
    pictures[0].parentNode.insertBefore(details, pictures[0]);
    Array.prototype.forEach.call(pictures, function (picture) { details.appendChild(picture); });
  }

  var all = [];
  Array.prototype.forEach.call(document.querySelectorAll(".charts"), function (box) {
    var group = { busy: false, charts: [] };
    box.hidden = false;
    Array.prototype.forEach.call(box.querySelectorAll(".chart"), function (place) {
      group.charts.push(new Chart(place, charts[place.getAttribute("data-chart")], group));
    });
    all = all.concat(group.charts);
  });
  Array.prototype.forEach.call(document.querySelectorAll("section"), function (part) {
    var box = part.querySelector(".charts");
    if (box) { fold(box); }
  });
  dark.addEventListener("change", function () {
    all.forEach(function (chart) { chart.draw(chart.graph.xAxisRange()); });
  });
  window.addEventListener("beforeprint", function () {
    Array.prototype.forEach.call(document.querySelectorAll("details.same"), function (one) {
      one.open = true;
    });
  });
}());
