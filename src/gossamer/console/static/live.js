// Figures that change by themselves: an element with data-live is asked for new ones every data-every seconds, while
// the page can be seen. [data-figure=NAME] gets a text, [data-level=NAME] a bar, [data-live-chart] a growing line. Where
// the state is no longer data-state, the page is loaded anew.
"use strict";

(() => {
  const KEPT = 150;

  // Another state has other buttons and panels. What somebody is typing or has opened is not taken from them.
  function isBusy() {
    const typed = [...document.querySelectorAll("main input:not([type=hidden]), main textarea")].some((field) => field.value !== field.defaultValue);
    return typed || document.querySelector("main details.confirm[open]") !== null;
  }

  function update(root, answer, points) {
    if (root.dataset.state && answer.state !== root.dataset.state && !isBusy()) return location.reload();
    root.querySelectorAll("[data-figure]").forEach((node) => {
      const text = answer.figures[node.dataset.figure];
      if (text !== undefined && node.textContent !== text) node.textContent = text;
      if ("kind" in node.dataset) node.className = `badge ${answer.kind}`;
    });
    root.querySelectorAll("meter[data-level]").forEach((meter) => {
      meter.max = answer.most || 1;
      meter.value = answer.levels[meter.dataset.level] || 0;
    });
    root.querySelectorAll("[data-level-count]").forEach((cell) => {
      cell.textContent = (answer.levels[cell.dataset.levelCount] || 0).toLocaleString("en");
    });
    draw(root, answer, points);
  }

  function draw(root, answer, points) {
    const chart = root.querySelector("[data-live-chart]");
    if (!chart || points.at(-1)?.at === answer.at) return;
    points.push(answer);
    if (points.length > KEPT) points.shift();
    const names = Object.keys(answer.series);
    const series = Object.fromEntries(names.map((name) => [name, points.map((point) => point.series[name])]));
    globalThis.drawChart(chart, { at: points.map((point) => point.at), series, unit: chart.dataset.unit || "" });
  }

  function watch(root) {
    const every = (Number(root.dataset.every) || 5) * 1000, points = [];
    let timer = 0;

    async function ask() {
      timer = 0;
      try {
        const response = await fetch(root.dataset.live, { headers: { accept: "application/json" } });
        if (response.status === 401) return location.reload();
        if (response.ok) update(root, await response.json(), points);
      } catch {
        // The server is away for a moment: what is shown stays, and it is asked again.
      }
      plan();
    }

    function plan() {
      if (!timer && !document.hidden) timer = setTimeout(ask, every);
    }

    document.addEventListener("visibilitychange", () => {
      clearTimeout(timer);
      timer = 0;
      if (!document.hidden) ask();
    });
    ask();
  }

  document.querySelectorAll("[data-live]").forEach(watch);
})();
