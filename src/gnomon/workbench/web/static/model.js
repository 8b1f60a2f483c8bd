"use strict";
(() => {
  const root = document.documentElement;
  const run = `/runs/${encodeURIComponent(document.getElementById("model").dataset.run)}`;
  const form = document.getElementById("row");
  const options = { displaylogo: false, responsive: true, displayModeBar: false };
  const byId = (name) => document.getElementById(name);
  let waiting = null;
  let asking = 0;

  function values() {
    return JSON.stringify(Object.fromEntries(new FormData(form)));
  }
  async function ask(what, more = {}) {
    const body = new URLSearchParams({ values: values(), theme: root.dataset.theme, outcome: byId("outcome")?.value ?? "", ...more });
    const answer = await fetch(`${run}/${what}`, { method: "POST", body, headers: { "HX-Request": "true" } });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    const words = new DOMParser().parseFromString(text, "text/html").body.textContent.replace("✕", "").trim();
    throw new Error(words);
  }
  const short = (value) => (typeof value === "number" ? Number(value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 6 }) : String(value));

  // the curves stand side by side where there is room, else below each other
  function laidOut(layout) {
    if (byId("sweeps").clientWidth > 600) return layout;
    const rows = Math.ceil(Object.keys(layout).filter((key) => key.startsWith("xaxis")).length / 2);
    return { ...layout, height: 210 * rows + 30, grid: { ...layout.grid, rows, columns: 2 } };
  }

  async function answer(more) {
    const mine = ++asking;
    try {
      const found = await ask("answer", more);
      if (mine !== asking) return;
      byId("said").textContent = short(found.said.prediction);
      byId("chances").replaceChildren(...Object.entries(found.said).filter(([name]) => name.startsWith("P(")).map(([name, chance]) => {
        const line = document.createElement("div");
        line.className = "slider-row";
        const label = document.createElement("span");
        label.textContent = name;
        const bar = document.createElement("progress");
        bar.max = 1;
        bar.value = chance;
        bar.setAttribute("aria-label", name);
        const figure = document.createElement("span");
        figure.textContent = chance.toFixed(3);
        line.append(label, bar, figure);
        return line;
      }));
      byId("notes").textContent = found.notes.join(" ");
      await (await gnomonPlotly(found.figure)).react("sweeps", found.figure.data, laidOut(found.figure.layout), options);
      byId("sweeps").dataset.drawn = String(asking);
    } catch (error) {
      byId("said").textContent = error.message;
    }
  }
  function later() {
    clearTimeout(waiting);
    byId("why-figure").replaceChildren();
    byId("why-text").textContent = "";
    waiting = setTimeout(answer, 120);
  }

  document.addEventListener("input", (event) => {
    if (form.contains(event.target)) later();
    else if (byId("threshold")?.contains(event.target)) showThreshold();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("outcome")?.addEventListener("change", () => answer());
  document.addEventListener("gnomon-theme", () => answer());
  byId("keep").addEventListener("click", async () => { await answer({ keep: "yes" }); location.reload(); });
  byId("why-button").addEventListener("click", async () => {
    byId("why-text").textContent = "computing …";
    try {
      const found = await ask("why");
      byId("why-text").textContent = found.text;
      await (await gnomonPlotly(found.figure)).newPlot("why-figure", found.figure.data, found.figure.layout, options);
    } catch (error) {
      byId("why-text").textContent = error.message;
    }
  });
  answer();

  if (!byId("threshold")) return;
  let rows = null;
  function counted(threshold) {
    const found = { tn: 0, fp: 0, fn: 0, tp: 0 };
    rows.chance.forEach((chance, k) => {
      const called = chance >= threshold;
      found[rows.positive[k] ? (called ? "tp" : "fn") : (called ? "fp" : "tn")] += 1;
    });
    return found;
  }
  const costs = () => [Number(byId("miss").value) || 0, Number(byId("alarm").value) || 0];
  const costOf = (found) => found.fn * costs()[0] + found.fp * costs()[1];
  function showThreshold() {
    if (!rows) return;
    const threshold = Number(byId("t").value);
    byId("t-shown").textContent = threshold.toFixed(3);
    const found = counted(threshold);
    for (const [name, n] of Object.entries(found)) byId(name).textContent = n.toLocaleString("en");
    const n = rows.chance.length;
    byId("cost").textContent = `${(costOf(found) / n).toFixed(4)} per row`;
    const usual = costOf(counted(0.5)) / n;
    byId("cost-note").textContent = `on ${n.toLocaleString("en")} test rows; at 0.5 it is ${usual.toFixed(4)}`;
    const [miss, alarm] = costs();
    const link = byId("learn-cost");
    link.href = `${link.getAttribute("href").split("&cost")[0]}&cost=${encodeURIComponent(`miss=${miss},false alarm=${alarm}`)}`;
  }
  byId("cheapest").addEventListener("click", () => {
    const [miss, alarm] = costs();
    const usual = alarm / (miss + alarm);
    let best = usual;
    let least = Infinity;
    for (let k = 0; k <= 200; k += 1) {
      const cost = costOf(counted(k / 200));
      if (cost < least || (cost === least && Math.abs(k / 200 - usual) < Math.abs(best - usual))) {
        least = cost;
        best = k / 200;
      }
    }
    byId("t").value = best;
    showThreshold();
  });
  fetch(`${run}/test-rows`, { headers: { "HX-Request": "true" } }).then(async (found) => {
    if (!found.ok) {
      byId("cost-note").textContent = "The test rows of this run are not known.";
      return;
    }
    rows = await found.json();
    byId("threshold").dataset.ready = "yes";
    showThreshold();
  });
})();
