// Draw the figures of a page: each is a JSON description beside its place.
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll(".gnomon-figure")) {
    const figure = JSON.parse(place.querySelector("script").textContent);
    Plotly.newPlot(place, figure.data, figure.layout, { responsive: true, displaylogo: false });
  }
});
