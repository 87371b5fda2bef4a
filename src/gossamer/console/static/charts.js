// Charts: SVG from JSON {"at": [seconds], "series": {name: [values]}, "unit", "kind", "goal"}.
//
// A chart is an element with data-chart (where the JSON is), data-names (what the series are called) and data-every
// (seconds). null is a gap. The figures are there as a table, too. Times are UTC, as everywhere on the console.
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const LEFT = 52, RIGHT = 12, TOP = 10, BOTTOM = 22;
  const MINUTE = 60, HOUR = 3600, DAY = 86400;
  const TIME_STEPS = [MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR,
    6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 61 * DAY, 122 * DAY, 365 * DAY];
  const DURATION_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY,
    2 * DAY, 5 * DAY, 10 * DAY, 30 * DAY, 100 * DAY];
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", hour: "2-digit", minute: "2-digit" });
  const date = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short" });
  const moment = new Intl.DateTimeFormat("en-GB", {
    timeZone: "UTC", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
  });
  const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });

  function make(name, attributes = {}, ...children) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  function element(name, className, ...children) {
    const node = document.createElement(name);
    if (className) node.className = className;
    node.append(...children);
    return node;
  }

  function short(value) {
    return plain.format(Math.abs(value) >= 100 ? Math.round(value) : value);
  }

  function duration(seconds) {
    for (const [size, unit] of [[DAY, "days"], [HOUR, "h"], [MINUTE, "min"]]) {
      if (seconds >= 1.5 * size) return `${short(seconds / size)} ${unit}`;
    }
    return `${short(seconds)} s`;
  }

  function bytes(count) {
    for (const unit of ["B", "kB", "MB", "GB"]) {
      if (count < 1000) return `${short(count)} ${unit}`;
      count /= 1000;
    }
    return `${short(count)} TB`;
  }

  function words(value, unit, axis = false) {
    if (value === null || value === undefined) return "–";
    if (unit === "s") return duration(value);
    if (unit === "bytes") return bytes(value);
    if (unit === "share") return `${plain.format(100 * value)} %`;
    const text = axis ? compact.format(value) : value < 1 ? plain.format(Math.round(100 * value) / 100) : plain.format(value);
    return unit && !axis ? `${text} ${unit}` : text;
  }

  function tickOf(most, unit) {
    if (unit === "share") return most > 0.5 ? 0.25 : most > 0.2 ? 0.1 : 0.05;
    if (unit === "s") return DURATION_STEPS.find((step) => step >= most / 4) || DURATION_STEPS.at(-1);
    const rough = most / 4, power = 10 ** Math.floor(Math.log10(rough));
    return power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999);
  }

  function scaleOf(data) {
    const values = Object.values(data.series).flat().filter((value) => value !== null);
    const most = Math.max(...values, data.goal || 0, data.unit === "share" ? 0.05 : data.unit === "s" ? 1 : 0.4);
    const counts = !data.unit && values.every(Number.isInteger);
    const tick = counts ? Math.ceil(tickOf(most, data.unit)) : tickOf(most, data.unit);
    return { tick, most: Math.ceil(most / tick - 0.001) * tick };
  }

  function labelsOf(figure, data) {
    const names = JSON.parse(figure.dataset.names || "{}"), keys = Object.keys(data.series);
    if (!Array.isArray(names)) return Object.fromEntries(keys.map((key) => [key, names[key] || key]));
    return Object.fromEntries(keys.map((key, index) => [key, names.includes(key) ? key : names[index] || key]));
  }

  class Drawing {
    constructor(figure, data, height) {
      this.data = data;
      this.width = Math.max(240, Math.round(figure.clientWidth));
      this.height = height;
      this.labels = labelsOf(figure, data);
      this.scale = scaleOf(data);
      [this.from, this.to] = [data.at[0], data.at.at(-1)];
      if (this.to <= this.from) [this.from, this.to] = [this.from - MINUTE, this.from + MINUTE];
      this.svg = make("svg", {
        viewBox: `0 0 ${this.width} ${height}`, role: "img", tabindex: "0", "aria-label": this.summary(figure),
      });
      this.svg.style.touchAction = "pan-y";
      this.drawAxes();
      Object.values(data.series).forEach((values, index) => this.drawSeries(values, index));
      if (data.goal) this.drawGoal();
      this.pointer = make("g", { "pointer-events": "none" });
      this.svg.append(this.pointer);
      this.listen();
    }

    summary(figure) {
      const title = figure.querySelector("figcaption")?.textContent || "Chart";
      const last = Object.entries(this.data.series).map(([name, values]) => {
        const value = values.findLast((one) => one !== null);
        return `${this.labels[name]}: ${value === undefined ? "no value yet" : words(value, this.data.unit)}`;
      });
      return `${title}. Last values: ${last.join(", ")}. Arrow keys step through points.`;
    }

    x(at) {
      return LEFT + ((at - this.from) / (this.to - this.from)) * (this.width - LEFT - RIGHT);
    }

    y(value) {
      return this.height - BOTTOM - (value / this.scale.most) * (this.height - TOP - BOTTOM);
    }

    drawAxes() {
      for (let value = 0; value <= this.scale.most * 1.001; value += this.scale.tick) {
        const y = this.y(value);
        this.svg.append(
          make("line", { class: "axis", x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y }),
          make("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, words(value, this.data.unit, true)),
        );
      }
      const room = Math.max(2, Math.floor((this.width - LEFT) / 85));
      const step = TIME_STEPS.find((one) => (this.to - this.from) / one <= room) || TIME_STEPS.at(-1);
      for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) {
        const x = this.x(at), text = step >= DAY || at % DAY === 0 ? date.format(at * 1000) : clock.format(at * 1000);
        const anchor = x > this.width - 30 ? "end" : x < LEFT + 12 ? "start" : "middle";
        this.svg.append(
          make("line", { class: "axis", x1: x, x2: x, y1: this.height - BOTTOM, y2: this.height - BOTTOM + 4 }),
          make("text", { x, y: this.height - 5, "text-anchor": anchor }, text),
        );
      }
    }

    drawSeries(values, index) {
      if (this.data.kind === "bars") return this.drawBars(values, index);
      const runs = [];
      values.forEach((value, place) => {
        if (value === null) return runs.push([]);
        if (!runs.length) runs.push([]);
        runs.at(-1).push([this.x(this.data.at[place]), this.y(value)]);
      });
      for (const run of runs.filter((points) => points.length)) {
        const line = run.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");
        if (this.data.kind === "area" && run.length > 1) {
          const floor = this.y(0).toFixed(1);
          const area = make("path", { d: `M${run[0][0].toFixed(1)} ${floor}L${line}L${run.at(-1)[0].toFixed(1)} ${floor}Z` });
          area.style.fill = `var(--series-${index})`;
          area.style.fillOpacity = "0.15";
          this.svg.append(area);
        }
        this.svg.append(run.length > 1
          ? make("path", { class: `series-${index}`, d: `M${line}` })
          : this.dot(run[0][0], run[0][1], index));
      }
    }

    drawBars(values, index) {
      const width = Math.max(1, Math.min(28, ((this.width - LEFT - RIGHT) / values.length) * 0.7));
      values.forEach((value, place) => {
        if (!value) return;
        const x = Math.min(Math.max(this.x(this.data.at[place]) - width / 2, LEFT), this.width - RIGHT - width);
        const y = this.y(value);
        const bar = make("rect", { x, y, width, height: Math.max(0.5, this.y(0) - y) });
        bar.style.fill = `var(--series-${index})`;
        this.svg.append(bar);
      });
    }

    drawGoal() {
      const y = this.y(this.data.goal);
      const line = make("line", { x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y, "stroke-dasharray": "5 4" });
      line.style.stroke = "var(--bad)";
      const text = make("text", { x: LEFT + 4, y: y > TOP + 14 ? y - 4 : y + 14 }, `goal: ${words(this.data.goal, this.data.unit)}`);
      text.style.paintOrder = "stroke";
      text.style.stroke = "var(--bg)";
      text.style.strokeWidth = "3px";
      this.svg.append(line, text);
    }

    dot(x, y, index) {
      const dot = make("circle", { cx: x, cy: y, r: 3 });
      dot.style.fill = `var(--series-${index})`;
      return dot;
    }

    listen() {
      this.place = -1;
      this.svg.addEventListener("pointermove", (event) => this.point(event));
      this.svg.addEventListener("pointerdown", (event) => this.point(event));
      this.svg.addEventListener("pointerleave", () => this.show(-1));
      this.svg.addEventListener("blur", () => this.show(-1));
      this.svg.addEventListener("keydown", (event) => {
        const last = this.data.at.length - 1;
        const to = { ArrowLeft: this.place < 0 ? last : this.place - 1, ArrowRight: this.place + 1, Home: 0, End: last }[event.key];
        if (event.key === "Escape") this.show(-1);
        if (to === undefined) return;
        event.preventDefault();
        this.show(Math.min(Math.max(to, 0), last), true);
      });
    }

    point(event) {
      const box = this.svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * this.width;
      let best = 0;
      this.data.at.forEach((at, place) => {
        if (Math.abs(this.x(at) - x) < Math.abs(this.x(this.data.at[best]) - x)) best = place;
      });
      this.show(best);
    }

    show(place, aloud = false) {
      this.place = place;
      this.pointer.replaceChildren();
      if (place < 0) return;
      const at = this.data.at[place], x = this.x(at);
      const lines = [moment.format(at * 1000)];
      const line = make("line", { x1: x, x2: x, y1: TOP, y2: this.height - BOTTOM });
      line.style.stroke = "var(--edge)";
      this.pointer.append(line);
      Object.entries(this.data.series).forEach(([name, values], index) => {
        lines.push(`${this.labels[name]}: ${words(values[place], this.data.unit)}`);
        if (values[place] !== null) this.pointer.append(this.dot(x, this.y(values[place]), index));
      });
      this.pointer.append(this.bubble(x, lines));
      if (aloud && this.spoken) this.spoken.textContent = lines.join(", ");
    }

    bubble(x, lines) {
      const width = 14 + 6.3 * Math.max(...lines.map((line) => line.length)), height = 8 + 15 * lines.length;
      const left = Math.max(2, x + 10 + width > this.width ? x - 10 - width : x + 10);
      const box = make("rect", { x: left, y: TOP, width, height, rx: 5 });
      box.style.fill = "var(--bg)";
      box.style.stroke = "var(--edge)";
      const group = make("g", {}, box);
      lines.forEach((line, index) => {
        const text = make("text", { x: left + 7, y: TOP + 15 + 15 * index }, line);
        text.style.fill = index ? "var(--text)" : "var(--muted)";
        group.append(text);
      });
      return group;
    }
  }

  function legend(labels) {
    const list = element("ul", "legend");
    Object.values(labels).forEach((label, index) => {
      const mark = make("svg", { viewBox: "0 0 16 10", "aria-hidden": "true" },
        make("path", { class: `series-${index}`, d: "M0 5L16 5" }));
      list.append(element("li", "", mark, ` ${label}`));
    });
    return list;
  }

  function figuresTable(data, labels) {
    const details = element("details", "muted", element("summary", "", "Figures"));
    details.addEventListener("toggle", () => {
      if (!details.open || details.querySelector("table")) return;
      const head = element("tr", "", element("th", "", "Time (UTC)"));
      for (const label of Object.values(labels)) head.append(element("th", "", label));
      const body = element("tbody");
      data.at.forEach((at, place) => {
        const row = element("tr", "", element("td", "", moment.format(at * 1000)));
        for (const values of Object.values(data.series)) row.append(element("td", "number", words(values[place], data.unit)));
        body.prepend(row);
      });
      const scroll = element("div", "scroll", element("table", "", element("thead", "", head), body));
      scroll.style.maxHeight = "16rem";
      scroll.style.overflowY = "auto";
      scroll.tabIndex = 0;
      details.append(scroll);
    });
    return details;
  }

  function fill(figure, ...nodes) {
    const caption = figure.querySelector("figcaption");
    figure.replaceChildren(...(caption ? [caption] : []), ...nodes);
  }

  function isDrawable(values) {
    return values.some((value) => value) && values.filter((value) => value !== null && value !== undefined).length > 1;
  }

  // Draws into a figure, in the place of what was there; what the reader has opened or points at stays.
  function drawChart(figure, data) {
    figure.chartData = data;
    if (!figure.dataset.chart || !data.unit) data.unit = data.unit || figure.dataset.unit || "";
    // A chart of nothing, or of one moment, says nothing.
    figure.hidden = !Object.values(data.series).some(isDrawable);
    if (figure.hidden) return;
    const before = figure.chartDrawing, small = "small" in figure.dataset;
    const focused = before && document.activeElement === before.svg;
    const open = figure.querySelector("details")?.open;
    const drawing = new Drawing(figure, data, small ? 110 : 190);
    drawing.spoken = element("p", "hidden");
    drawing.spoken.setAttribute("aria-live", "polite");
    const nodes = [drawing.svg];
    if (Object.keys(data.series).length > 1) nodes.push(legend(drawing.labels));
    if (!small) {
      const details = figuresTable(data, drawing.labels);
      if (open) details.open = true;
      nodes.push(details);
    }
    fill(figure, ...nodes, drawing.spoken);
    figure.chartDrawing = drawing;
    if (focused) drawing.svg.focus();
    if (before && before.place >= 0) drawing.show(Math.min(before.place, data.at.length - 1));
  }

  async function load(figure) {
    try {
      const response = await fetch(figure.dataset.chart, { headers: { accept: "application/json" } });
      if (!response.ok) throw new Error(response.status === 401 ? "You are logged out. Reload the page." : "");
      drawChart(figure, await response.json());
    } catch (error) {
      if (figure.chartData) return;
      figure.hidden = false;
      fill(figure, element("p", "muted", error.message || "The chart could not be loaded."));
    }
  }

  function start(figure) {
    load(figure);
    const every = Number(figure.dataset.every) || 0;
    if (every) setInterval(() => document.hidden || load(figure), every * 1000);
  }

  globalThis.drawChart = drawChart;
  document.querySelectorAll(".drawn .chart").forEach((figure) => { figure.hidden = true; });
  document.querySelectorAll("[data-chart]").forEach(start);
  const resized = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    const width = Math.max(240, Math.round(target.clientWidth));
    if (target.chartDrawing && width !== target.chartDrawing.width) drawChart(target, target.chartData);
  }));
  document.querySelectorAll(".chart").forEach((figure) => resized.observe(figure));
})();
