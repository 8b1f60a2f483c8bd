"use strict";
(() => {
  const root = document.documentElement;
  const figures = [...document.querySelectorAll(".figure")];
  const colors = JSON.parse(document.getElementById("colors").textContent);
  const paperWidth = 680;
  const paperHeight = 405; // two figures with their captions on a page
  const leastScale = 0.64; // below it small letters cannot be read
  let loading = null;

  function loadPlotly() {
    loading ??= (async () => {
      const packed = document.getElementById("plotly").textContent.trim();
      const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      const script = document.createElement("script");
      script.textContent = await new Response(stream).text();
      document.head.append(script);
    })();
    return loading;
  }

  function recolored(text, theme) {
    return text.replace(/#[0-9a-f]{6}\b|rgba\(\d+, ?\d+, ?\d+,/gi, (found) => {
      return colors[theme][found.toLowerCase().replaceAll(" ", "")] ?? found;
    });
  }

  /* lines of a title that are longer than the figure is wide go on in the next */
  function wrapTitle(layout) {
    const parts = layout.title?.text?.match(/^([^]*?<span[^>]*>)([^]*)(<\/span>)$/);
    if (!parts) return;
    const letters = Math.floor((layout.width - 40) / 6.4);
    const before = parts[2].split("<br>");
    const lines = before.flatMap((line) => {
      const wrapped = [""];
      for (const word of line.split(" ")) {
        const last = wrapped.at(-1);
        if (last && last.length + word.length >= letters) wrapped.push(word);
        else wrapped[wrapped.length - 1] = last ? `${last} ${word}` : word;
      }
      return wrapped;
    });
    layout.title.text = parts[1] + lines.join("<br>") + parts[3];
    const more = 17 * (lines.length - before.length);
    if (layout.margin?.t) layout.margin.t += more;
    if (layout.height) layout.height += more;
  }

  function draw(place, theme, room) {
    const key = theme + (room ? `paper${room}` : place.clientWidth);
    if (place.dataset.drawn === key) return;
    place.dataset.drawn = key;
    const text = document.getElementById(place.id.replace("figure", "data")).textContent;
    const { data, layout, frames } = JSON.parse(recolored(text, theme));
    const wanted = Number(place.dataset.width) || 980;
    const fitting = Math.max(leastScale, paperHeight / (layout.height ?? 450));
    const scale = room ? Math.min(1, fitting) : 1;
    place.style.zoom = scale;
    layout.width = Math.min(wanted, room ? room / scale : place.clientWidth);
    if (layout.width < 420) layout.width = Math.min(wanted, 420);
    wrapTitle(layout);
    const options = {
      displaylogo: false,
      displayModeBar: "hover",
      modeBarButtonsToRemove: ["sendChartToCloud"],
    };
    Plotly.react(place, { data, layout, frames, config: options });
    if (layout.meta?.linked) link(place, layout.meta.linked);
    place.dataset.figure = "drawn";
  }

  let linking = false;
  function link(place, group) {
    if (place.dataset.linked) return;
    place.dataset.linked = group;
    const chosen = (rows) => { if (!linking) select(group, rows); };
    place.on("plotly_selected", (event) => {
      if (event) chosen(new Set(event.points.map((point) => point.customdata)));
    });
    place.on("plotly_deselect", () => chosen(null));
    place.on("plotly_hover", (event) => pointOut(place, event.points[0].customdata));
    place.on("plotly_restyle", ([update]) => {
      if (!Object.keys(update).some((key) => key.includes("constraintrange"))) return;
      const trace = place._fullData.find((each) => each.type === "parcoords");
      chosen(inRanges(trace));
    });
  }

  /* a row that is pointed at in one panel is named in all panels of the figure */
  let pointing = false;
  function pointOut(place, id) {
    if (pointing || id === undefined) return;
    const twins = place._fullData.flatMap((trace, curveNumber) => {
      const pointNumber = trace.xaxis ? [...trace.customdata].indexOf(id) : -1;
      return pointNumber < 0 ? [] : [{ curveNumber, pointNumber, panel: trace.xaxis + trace.yaxis }];
    });
    if (twins.length < 2) return;
    pointing = true;
    Plotly.Fx.hover(place, twins, twins.map((each) => each.panel));
    pointing = false;
  }

  function inRanges(trace) {
    const limited = trace.dimensions.filter((axis) => axis.constraintrange);
    if (!limited.length) return null;
    const within = (axis, value) => {
      const ranges = axis.multiselect !== false && Array.isArray(axis.constraintrange[0])
        ? axis.constraintrange : [axis.constraintrange];
      return ranges.some(([low, high]) => value >= low && value <= high);
    };
    return new Set([...trace.customdata].filter((_, k) =>
      limited.every((axis) => within(axis, axis.values[k]))));
  }

  async function select(group, rows) {
    linking = true;
    for (const place of figures) {
      if (place.dataset.linked !== group) continue;
      for (const [k, trace] of place._fullData.entries()) {
        const ids = [...trace.customdata];
        const change = trace.type === "parcoords"
          ? { "line.color": [ids.map((id) => (!rows || rows.has(id) ? 1 : 0))] }
          : { selectedpoints: [rows && ids.flatMap((id, at) => (rows.has(id) ? [at] : []))] };
        await Plotly.restyle(place, change, [k]);
      }
    }
    linking = false;
  }

  async function drawWhenLoaded(place) {
    await loadPlotly();
    draw(place, root.dataset.theme);
  }

  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      drawWhenLoaded(entry.target);
    }
  }, { rootMargin: "600px" });
  for (const place of figures) watcher.observe(place);

  function redraw() {
    for (const place of figures) if (place.dataset.figure) draw(place, root.dataset.theme);
  }

  const button = document.getElementById("theme");
  function setTheme(theme) {
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(theme === "dark"));
    redraw();
  }
  setTheme(root.dataset.theme);
  button.addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", () => setTheme(system.matches ? "dark" : "light"));

  let pause = null;
  addEventListener("resize", () => {
    clearTimeout(pause);
    pause = setTimeout(redraw, 200);
  });

  let shown = null;
  function toPaper() {
    if (shown !== null) return;
    shown = root.dataset.theme;
    root.dataset.theme = "light";
    if (window.Plotly) for (const place of figures) draw(place, "light", paperWidth);
  }
  function fromPaper() {
    if (shown === null) return;
    setTheme(shown);
    shown = null;
  }
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", fromPaper);

  const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
  const reader = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "0px 0px -70% 0px" });
  for (const anchor of links.keys()) reader.observe(document.getElementById(anchor));

  const number = (text) => Number(text.replaceAll(",", "").replace(/[%<≥± ].*$/, ""));
  function sortBy(head) {
    const body = head.closest("table").tBodies[0];
    const upward = head.getAttribute("aria-sort") !== "ascending";
    const place = head.cellIndex;
    const cell = (row) => row.cells[place].textContent;
    const rows = [...body.rows];
    const numeric = rows.every((row) => cell(row) === "" || !Number.isNaN(number(cell(row))));
    const order = (a, b) => numeric
      ? (cell(a) === "" ? Infinity : number(cell(a))) - (cell(b) === "" ? Infinity : number(cell(b)))
      : cell(a).localeCompare(cell(b), undefined, { numeric: true });
    rows.sort((a, b) => (upward ? order(a, b) : order(b, a)) || 0);
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", upward ? "ascending" : "descending");
    body.append(...rows);
  }
  for (const head of document.querySelectorAll("thead th")) {
    head.firstElementChild.addEventListener("click", () => sortBy(head));
  }

  for (const copy of document.querySelectorAll(".copy")) {
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(copy.nextElementSibling.textContent);
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = "Copy"; }, 1500);
    });
  }

  if (figures.length) loadPlotly();
})();
