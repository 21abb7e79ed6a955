// Draws the charts of a report with uPlot; the pictures that show the same fold away where it runs.
(function () {
  "use strict";

  var charts = JSON.parse(document.getElementById("chart-data").textContent);
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var LOG = 3, HEIGHT_PX = 260, FAMILY = "system-ui, 'Liberation Sans', sans-serif";

  function element(tag, className, text) {
    var made = document.createElement(tag);
    if (className) { made.className = className; }
    if (text) { made.textContent = text; }
    return made;
  }

  // On a dark page colours are mixed with white, so that the darkest of them can be seen.
  function shade(colour, opacity) {
    var parts = [1, 3, 5].map(function (at) {
      var part = parseInt(colour.substr(at, 2), 16);
      return dark.matches ? Math.round(part + (255 - part) * 0.38) : part;
    });
    return "rgba(" + parts.join(",") + "," + (opacity || 1) + ")";
  }

  function shown(value) {
    if (value === null || value === undefined || isNaN(value)) { return "–"; }
    if (Math.abs(value) >= 1000) { return Math.round(value).toLocaleString("en"); }
    return String(Number(value.toPrecision(3)));
  }

  function style(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  // A line's value, lower and upper end as columns: null breaks a line, undefined does not.
  function columns(chart, line) {
    var missing = chart.joined ? undefined : null, gaps = line.gaps || [];
    var value = [], low = [], high = [];
    line.v.forEach(function (here, at) {
      var none = here === null || (chart.log && here <= 0);
      var instead = gaps.indexOf(at) >= 0 ? null : missing;
      var least = line.lo && line.lo[at] !== null ? line.lo[at] : here;
      var most = line.hi && line.hi[at] !== null ? line.hi[at] : here;
      value.push(none ? instead : here);
      low.push(none ? instead : chart.log && least <= 0 ? here : least);
      high.push(none ? instead : most);
    });
    return [value, low, high];
  }

  // Places of values with nothing on either side, which no line passes through.
  function alone(values) {
    function there(at) { return values[at] !== null && values[at] !== undefined; }
    return values.map(function (_, at) { return at; }).filter(function (at) {
      return there(at) && !there(at - 1) && !there(at + 1);
    });
  }

  // The ends of the axis where nothing is zoomed: some room beside the first and the last value.
  function ends(chart) {
    var first = chart.x[0], last = chart.x[chart.x.length - 1];
    if (chart.xlog) {
      var room = Math.pow(last / first, 0.03);
      return [first / room, last * room];
    }
    var beside = chart.joined ? (last - first) * 0.03 : (last - first) / (chart.x.length - 1) / 2;
    return [first - (beside || 1), last + (beside || 1)];
  }

  function valueRange(chart) {
    return function (plot, low, high) {
      if (low === null || high === null) { return chart.log ? [1, 10] : [0, 1]; }
      if (chart.limit) {
        low = Math.min(low, chart.limit.at);
        high = Math.max(high, chart.limit.at);
      }
      if (!chart.log) { return [0, high > 0 ? high * 1.06 : 1]; }
      var room = Math.max(1.05, Math.pow(high / low, 0.08));
      return [low / room, high * room];
    };
  }

  function upTo(ten, step) {
    var found = [];
    for (var tick = 10; tick < ten; tick += step) { found.push(tick); }
    return found;
  }

  // In each decade, in tenths of its beginning: as close as there is room for.
  var DECADES = [upTo(100, 1), upTo(100, 5), upTo(100, 10), [10, 20, 50], [10]];

  function logSplits(low, high, most) {
    var found = [];
    DECADES.some(function (ticks) {
      found = [];
      for (var decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); decade += 1) {
        ticks.forEach(function (tenths) {
          var tick = Number((tenths * Math.pow(10, decade - 1)).toPrecision(2));
          if (tick >= low && tick <= high) { found.push(tick); }
        });
      }
      return found.length <= most;
    });
    return found;
  }

  // Ticks at the values that were tried, as many as there is room for; null without two of them.
  function triedSplits(chart, plot, low, high) {
    var kept = [], from = -Infinity;
    if (!chart.ticks) { return null; }
    chart.x.forEach(function (x) {
      var half = shown(x).length * 3.5 + 5, at = plot.valToPos(x, "x");
      if (x < low || x > high || at - half < from) { return; }
      kept.push(x);
      from = at + half;
    });
    return kept.length > 1 ? kept : null;
  }

  function behind(chart) {
    return function (plot) {
      var area = plot.bbox, context = plot.ctx;
      function place(x) { return plot.valToPos(x, "x", true); }
      context.save();
      context.beginPath();
      context.rect(area.left, area.top, area.width, area.height);
      context.clip();
      if (chart.warmup > 0) {
        context.fillStyle = dark.matches ? "rgba(127,184,245,.13)" : "rgba(0,90,180,.10)";
        context.fillRect(place(0), area.top, place(chart.warmup) - place(0), area.height);
      }
      chart.marks.forEach(function (mark) {
        var from = place(mark[0]), until = place(mark[1]);
        context.fillStyle = dark.matches ? "rgba(255,255,255,.10)" : "rgba(0,0,0,.07)";
        if (until - from > 2) { context.fillRect(from, area.top, until - from, area.height); }
        context.fillStyle = dark.matches ? "rgba(255,255,255,.45)" : "rgba(0,0,0,.35)";
        context.fillRect(Math.round(from), area.top, window.devicePixelRatio, area.height);
      });
      context.restore();
    };
  }

  // What was promised: a line across, with its words.
  function limit(chart) {
    return function (plot) {
      if (!chart.limit) { return; }
      var area = plot.bbox, context = plot.ctx, ratio = window.devicePixelRatio;
      var at = Math.round(plot.valToPos(chart.limit.at, "y", true));
      context.save();
      context.strokeStyle = context.fillStyle = style("--ink");
      context.lineWidth = 1.2 * ratio;
      context.setLineDash([6 * ratio, 4 * ratio]);
      context.beginPath();
      context.moveTo(area.left, at);
      context.lineTo(area.left + area.width, at);
      context.stroke();
      context.font = 12 * ratio + "px " + FAMILY;
      context.textAlign = "left";
      context.textBaseline = "bottom";
      context.setLineDash([]);
      context.lineWidth = 3 * ratio;
      context.strokeStyle = style("--paper");
      context.strokeText(chart.limit.words, area.left + 4 * ratio, at - 2 * ratio);
      context.fillText(chart.limit.words, area.left + 4 * ratio, at - 2 * ratio);
      context.restore();
    };
  }

  // What happens at a time, or within a hundredth of what is seen.
  function happening(chart, plot, x) {
    if (chart.warmup > 0 && x < chart.warmup) { return "warm-up, which no number includes"; }
    var near = (plot.scales.x.max - plot.scales.x.min) / 100;
    return chart.marks.filter(function (mark) {
      return x >= mark[0] - near && x <= mark[1] + near;
    }).map(function (mark) { return mark[2]; }).slice(0, 4).join("; ");
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
      ". The picture below shows the same, with a description in words.");
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
          self.draw();
        });
        buttons.appendChild(button);
      });
    }
    [["zoom in", 0.5], ["zoom out", 2], ["show all", 0]].forEach(function (step) {
      var button = element("button", "", step[0]);
      button.type = "button";
      button.addEventListener("click", function () { self.zoom(step[1]); });
      buttons.appendChild(button);
    });
    head.appendChild(buttons);
    [head, this.legend, this.canvas, element("div", "chart-axis", chart.axis), this.happens]
      .forEach(function (part) { box.appendChild(part); });
    this.draw();
    new ResizeObserver(function () {
      var width = self.canvas.clientWidth;
      if (width > 0 && width !== self.plot.width) {
        self.plot.setSize({ width: width, height: HEIGHT_PX });
      }
    }).observe(this.canvas);
  }

  // From the middle of what is seen; on a log axis its middle is that of the logarithms.
  Chart.prototype.zoom = function (factor) {
    var log = this.chart.xlog, scale = this.plot.scales.x, whole = ends(this.chart);
    function flat(x) { return log ? Math.log(x) : x; }
    function back(x) { return log ? Math.exp(x) : x; }
    var low = flat(scale.min), high = flat(scale.max);
    var middle = (low + high) / 2, half = (high - low) / 2 * factor;
    var wide = factor === 0 || 2 * half >= flat(whole[1]) - flat(whole[0]);
    this.show(wide ? whole : [back(middle - half), back(middle + half)]);
  };

  Chart.prototype.show = function (range) {
    var whole = ends(this.chart);
    this.plot.setScale("x", {
      min: Math.max(whole[0], range[0]), max: Math.min(whole[1], range[1])
    });
  };

  Chart.prototype.draw = function () {
    var range = this.plot && [this.plot.scales.x.min, this.plot.scales.x.max];
    if (this.plot) { this.plot.destroy(); }
    this.plot = new uPlot(this.options(), this.data(), this.canvas);
    touch(this);
    if (range) { this.show(range); }
    this.tell();
  };

  Chart.prototype.data = function () {
    var chart = this.chart;
    return this.view.series.reduce(function (found, line) {
      return found.concat(columns(chart, line));
    }, [chart.x]);
  };

  Chart.prototype.options = function () {
    var self = this, chart = this.chart, series = [{}], bands = [];
    this.view.series.forEach(function (line) {
      var single = alone(columns(chart, line)[0]), value = series.length;
      series.push({
        stroke: shade(line.colour), dash: line.dash, width: 1.6,
        points: {
          show: chart.x.length < 30, size: 6, fill: shade(line.colour),
          filter: function (plot, index, all) { return all ? null : single; }
        }
      });
      series.push({ points: { show: false } }, { points: { show: false } });
      bands.push({ series: [value + 2, value + 1], fill: shade(line.colour, 0.18) });
    });
    var axis = {
      stroke: style("--soft"), font: "12px " + FAMILY, grid: { stroke: style("--line"), width: 0.6 },
      ticks: { stroke: style("--line"), width: 0.6, size: 4 },
      values: function (plot, splits) { return splits.map(shown); },
      filter: function (plot, splits) { return splits; }
    };
    var across = Object.assign({}, axis, { size: 24, space: 44 });
    var up = Object.assign({}, axis, { size: 54, space: 36 });
    if (chart.ticks || chart.xlog) {
      across.splits = function (plot, index, low, high, step) {
        var tried = triedSplits(chart, plot, low, high);
        return tried || (chart.xlog ? logSplits(low, high, 8) : evenly(low, high, step));
      };
    }
    if (chart.log) {
      up.splits = function (plot, index, low, high) { return logSplits(low, high, 9); };
    }
    return {
      width: this.canvas.clientWidth, height: HEIGHT_PX, padding: [8, 14, 0, 0],
      legend: { show: false },
      scales: {
        x: {
          time: false, distr: chart.xlog ? LOG : 1,
          range: function (plot, low, high) {
            var all = low === chart.x[0] && high === chart.x[chart.x.length - 1];
            return all ? ends(chart) : [low, high];
          }
        },
        y: { distr: chart.log ? LOG : 1, range: valueRange(chart) }
      },
      series: series, bands: bands, axes: [across, up],
      cursor: {
        y: false, drag: { x: true, y: false, dist: 5 },
        points: { size: function (plot, index) { return index % 3 === 1 ? 8 : 0; } },
        sync: { key: this.group.key, scales: ["x", null], filters: { pub: moves, sub: moves } }
      },
      hooks: {
        drawClear: [behind(chart)],
        draw: [limit(chart)],
        setCursor: [function () { self.tell(); }],
        setScale: [function (plot, key) { if (key === "x") { self.follow(plot.scales.x); } }]
      }
    };
  };

  function moves(type) { return type.indexOf("mouse") === 0 && type !== "mousedown" && type !== "mouseup"; }

  function evenly(low, high, step) {
    var found = [];
    for (var tick = Math.ceil(low / step) * step; tick <= high; tick += step) { found.push(tick); }
    return found;
  }

  // Charts of a group show the same part of the axis.
  Chart.prototype.follow = function (scale) {
    this.group.charts.forEach(function (other) {
      var theirs = other.plot.scales.x;
      if (theirs.min !== scale.min || theirs.max !== scale.max) {
        other.plot.setScale("x", { min: scale.min, max: scale.max });
      }
    });
  };

  // What the lines are called, and their values under the cursor; a click hides a line.
  Chart.prototype.tell = function () {
    var self = this, plot = this.plot, at = plot && plot.cursor.idx;
    var there = at !== null && at !== undefined && plot.cursor.left >= 0;
    if (this.legend.childNodes.length !== this.view.series.length || this.told !== this.view) {
      this.told = this.view;
      this.legend.textContent = "";
      this.view.series.forEach(function (line, place) {
        var entry = element("button", "series"), swatch = element("span", "swatch");
        entry.type = "button";
        entry.setAttribute("aria-pressed", "true");
        swatch.style.borderTopStyle =
          !line.dash.length ? "solid" : line.dash[0] > 3 ? "dashed" : "dotted";
        entry.appendChild(swatch);
        entry.appendChild(document.createTextNode(""));
        entry.addEventListener("click", function () { self.hide(place); });
        self.legend.appendChild(entry);
      });
    }
    this.view.series.forEach(function (line, place) {
      var entry = self.legend.childNodes[place];
      entry.firstChild.style.borderTopColor = shade(line.colour);
      entry.lastChild.textContent =
        line.name + (there ? " " + shown(plot.data[1 + 3 * place][at]) : "");
    });
    var x = there ? plot.data[0][at] : null, what = there ? happening(this.chart, plot, x) : "";
    this.happens.textContent =
      there ? this.chart.axis + ": " + shown(x) + (what ? ", " + what : "") : "";
  };

  Chart.prototype.hide = function (place) {
    var entry = this.legend.childNodes[place], plot = this.plot;
    var show = entry.getAttribute("aria-pressed") === "false";
    entry.setAttribute("aria-pressed", String(show));
    [1, 2, 3].forEach(function (column) { plot.setSeries(column + 3 * place, { show: show }); });
  };

  // One finger scrolls the page; two zoom, and what is under each finger stays under it.
  function touch(view) {
    var over = view.plot.over, log = view.chart.xlog, held = null;
    function places(event) {
      var left = over.getBoundingClientRect().left;
      return [event.touches[0].clientX - left, event.touches[1].clientX - left];
    }
    function flat(x) { return log ? Math.log(x) : x; }
    function back(x) { return log ? Math.exp(x) : x; }
    over.addEventListener("touchstart", function (event) {
      held = event.touches.length !== 2 ? null : places(event).map(function (place) {
        return flat(view.plot.posToVal(place, "x"));
      });
    }, { passive: true });
    over.addEventListener("touchmove", function (event) {
      if (!held || event.touches.length !== 2) { return; }
      event.preventDefault();
      var at = places(event);
      if (Math.abs(at[1] - at[0]) < 5) { return; }
      var step = (held[1] - held[0]) / (at[1] - at[0]), low = held[0] - step * at[0];
      if (step > 0) { view.show([back(low), back(low + step * over.clientWidth)]); }
    }, { passive: false });
  }

  // The pictures that show the same are still there for whoever wants them, and for paper.
  function fold(box) {
    var pictures = box.parentNode.querySelectorAll("figure.charted");
    if (!pictures.length) { return; }
    var details = element("details", "same"), summary = element("summary", "", "The same as a picture");
    var together = element("div", "figures");
    details.appendChild(summary);
    details.appendChild(together);
    box.parentNode.insertBefore(details, box.nextSibling);
    Array.prototype.forEach.call(pictures, function (picture) {
      var left = picture.parentNode;
      together.appendChild(picture);
      if (!left.children.length) { left.remove(); }
    });
  }

  var all = [];
  Array.prototype.forEach.call(document.querySelectorAll(".charts"), function (box, order) {
    var group = { key: "charts-" + order, charts: [] };
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
    all.forEach(function (chart) { chart.draw(); });
  });
  window.addEventListener("beforeprint", function () {
    Array.prototype.forEach.call(document.querySelectorAll("details.same"), function (one) {
      one.open = true;
    });
  });
}());
