"use strict";
(() => {
  const root = document.documentElement;
  const player = document.getElementById("player");
  const slider = document.getElementById("step");
  const play = document.getElementById("play");
  const places = [...document.querySelectorAll("[data-figure]")];
  const numbers = player.dataset.numbers.split(",");
  const last = numbers.length - 1;
  const options = { displaylogo: false, responsive: true, displayModeBar: false };
  const at_once = { mode: "immediate", frame: { duration: 0, redraw: true }, transition: { duration: 0 } };
  let timer = null;
  let Plotly = null;

  async function draw() {
    gnomonPlotly(); // comes while the figures are fetched
    const figures = await Promise.all(places.map(async (place) => (
      (await fetch(`${player.dataset.place}${place.dataset.figure}?theme=${root.dataset.theme}`)).json()
    )));
    Plotly = await gnomonPlotly(...figures);
    await Promise.all(places.map((place, k) => {
      const figure = figures[k];
      const layout = { ...figure.layout, sliders: [], updatemenus: [], title: undefined, width: undefined, height: place.id === "rows" ? 480 : 400, margin: { ...figure.layout.margin, t: 40, b: 60 }, autosize: true };
      return Plotly.newPlot(place, { data: figure.data, layout, frames: figure.frames, config: options });
    }));
    await show(Number(slider.value));
    player.dataset.drawn = "yes";
  }
  async function show(step) {
    const at = Math.min(Math.max(step, 0), last);
    slider.value = at;
    document.getElementById("step-shown").textContent = `step ${numbers[at]} of ${player.dataset.last}`;
    player.dataset.at = numbers[at];
    await Promise.all(places.map((place) => Plotly.animate(place, [numbers[at]], at_once)));
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  play.addEventListener("click", () => {
    if (timer) { stop(); return; }
    if (Number(slider.value) >= last) slider.value = 0;
    play.textContent = "Stop";
    timer = setInterval(() => {
      const next = Number(slider.value) + 1;
      show(next);
      if (next >= last) stop();
    }, Math.max(60, Math.min(500, 6000 / (last + 1))));
  });
  slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
  document.getElementById("back").addEventListener("click", () => { stop(); show(Number(slider.value) - 1); });
  document.getElementById("forward").addEventListener("click", () => { stop(); show(Number(slider.value) + 1); });
  document.addEventListener("gnomon-theme", draw);
  draw();
})();
