"use strict";
(() => {
  const root = document.documentElement;
  const cards = [...document.querySelectorAll(".view")];
  const options = { displaylogo: false, responsive: true, displayModeBar: false };
  let shown = null;
  let drawing = false;

  async function ask(address, body) {
    const answer = await fetch(address, body ? { method: "POST", body: new URLSearchParams(body) } : undefined);
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  }

  function within(range, column) {
    const [low, high] = [...range].sort((a, b) => (a < b ? -1 : 1));
    return { column, low, high };
  }

  function conditions(view, event) {
    if (!event) return [];
    if (view.kind === "bars") {
      const levels = [...new Set(event.points.map((point) => point.x))];
      return levels.length ? [{ column: view.x, in: levels }] : [];
    }
    if (!event.range) return [];
    if (view.kind === "scatter") return [within(event.range.x, view.x), within(event.range.y, view.y)];
    if (view.kind === "box") return [within(event.range.y, view.y)];
    return [within(event.range.x, view.x)];
  }

  async function brush(conditionList) {
    try {
      await draw(await ask(`/views/brush?theme=${root.dataset.theme}`, { brush: JSON.stringify(conditionList) }));
    } catch (error) {
      document.getElementById("brush").hidden = false;
      document.getElementById("brush-words").textContent = error.message;
    }
  }

  function listen(place, k) {
    place.on("plotly_selected", (event) => { if (!drawing && event) brush(conditions(shown.views[k], event)); });
    place.on("plotly_deselect", () => { if (!drawing) brush([]); });
    place.on("plotly_click", (event) => {
      const view = shown.views[k];
      const point = event.points[0];
      if (view.kind === "bars") brush([{ column: view.x, in: [point.x] }]);
      if (view.kind === "correlation map" && point.x !== point.y) {
        const form = document.querySelector("#add-view form");
        form.kind.value = "scatter";
        form.x.value = point.x;
        form.y.value = point.y;
        form.requestSubmit();
      }
    });
  }

  async function draw(found) {
    shown = found;
    const Plotly = await gnomonPlotly();
    drawing = true;
    for (const [k, card] of cards.entries()) {
      const place = card.querySelector(".plot");
      const view = found.views[k];
      card.querySelector(".caption").textContent = view.caption;
      if (!view.figure) continue;
      const fresh = !place.classList.contains("js-plotly-plot");
      await Plotly.react(place, view.figure.data, { ...view.figure.layout, selections: [], uirevision: found.step }, options);
      if (fresh) listen(place, k);
      place.dataset.drawn = "yes";
    }
    drawing = false;
    const some = found.brush.length > 0;
    document.getElementById("brush").hidden = !some;
    document.getElementById("chosen").textContent = `${found.chosen.toLocaleString("en")} of ${found.rows.toLocaleString("en")} rows`;
    document.getElementById("brush-words").textContent = found.words;
    const selected = document.getElementById("selected");
    selected.hidden = !some;
    selected.querySelector("tbody").replaceChildren(...found.sample.map((row) => {
      const line = document.createElement("tr");
      line.append(...row.map((cell) => {
        const field = document.createElement("td");
        field.textContent = cell ?? "·";
        return field;
      }));
      return line;
    }));
    document.getElementById("selected-note").textContent = found.sample.length < found.chosen
      ? `The first ${found.sample.length} of ${found.chosen.toLocaleString("en")}; the table marks all of them.` : "";
  }

  const load = () => ask(`/views/data?theme=${root.dataset.theme}`).then(draw);
  document.getElementById("clear").addEventListener("click", () => brush([]));
  document.addEventListener("gnomon-theme", load);
  window.gnomonViews = { brush };
  gnomonPlotly(); // comes while the server draws
  load();
})();
