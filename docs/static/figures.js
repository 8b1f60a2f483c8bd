// Draw the figures of a page: each is a JSON description beside its place. Its colors are those of
// the light theme; in the dark one each is replaced by its counterpart.
(() => {
  const root = document.documentElement;
  const places = new Map();

  function draw() {
    for (const [place, text] of places) {
      let described = text;
      if (root.dataset.theme === "dark") {
        for (const [light, dark] of Object.entries(window.gnomonDark)) described = described.replaceAll(light, dark);
      }
      const figure = JSON.parse(described);
      const buttons = innerWidth > 700 ? "hover" : false; // they would cover the title on a phone
      Plotly.react(place, figure.data, figure.layout, { responsive: true, displaylogo: false, displayModeBar: buttons });
    }
  }
  document.addEventListener("DOMContentLoaded", () => {
    for (const place of document.querySelectorAll(".gnomon-figure")) places.set(place, place.querySelector("script").textContent);
    draw();
    new MutationObserver(draw).observe(root, { attributeFilter: ["data-theme"] });
  });
})();
