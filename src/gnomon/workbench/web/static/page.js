"use strict";
(() => {
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const script = document.getElementById("script-toggle");
  function show() {
    const dark = root.dataset.theme === "dark";
    theme.textContent = dark ? "Light" : "Dark";
    theme.setAttribute("aria-pressed", String(dark));
    script.setAttribute("aria-expanded", String(root.dataset.script !== "hidden"));
  }
  theme.addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    localStorage.setItem("gnomon-theme", root.dataset.theme);
    show();
    document.dispatchEvent(new CustomEvent("gnomon-theme"));
  });
  script.addEventListener("click", () => {
    root.dataset.script = root.dataset.script === "hidden" ? "shown" : "hidden";
    localStorage.setItem("gnomon-script", root.dataset.script);
    show();
    dispatchEvent(new Event("resize"));
  });
  show();
  // the panel of the script, at first and after it was exchanged
  function showLastStep() {
    const steps = document.querySelector(".script-steps");
    if (steps) steps.scrollTop = steps.scrollHeight;
    for (const field of document.querySelectorAll("input.back")) field.value = location.pathname + location.search;
  }
  showLastStep();
  document.addEventListener("htmx:oobAfterSwap", showLastStep);
  document.querySelector(".go-back")?.addEventListener("click", () => history.back());

  // htmx shows refusals too: they are sentences for the person
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status >= 400) event.detail.shouldSwap = true;
  });

  const keys = { o: "/", t: "/table", v: "/views", j: "/jobs", r: "/runs", h: "/help" };
  addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || event.altKey) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
      event.preventDefault();
      document.getElementById(event.shiftKey ? "redo" : "undo")?.click();
    } else if (!event.ctrlKey && !event.metaKey && keys[event.key]) {
      location.href = keys[event.key];
    }
  });

  // Plotly's script is large: the page comes first, then what draws its figures. Figures in a plane
  // take a third of it; the traces that it draws are named by the page.
  const inPlane = new Set(root.dataset.traces.split(" "));
  const scripts = {};
  function plotly(part) {
    scripts[part] ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `/static/plotly/${part}.js`;
      script.onload = () => done(window.Plotly);
      script.onerror = () => failed(new Error("The script that draws figures does not load."));
      if (document.readyState === "complete") document.head.append(script);
      else {
        fetch(script.src, { priority: "low" }).catch(() => {}); // meanwhile it comes
        addEventListener("load", () => document.head.append(script), { once: true });
      }
    });
    return scripts[part];
  }
  window.gnomonPlotly = (...figures) => {
    const traces = figures.flatMap((figure) => [figure, ...(figure.frames ?? [])]).flatMap((each) => each.data ?? []);
    return plotly(scripts.all || traces.some((trace) => !inPlane.has(trace.type ?? "scatter")) ? "all" : "plane");
  };

  // one menu at a time; Escape and a click elsewhere close it
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches?.("details.column, details.action") || !event.target.open) return;
    for (const other of document.querySelectorAll("details.column[open], details.action[open]")) {
      if (other !== event.target) other.open = false;
    }
  }, true);
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.column[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.column[open], details.action[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });

  // a slider and its number go together
  document.addEventListener("input", (event) => {
    const twin = event.target.dataset?.twin;
    const other = twin ? document.getElementById(twin) : document.querySelector(`[data-twin="${event.target.id || "-"}"]`);
    if (other) other.value = event.target.value;
  });

  const drop = document.getElementById("drop");
  if (!drop) return;
  const state = document.getElementById("upload-state");
  function send(file) {
    if (!file) return;
    if (file.size > Number(drop.dataset.most)) {
      state.textContent = "This file is too large to upload; give its path instead.";
      return;
    }
    const request = new XMLHttpRequest();
    request.open("POST", `/upload?name=${encodeURIComponent(file.name)}`);
    request.upload.addEventListener("progress", (event) => {
      state.textContent = `sending ${file.name}: ${Math.round(100 * event.loaded / event.total)}%`;
    });
    request.addEventListener("load", () => {
      try {
        const found = JSON.parse(request.responseText);
        if (found.to) location.href = found.to;
        else state.textContent = found.error;
      } catch {
        state.textContent = request.responseText;
      }
    });
    request.addEventListener("error", () => { state.textContent = "The server does not answer."; });
    request.send(file);
  }
  document.getElementById("file").addEventListener("change", (event) => send(event.target.files[0]));
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    send(event.dataTransfer.files[0]);
  });
})();
