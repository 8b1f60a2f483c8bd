"use strict";
(() => {
  const root = document.documentElement;
  const options = { displaylogo: false, responsive: true, displayModeBar: false };

  // digits choose a class and s skips, as the buttons say
  addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
    const button = document.querySelector(`#question [data-key="${CSS.escape(event.key)}"]`);
    if (!button) return;
    event.preventDefault();
    button.click();
  });

  // one answer at a time: a second click waits for the next row
  let waiting = false;
  const isOurs = (event) => event.target.closest?.("#label") !== null;
  document.addEventListener("submit", (event) => {
    if (!waiting || !isOurs(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  document.addEventListener("htmx:beforeRequest", (event) => { waiting ||= isOurs(event); });
  document.addEventListener("htmx:afterRequest", () => {
    waiting = false;
    history.replaceState(null, "", location.pathname);
    const at = document.activeElement;
    if (at && at !== document.body && at.id !== "new-class") return;
    const first = document.querySelector("#question .class, #label .actions button");
    first?.focus({ preventScroll: true });
  });

  const place = document.getElementById("label-curve");
  if (!place) return;
  async function draw() {
    const answer = await fetch(`/runs/${encodeURIComponent(document.getElementById("label").dataset.run)}/curve?theme=${root.dataset.theme}`);
    const figure = await answer.json();
    const layout = { ...figure.layout, title: undefined, width: undefined, height: 320, margin: { ...figure.layout.margin, t: 20 }, autosize: true };
    await (await gnomonPlotly(figure)).newPlot(place, figure.data, layout, options);
    place.dataset.drawn = "yes";
  }
  document.addEventListener("gnomon-theme", draw);
  draw();
})();
