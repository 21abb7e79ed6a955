// Draws curves and points with intervals as SVG. A legend's entry hides its series; arrow keys move
// along the axis, and what is there is told below.
(function () {
  "use strict";

  var SPACE = "http://www.w3.org/2000/svg";
  var LEFT = 58, RIGHT = 24, TOP = 14, BOTTOM = 46, HEIGHT = 330;

  function drawn(tag, attributes, text) {
    var made = document.createElementNS(SPACE, tag);
    Object.keys(attributes).forEach(function (name) { made.setAttribute(name, attributes[name]); });
    if (text !== undefined) { made.textContent = text; }
    return made;
  }

  function element(tag, className, text) {
    var made = document.createElement(tag);
    if (className) { made.className = className; }
    if (text !== undefined) { made.textContent = text; }
    return made;
  }

  // Three telling digits, thousands set apart, as everywhere else.
  function short(value) {
    var size = Math.abs(value);
    if (value === 0) { return "0"; }
    if (size >= 100) { return Math.round(value).toLocaleString("en"); }
    return size >= 10 ? value.toFixed(1) : size >= 1 ? value.toFixed(2) : value.toFixed(3);
  }

  function plain(value) {
    return value >= 1000 ? value.toLocaleString("en") : String(Number(value.toPrecision(3)));
  }

  function linearTicks(low, high, most) {
    var rough = (high - low) / most, power = Math.pow(10, Math.floor(Math.log10(rough)));
    var step = [1, 2, 5, 10].map(function (each) { return each * power; })
      .filter(function (each) { return each >= rough * 0.999; })[0];
    var found = [];
    for (var at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at += 1) {
      found.push(Number((at * step).toPrecision(12)));
    }
    return found;
  }

  function logTicks(low, high, most) {
    var wanted = [[1, 2, 5], [1, 3], [1]].map(function (steps) {
      var found = [];
      for (var power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
        steps.forEach(function (step) {
          var tick = Number((step * Math.pow(10, power)).toPrecision(6));
          if (tick >= low * 0.999 && tick <= high * 1.001) { found.push(tick); }
        });
      }
      return found;
    });
    var fitting = wanted.filter(function (found) { return found.length <= most; });
    return (fitting[0] && fitting[0].length > 1) ? fitting[0] : wanted[0];
  }

  function Scale(low, high, log, from, to) {
    this.low = low; this.high = high; this.log = log; this.from = from; this.to = to;
  }
  Scale.prototype.at = function (value) {
    var part = this.log ? Math.log(value / this.low) / Math.log(this.high / this.low)
      : (value - this.low) / (this.high - this.low);
    return this.from + part * (this.to - this.from);
  };

  function reach(spec) {
    var found = [];
    spec.series.forEach(function (one) {
      if (spec.hidden[one.name]) { return; }
      one.line.concat(one.points).forEach(function (point) {
        found = found.concat(point.slice(1).filter(function (value) {
          return value !== null && value !== undefined && isFinite(value);
        }));
      });
    });
    var above = found.filter(function (value) { return value > 0; });
    var high = Math.max.apply(null, found.concat(spec.yHigh || -Infinity));
    var low = Math.min.apply(null, above);
    if (!found.length || high <= 0) { return null; }
    if (spec.yLog && above.length) { return [low / 1.15, Math.max(high * 1.15, low * 2)]; }
    return [0, high * 1.06];
  }

  function Plot(box, spec) {
    this.box = box;
    this.spec = spec;
    this.spec.hidden = {};
    this.cursor = null;
    var self = this;
    box.classList.add("plot");
    this.legend = element("div", "plot-legend");
    this.figure = element("div", "plot-figure");
    this.told = element("p", "plot-told note");
    this.told.setAttribute("aria-live", "polite");
    this.figure.tabIndex = 0;
    this.figure.setAttribute("role", "img");
    [this.legend, this.figure, this.told].forEach(function (part) { box.appendChild(part); });
    this.figure.addEventListener("keydown", function (event) {
      var step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) { event.preventDefault(); self.move(step); }
    });
    this.figure.addEventListener("pointermove", function (event) { self.point(event); });
    this.figure.addEventListener("pointerleave", function () { self.tell(null); });
    new ResizeObserver(function () { self.draw(); }).observe(this.figure);
  }

  Plot.prototype.set = function (spec) {
    var hidden = this.spec.hidden;
    this.spec = spec;
    this.spec.hidden = hidden;
    this.draw();
  };

  Plot.prototype.draw = function () {
    var width = this.figure.clientWidth, spec = this.spec, range = reach(spec);
    this.drawLegend();
    this.figure.setAttribute("aria-label", spec.title + ". Arrow keys tell the values.");
    var svg = drawn("svg", { width: width, height: HEIGHT, viewBox: "0 0 " + width + " " + HEIGHT });
    this.figure.replaceChildren(svg);
    if (!range || width < 120) {
      svg.appendChild(drawn("text", { x: width / 2, y: HEIGHT / 2, class: "tick middle" },
        spec.series.length ? "nothing to show" : ""));
      return;
    }
    var xs = spec.x, y = new Scale(range[0], range[1], spec.yLog, HEIGHT - BOTTOM, TOP);
    var room = xs.length === 1 ? [xs[0] * 0.5 || -1, xs[0] * 1.5 || 1] : [xs[0], xs[xs.length - 1]];
    var x = new Scale(room[0], room[1], spec.xLog && room[0] > 0, LEFT, width - RIGHT);
    this.x = x;
    this.axes(svg, x, y, width);
    if (spec.now !== null && spec.now !== undefined && spec.now >= room[0] && spec.now <= room[1]) {
      svg.appendChild(drawn("line", { class: "now", x1: x.at(spec.now), x2: x.at(spec.now), y1: TOP, y2: HEIGHT - BOTTOM }));
    }
    spec.series.forEach(function (one) {
      if (!spec.hidden[one.name]) { series(svg, one, x, y); }
    });
    this.mark = drawn("line", { class: "cursor", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
    svg.appendChild(this.mark);
  };

  Plot.prototype.axes = function (svg, x, y, width) {
    var many = Math.max(3, Math.floor((width - LEFT) / 70)), bottom = HEIGHT - BOTTOM, last = -99, whole = this.spec.xWhole;
    (x.log ? logTicks(x.low, x.high, many) : linearTicks(x.low, x.high, many)).filter(function (tick) {
      return !whole || tick === Math.round(tick);
    }).forEach(function (tick) {
      var at = x.at(tick);
      svg.appendChild(drawn("line", { class: "grid", x1: at, x2: at, y1: TOP, y2: bottom }));
      if (at - last > 34) {
        svg.appendChild(drawn("text", { class: "tick middle", x: at, y: bottom + 17 }, plain(tick)));
        last = at;
      }
    });
    (y.log ? logTicks(y.low, y.high, 7) : linearTicks(y.low, y.high, 6)).forEach(function (tick) {
      var at = y.at(tick);
      svg.appendChild(drawn("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: at, y2: at }));
      svg.appendChild(drawn("text", { class: "tick end", x: LEFT - 7, y: at + 4 }, plain(tick)));
    });
    svg.appendChild(drawn("text", { class: "tick middle", x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 8 }, this.spec.xLabel));
  };

  function series(svg, one, x, y) {
    var group = drawn("g", { class: "series " + one.look }), path = "", pen = "M";
    function inside(value) { return value !== null && value !== undefined && (!y.log || value > 0); }
    var band = one.line.filter(function (point) { return inside(point[2]) && inside(point[3]); });
    if (band.length > 1) {
      group.appendChild(drawn("path", { class: "band", d: "M" + band.map(function (point) {
        return x.at(point[0]) + " " + y.at(point[3]);
      }).concat(band.slice().reverse().map(function (point) {
        return x.at(point[0]) + " " + y.at(point[2]);
      })).join("L") + "Z" }));
    }
    one.line.forEach(function (point) {
      if (!inside(point[1])) { pen = "M"; return; }
      path += pen + x.at(point[0]) + " " + y.at(point[1]);
      pen = "L";
    });
    if (path) { group.appendChild(drawn("path", { class: "line", d: path })); }
    one.points.forEach(function (point) {
      var at = x.at(point[0]);
      if (!inside(point[1])) { return; }
      if (inside(point[2]) && inside(point[3])) {
        [[at, at, point[2], point[3]], [at - 4, at + 4, point[2], point[2]],
          [at - 4, at + 4, point[3], point[3]]].forEach(function (ends) {
          group.appendChild(drawn("line", { class: "interval", x1: ends[0], x2: ends[1], y1: y.at(ends[2]), y2: y.at(ends[3]) }));
        });
      }
      group.appendChild(drawn("circle", { class: "simulated", cx: at, cy: y.at(point[1]), r: 4.5 }));
    });
    svg.appendChild(group);
  }

  Plot.prototype.drawLegend = function () {
    var self = this, spec = this.spec;
    var focused = document.activeElement && document.activeElement.getAttribute("data-series");
    this.legend.replaceChildren.apply(this.legend, spec.series.map(function (one) {
      var button = element("button", "plot-entry"), svg = drawn("svg", { width: 26, height: 12, "aria-hidden": "true" });
      var group = drawn("g", { class: "series " + one.look });
      button.type = "button";
      button.setAttribute("data-series", one.name);
      button.setAttribute("aria-pressed", String(!spec.hidden[one.name]));
      group.appendChild(drawn("path", { class: "line", d: "M1 6L25 6" }));
      svg.appendChild(group);
      button.appendChild(svg);
      button.appendChild(document.createTextNode(one.name));
      button.addEventListener("click", function () {
        spec.hidden[one.name] = !spec.hidden[one.name];
        self.draw();
      });
      return button;
    }));
    if (focused) {
      var again = this.legend.querySelector("[data-series=\"" + CSS.escape(focused) + "\"]");
      if (again) { again.focus(); }
    }
  };

  Plot.prototype.point = function (event) {
    var self = this, at = event.clientX - this.figure.getBoundingClientRect().left;
    if (!this.x) { return; }
    var nearest = this.spec.x.reduce(function (best, x) {
      return Math.abs(self.x.at(x) - at) < Math.abs(self.x.at(best) - at) ? x : best;
    }, this.spec.x[0]);
    this.tell(nearest);
  };

  Plot.prototype.move = function (step) {
    var xs = this.spec.x, now = this.cursor === null ? (this.spec.now || xs[0]) : this.cursor;
    var place = 0;
    xs.forEach(function (x, at) { if (Math.abs(x - now) < Math.abs(xs[place] - now)) { place = at; } });
    this.tell(xs[Math.min(xs.length - 1, Math.max(0, place + step))]);
  };

  Plot.prototype.tell = function (x) {
    var spec = this.spec;
    this.cursor = x;
    if (!this.mark) { return; }
    this.mark.setAttribute("visibility", x === null ? "hidden" : "visible");
    if (x === null) { this.told.textContent = ""; return; }
    this.mark.setAttribute("x1", this.x.at(x));
    this.mark.setAttribute("x2", this.x.at(x));
    this.told.textContent = spec.xLabel + " " + plain(x) + ": " + spec.series.filter(function (one) {
      return !spec.hidden[one.name];
    }).map(function (one) {
      function of(points) {
        return points.filter(function (point) { return point[0] === x && point[1] !== null && point[1] !== undefined; })
          .map(function (point) { return short(point[1]); }).join(", ");
      }
      var line = of(one.line), points = of(one.points);
      return one.name + " " + (line || "–") + (points ? " (simulated " + points + ")" : "");
    }).join("; ");
  };

  window.Pessim = { Plot: Plot, element: element, short: short, plain: plain };
}());
