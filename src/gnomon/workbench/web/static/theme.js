"use strict";
(() => {
  const kept = localStorage.getItem("gnomon-theme");
  const dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  if (localStorage.getItem("gnomon-script") === "hidden") document.documentElement.dataset.script = "hidden";
})();
