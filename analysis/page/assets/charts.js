// Draws charts with uPlot, on reports and on served pages. A legend's entry hides its line; arrow keys
// move along the axis, and what is there is told below. What uPlot does not draw (what happens at a
// time, a limit, the present value, simulated values with their intervals) lies above it as elements.
(function () {
  "use strict";

  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var LOG = 3, FAMILY = "system-ui, 'Liberation Sans', sans-serif";
  var all = [], groups = 0;

  function element(tag, className, text) {
    var made = document.createElement(tag);
    if (className) { made.className = className; }
    if (text !== undefined) { made.textContent = text; }
    return made;
  }

  // A colour nears black or white until it stands out from the page (WCAG: 3 to 1 at least).
  function shade(colour, opacity) {
    var far = dark.matches ? 255 : 0, parts = [1, 3, 5].map(function (at) {
      return parseInt(colour.substr(at, 2), 16);
    });
    function luminance() {
      return [0.2126, 0.7152, 0.0722].reduce(function (sum, weight, at) {
        return sum + weight * Math.pow(parts[at] / 255, 2.2);
      }, 0);
    }
    while (dark.matches ? luminance() < 0.4 : luminance() > 0.3) {
      parts = parts.map(function (part) { return part + (far - part) * 0.1; });
    }
    return "rgba(" + parts.map(Math.round).join(",") + "," + (opacity || 1) + ")";
  }

  // A tick: as short as it is.
  function plain(value) {
    return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en")
      : String(Number(value.toPrecision(3)));
  }

  // A value: three telling digits, as everywhere else.
  function short(value) {
    var size = Math.abs(value);
    if (value === null || value === undefined || isNaN(value)) { return "–"; }
    if (size >= 100) { return Math.round(value).toLocaleString("en"); }
    return size < 0.001 ? plain(value) : value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3);
  }

  function style(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function there(value) { return value !== null && value !== undefined; }

  // A line's value, lower and upper end as columns: null breaks a line, undefined does not. Without an
  // interval a band breaks: to a point it would be certain. On a log axis uPlot puts what is 0 or less
  // below all that is seen, so such a band ends with the axis.
  function columns(chart, line) {
    var missing = chart.joined ? undefined : null, gaps = line.gaps || [];
    var value = [], low = [], high = [];
    line.v.forEach(function (here, at) {
      var none = !there(here) || (chart.log && here <= 0);
      var instead = gaps.indexOf(at) >= 0 ? null : here === undefined ? here : missing;
      var least = line.lo && line.lo[at], most = line.hi && line.hi[at];
      var known = there(least) && there(most);
      value.push(none ? instead : here);
      low.push(none ? instead : known ? least : null);
      high.push(none ? instead : known ? most : null);
    });
    return [value, low, high];
  }

  // Places of values with nothing on either side, which no line passes through.
  function alone(values) {
    return values.map(function (_, at) { return at; }).filter(function (at) {
      return there(values[at]) && !there(values[at - 1]) && !there(values[at + 1]);
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

  // A place along the axis in even steps, and back: on a log axis its logarithm.
  function flat(chart, x) { return chart.xlog ? Math.log(x) : x; }
  function back(chart, place) { return chart.xlog ? Math.exp(place) : place; }

  function isSeen(value, chart) { return there(value) && (!chart.log || value > 0); }

  // The values of a view: from 0, or on a log axis with some room; a limit and dots are among them.
  function valueRange(self) {
    return function (plot, low, high) {
      var chart = self.chart, more = chart.limit ? [chart.limit.at] : [];
      self.lines().forEach(function (line) {
        (line.dots || []).forEach(function (dot) { more = more.concat(dot.slice(1)); });
      });
      more = more.concat([low, high]).filter(function (value) { return isSeen(value, chart); });
      if (!more.length) { return chart.log ? [1, 10] : [0, 1]; }
      low = Math.min.apply(null, more);
      high = Math.max.apply(null, more);
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
  var DECADES = [
    upTo(100, 1), upTo(100, 5), [10, 12, 15, 20, 25, 30, 40, 50, 60, 80], upTo(100, 10),
    [10, 20, 50], [10, 30], [10]
  ];

  function logSplits(low, high, fit) {
    var found = [];
    DECADES.some(function (ticks) {
      found = [];
      for (var decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); decade += 1) {
        ticks.forEach(function (tenths) {
          var tick = Number((tenths * Math.pow(10, decade - 1)).toPrecision(2));
          if (tick >= low && tick <= high) { found.push(tick); }
        });
      }
      return fit(found);
    });
    return found;
  }

  // As many of some ticks as there is room for.
  function withRoom(plot, ticks) {
    var from = -Infinity;
    return ticks.filter(function (tick) {
      var half = plain(tick).length * 3.5 + 5, at = plot.valToPos(tick, "x");
      if (at - half < from) { return false; }
      from = at + half;
      return true;
    });
  }

  // Along the axis: at the values that were tried, if two of them have room.
  function acrossSplits(chart) {
    return function (plot, index, low, high, step) {
      var tried = withRoom(plot, !chart.ticks ? [] : chart.x.filter(function (x) {
        return x >= low && x <= high;
      }));
      if (tried.length > 1) { return tried; }
      function fit(ticks) { return withRoom(plot, ticks).length === ticks.length; }
      return withRoom(plot, chart.xlog ? logSplits(low, high, fit) : evenly(low, high, step));
    };
  }

  // What happens at a time, or within a hundredth of what is seen.
  function happening(chart, plot, x) {
    if (chart.warmup > 0 && x < chart.warmup) { return "warm-up, which no number includes"; }
    var near = (plot.scales.x.max - plot.scales.x.min) / 100;
    return (chart.marks || []).filter(function (mark) {
      return x >= mark[0] - near && x <= mark[1] + near;
    }).map(function (mark) { return mark[2]; }).slice(0, 4).join("; ");
  }

  // Charts of one group zoom together and share their cursor.
  function group() { return { key: "charts-" + (groups += 1), charts: [] }; }

  // Takes a box and a chart: title, axis, x and views of lines (v; lo, hi; dots of x, value, low, high).
  function Chart(box, chart, together) {
    var self = this;
    this.group = together || group();
    this.hidden = Object.create(null);
    this.title = element(chart.heading || "h3");
    this.buttons = element("div", "buttons");
    this.legend = element("div", "legend");
    this.canvas = element("div", "chart-canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.axis = element("div", "chart-axis");
    this.told = element("p", "told");
    this.told.setAttribute("aria-live", "polite");
    var head = element("div", "chart-head");
    [this.title, this.buttons].forEach(function (part) { head.appendChild(part); });
    box.classList.add("chart");
    [head, this.legend, this.canvas, this.axis, this.told].forEach(function (part) {
      box.appendChild(part);
    });
    (chart.views.length > 1 ? chart.views : []).forEach(function (view, order) {
      var button = self.button(view.name, function () {
        self.view = view;
        self.buttons.querySelectorAll("[aria-pressed]").forEach(function (one) {
          one.setAttribute("aria-pressed", String(one === button));
        });
        self.draw();
      });
      button.setAttribute("aria-pressed", String(order === 0));
    });
    [["zoom in", 0.5], ["zoom out", 2], ["show all", 0]].forEach(function (step) {
      self.button(step[0], function () { self.zoom(step[1]); });
    });
    this.canvas.addEventListener("keydown", function (event) {
      var step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) { event.preventDefault(); self.move(step); }
    });
    this.set(chart);
    this.group.charts.push(this);
    all.push(this);
    new ResizeObserver(function () {
      var width = self.canvas.clientWidth;
      if (width > 0 && width !== self.plot.width) {
        self.plot.setSize({ width: width, height: self.canvas.clientHeight });
      }
    }).observe(this.canvas);
  }

  Chart.prototype.button = function (words, pressed) {
    var button = element("button", "", words);
    button.type = "button";
    button.addEventListener("click", pressed);
    this.buttons.appendChild(button);
    return button;
  };

  // Shows another chart in the place of the last one; what is hidden or zoomed into stays so.
  Chart.prototype.set = function (chart) {
    if (this.chart && this.chart.axis !== chart.axis) { this.seen = this.at = null; }
    this.chart = chart;
    this.view = chart.views[0];
    this.title.textContent = chart.title;
    this.axis.textContent = chart.axis;
    this.canvas.setAttribute("aria-label", chart.title + ", by " + chart.axis +
      ". Arrow keys tell the values." + (chart.aside ? " " + chart.aside : ""));
    this.draw();
  };

  // Lines that are not hidden.
  Chart.prototype.lines = function () {
    var hidden = this.hidden;
    return this.view.series.filter(function (line) { return !hidden[line.name]; });
  };

  Chart.prototype.isEmpty = function () {
    var chart = this.chart;
    return !this.lines().some(function (line) {
      return line.v.concat((line.dots || []).map(function (dot) { return dot[1]; }))
        .some(function (value) { return isSeen(value, chart); });
    });
  };

  // Elements below and above what uPlot draws.
  Chart.prototype.lay = function () {
    var self = this, plot = this.plot, chart = this.chart, above = this.above;
    function across(x) { return plot.valToPos(x, "x"); }
    function up(y) { return plot.valToPos(y, "y"); }
    function put(box, className, place, text) {
      var made = element("div", className, text);
      Object.keys(place).forEach(function (side) { made.style[side] = place[side] + "px"; });
      box.appendChild(made);
      return made;
    }
    plot.under.replaceChildren();
    above.replaceChildren();
    if (chart.warmup > 0) {
      put(plot.under, "warmup", { left: across(0), width: across(chart.warmup) - across(0) });
    }
    (chart.marks || []).forEach(function (mark) {
      put(plot.under, "mark", { left: across(mark[0]), width: across(mark[1]) - across(mark[0]) });
    });
    if (there(chart.now)) { put(above, "now", { left: across(chart.now) }); }
    if (chart.limit) { put(above, "limit", { top: up(chart.limit.at) }, chart.limit.words); }
    if (this.isEmpty()) { put(above, "nothing", {}, "nothing to show"); }
    this.lines().forEach(function (line) {
      (line.dots || []).forEach(function (dot) {
        if (!isSeen(dot[1], chart)) { return; }
        if (isSeen(dot[2], chart) && isSeen(dot[3], chart)) {
          put(above, "interval-bar", { left: across(dot[0]), top: up(dot[3]), height: up(dot[2]) - up(dot[3]) })
            .style.color = shade(line.colour);
        }
        put(above, "dot", { left: across(dot[0]), top: up(dot[1]) }).style.color = shade(line.colour);
      });
    });
  };

  // From the middle of what is seen; on a log axis its middle is that of the logarithms.
  Chart.prototype.zoom = function (factor) {
    var chart = this.chart, scale = this.plot.scales.x, whole = ends(chart);
    var low = flat(chart, scale.min), high = flat(chart, scale.max);
    var middle = (low + high) / 2, half = (high - low) / 2 * factor;
    var wide = factor === 0 || 2 * half >= flat(chart, whole[1]) - flat(chart, whole[0]);
    this.show(wide ? whole : [back(chart, middle - half), back(chart, middle + half)]);
  };

  Chart.prototype.show = function (range) {
    var whole = ends(this.chart);
    this.plot.setScale("x", {
      min: Math.max(whole[0], range[0]), max: Math.min(whole[1], range[1])
    });
  };

  Chart.prototype.draw = function () {
    var self = this, at = this.at;
    if (this.plot) { this.plot.destroy(); }
    this.above = element("div", "above");
    this.plot = new uPlot(this.options(), this.data(), this.canvas);
    this.plot.over.appendChild(this.above);
    touch(this);
    if (this.seen) { this.show(this.seen); }
    this.tell();
    if (there(at)) { queueMicrotask(function () { self.point(at); }); }  // once uPlot has its scales
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
      var single = alone(columns(chart, line)[0]), value = series.length, show = !self.hidden[line.name];
      series.push({
        stroke: shade(line.colour), dash: line.dash, width: 2, show: show,
        points: {
          show: chart.x.length < 30 && !line.dots, size: 6, fill: shade(line.colour),
          filter: function (plot, index, all) { return all || line.dots ? null : single; }
        }
      });
      series.push({ show: show, points: { show: false } }, { show: show, points: { show: false } });
      bands.push({ series: [value + 2, value + 1], fill: shade(line.colour, 0.18) });
    });
    var axis = {
      stroke: style("--soft"), font: "12px " + FAMILY, grid: { stroke: style("--line"), width: 0.6 },
      ticks: { stroke: style("--line"), width: 0.6, size: 4 },
      values: function (plot, splits) { return splits.map(plain); },
      filter: function (plot, splits) { return splits; }
    };
    var across = Object.assign({}, axis, { size: 24, space: 44, splits: acrossSplits(chart) });
    var up = Object.assign({}, axis, { size: 54, space: 36 });
    if (chart.whole) { across.incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]; }
    if (chart.log) {
      up.splits = function (plot, index, low, high) {
        return logSplits(low, high, function (ticks) { return ticks.length <= 8; });
      };
    }
    up.values = function (plot, splits) { return self.isEmpty() ? [] : splits.map(plain); };
    return {
      width: this.canvas.clientWidth, height: this.canvas.clientHeight, padding: [8, 14, 0, 0],
      legend: { show: false },
      scales: {
        x: {
          time: false, distr: chart.xlog ? LOG : 1,
          range: function (plot, low, high) {
            var all = low === chart.x[0] && high === chart.x[chart.x.length - 1];
            return all ? ends(chart) : [low, high];
          }
        },
        y: { distr: chart.log ? LOG : 1, range: valueRange(this) }
      },
      series: series, bands: bands, axes: [across, up],
      cursor: {
        y: false, drag: { x: true, y: false, dist: 5 },
        points: { size: function (plot, index) { return index % 3 === 1 ? 8 : 0; } },
        sync: { key: this.group.key, scales: ["x", null], filters: { pub: moves, sub: moves } }
      },
      hooks: {
        draw: [function () { self.lay(); }],
        setCursor: [function () { self.tell(); }],
        setScale: [function (plot, key) {
          if (key === "x" && plot === self.plot) { self.follow(plot.scales.x); }
        }]
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
    var whole = ends(this.chart);
    this.seen = scale.min === whole[0] && scale.max === whole[1] ? null : [scale.min, scale.max];
    this.group.charts.forEach(function (other) {
      var theirs = other.plot.scales.x;
      if (theirs.min !== scale.min || theirs.max !== scale.max) {
        other.plot.setScale("x", { min: scale.min, max: scale.max });
      }
    });
  };

  // Moves the cursor by so many values of what is seen, from the present one if it is nowhere.
  Chart.prototype.move = function (step) {
    var xs = this.chart.x, from = there(this.at) ? this.at : there(this.chart.now) ? this.chart.now : xs[0];
    var seen = this.plot.series[0].idxs, place = 0;
    xs.forEach(function (x, at) { if (Math.abs(x - from) < Math.abs(xs[place] - from)) { place = at; } });
    this.point(xs[Math.min(seen[1], Math.max(seen[0], place + step))]);
  };

  Chart.prototype.point = function (x) {
    this.plot.setCursor({ left: this.plot.valToPos(x, "x"), top: 0 });
  };

  // What the lines are called, and their values under the cursor; a click hides a line.
  Chart.prototype.tell = function () {
    var self = this, plot = this.plot, at = plot && plot.cursor.left >= 0 ? plot.cursor.idx : null;
    var lines = this.view.series, x = there(at) ? plot.data[0][at] : null, values = [];
    var names = lines.map(function (line) { return line.name; }).join("\n");
    this.at = x;
    if (this.names !== names) {
      this.names = names;
      this.legend.replaceChildren.apply(this.legend, lines.map(function (line, place) {
        return self.entry(line.name, place);
      }));
    }
    lines.forEach(function (line, place) {
      var entry = self.legend.childNodes[place], value = "";
      if (there(at)) {
        value = " " + short(plot.data[1 + 3 * place][at]) + (line.dots || []).filter(function (dot) {
          return dot[0] === x;
        }).map(function (dot) { return " (simulated " + short(dot[1]) + ")"; }).join("");
        if (!self.hidden[line.name]) { values.push(line.name + value); }
      }
      paint(entry.firstChild, line);
      entry.lastChild.textContent = line.name + value;
    });
    var what = there(at) ? happening(this.chart, plot, x) : "";
    var seen = there(at) ? this.chart.axis + ": " + plain(x) + (what ? ", " + what : "") : "";
    var spoken = values.length ? "; " + values.join("; ") : "";
    if (this.told.textContent !== seen + spoken) {
      this.told.replaceChildren(seen, element("span", "spoken", spoken));
    }
  };

  Chart.prototype.entry = function (name, place) {
    var self = this, entry = element("button", "series");
    entry.type = "button";
    entry.setAttribute("aria-pressed", String(!this.hidden[name]));
    entry.appendChild(element("span", "swatch"));
    entry.appendChild(document.createTextNode(""));
    entry.addEventListener("click", function () {
      var show = Boolean(self.hidden[name]);
      self.hidden[name] = !show;
      entry.setAttribute("aria-pressed", String(show));
      [1, 2, 3].forEach(function (column) { self.plot.setSeries(column + 3 * place, { show: show }); });
    });
    return entry;
  };

  function paint(swatch, line) {
    var colour = shade(line.colour), until = 0, stops = line.dash.map(function (length, part) {
      var from = until;
      until += length;
      return (part % 2 ? "transparent " : colour + " ") + from + "px " + until + "px";
    });
    swatch.style.background =
      stops.length ? "repeating-linear-gradient(to right, " + stops.join(", ") + ")" : colour;
  }

  // One finger scrolls the page; two zoom, and what is under each finger stays under it.
  function touch(view) {
    var over = view.plot.over, chart = view.chart, held = null;
    function places(event) {
      var left = over.getBoundingClientRect().left;
      return [event.touches[0].clientX - left, event.touches[1].clientX - left];
    }
    over.addEventListener("touchstart", function (event) {
      held = event.touches.length !== 2 ? null : places(event).map(function (place) {
        return flat(chart, view.plot.posToVal(place, "x"));
      });
    }, { passive: true });
    over.addEventListener("touchmove", function (event) {
      if (!held || event.touches.length !== 2) { return; }
      event.preventDefault();
      var at = places(event);
      if (Math.abs(at[1] - at[0]) < 5) { return; }
      var step = (held[1] - held[0]) / (at[1] - at[0]), low = held[0] - step * at[0];
      if (step > 0) { view.show([back(chart, low), back(chart, low + step * over.clientWidth)]); }
    }, { passive: false });
  }

  dark.addEventListener("change", function () {
    all = all.filter(function (chart) { return chart.canvas.isConnected; });
    all.forEach(function (chart) { chart.draw(); });
  });
  window.Pessim = { Chart: Chart, element: element, group: group, plain: plain, shade: shade, short: short };
}());
