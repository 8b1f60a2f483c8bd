"use strict";
// Rows are drawn for the window alone. Browsers cannot lay out 10^7 rows: beyond a height the
// scroll bar stands for a share of the table, and wheel and keys move row by row.
(() => {
  const grid = document.getElementById("grid");
  const body = document.getElementById("rows");
  const space = document.getElementById("grid-space");
  const place = document.getElementById("where-am-i");
  const total = Number(grid.dataset.rows);
  const rowHeight = 27;
  const tallest = 8e6;
  const head = grid.querySelector("thead");
  const columns = [...head.querySelectorAll("th[data-column]")];
  const numeric = columns.map((cell) => cell.classList.contains("number"));
  const visible = () => Math.max(1, Math.floor((grid.clientHeight - head.offsetHeight) / rowHeight));
  const height = Math.min(total * rowHeight, tallest);
  const scaled = total * rowHeight > tallest;
  const last = () => Math.max(total - visible(), 0);
  let first = 0;
  let wanted = -1;
  let moving = false;
  let busy = false;
  const blocks = new Map(); // start of a block -> its rows
  const blockRows = 200;

  function layOut() {
    space.style.height = `${height + head.offsetHeight}px`;
  }

  async function block(start) {
    if (blocks.has(start)) return blocks.get(start);
    const answer = await fetch(`/table/rows?start=${start}&count=${blockRows}`);
    if (!answer.ok) throw new Error(await answer.text());
    const found = await answer.json();
    if (String(found.step) !== grid.dataset.step) location.reload();
    if (blocks.size > 40) blocks.delete(blocks.keys().next().value);
    for (const place of found.chosen) found.rows[place].chosen = true;
    blocks.set(start, found.rows);
    return found.rows;
  }

  async function rowsFrom(start, count) {
    const rows = [];
    for (let at = start - start % blockRows; at < Math.min(start + count, total); at += blockRows) {
      const found = await block(at);
      rows.push(...found.slice(Math.max(start - at, 0), start + count - at));
    }
    return rows;
  }

  function draw(start, rows) {
    const lines = rows.map((row, k) => {
      const line = document.createElement("tr");
      if (row.chosen) line.className = "chosen";
      const number = document.createElement("th");
      number.scope = "row";
      number.className = "row-number";
      number.textContent = (start + k + 1).toLocaleString("en");
      line.append(number);
      row.forEach((cell, j) => {
        const field = document.createElement("td");
        if (cell === null) {
          field.className = "empty";
          field.textContent = "·";
        } else {
          field.textContent = cell;
          if (numeric[j]) field.className = "number";
        }
        line.append(field);
      });
      return line;
    });
    body.replaceChildren(...lines);
    body.dataset.first = start;
    place.textContent = `Rows ${(start + 1).toLocaleString("en")} to ${(start + rows.length).toLocaleString("en")} of ${total.toLocaleString("en")}`;
  }

  async function show(start) {
    wanted = Math.round(Math.min(Math.max(start, 0), last()));
    if (busy) return;
    busy = true;
    try {
      while (wanted !== first || !body.children.length) {
        const at = wanted;
        const rows = await rowsFrom(at, visible() + 2);
        first = at;
        draw(at, rows);
        if (wanted === at) break;
      }
    } catch (error) {
      place.textContent = error.message;
    } finally {
      busy = false;
    }
  }

  const reach = () => Math.max(height + head.offsetHeight - grid.clientHeight, 1);
  grid.addEventListener("scroll", () => {
    if (moving) { moving = false; return; }
    const share = grid.scrollTop / reach();
    show(scaled ? share * last() : grid.scrollTop / rowHeight);
  });
  function moveTo(row) {
    const at = Math.round(Math.min(Math.max(row, 0), last()));
    const top = scaled ? at / Math.max(last(), 1) * reach() : at * rowHeight;
    moving = Math.round(top) !== Math.round(grid.scrollTop);
    grid.scrollTop = top;
    show(at);
  }
  if (scaled) {
    grid.addEventListener("wheel", (event) => {
      if (event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
      event.preventDefault();
      moveTo((wanted < 0 ? first : wanted) + Math.sign(event.deltaY) * 3);
    }, { passive: false });
  }
  grid.addEventListener("keydown", (event) => {
    if (event.target !== grid) return;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: visible(), PageUp: -visible(), Home: -total, End: total };
    if (!(event.key in steps)) return;
    event.preventDefault();
    moveTo((wanted < 0 ? first : wanted) + steps[event.key]);
  });
  addEventListener("resize", () => { layOut(); body.replaceChildren(); show(first); });
  layOut();
  show(0);
  window.gnomonTable = { moveTo, first: () => first };

  // the forms of a column are made when its menu is opened: wide tables stay light
  grid.addEventListener("toggle", (event) => {
    const cell = event.target.closest?.("th[data-column]");
    const menu = cell?.querySelector(".menu");
    if (!event.target.open || !menu || menu.querySelector("form")) return;
    menu.append(document.getElementById("column-menu").content.cloneNode(true));
    for (const field of menu.querySelectorAll("[name=column], [name=name]")) field.value = cell.dataset.column;
    menu.querySelector("[name=kind]").value = cell.dataset.kind;
  }, true);

  // findings stand beside the columns that they concern
  document.addEventListener("htmx:load", () => {
    const found = document.querySelector("#findings[data-done]");
    if (!found || found.dataset.placed) return;
    found.dataset.placed = "yes";
    const order = ["note", "warning", "bad"];
    for (const line of found.querySelectorAll("[data-columns]")) {
      const kind = order.find((each) => line.classList.contains(each));
      for (const name of JSON.parse(line.dataset.columns)) {
        const cell = columns.find((each) => each.dataset.column === name)?.querySelector(".found");
        if (!cell) continue;
        const mark = document.createElement("a");
        mark.className = `flag ${kind}`;
        mark.textContent = line.dataset.about;
        mark.href = "#findings";
        mark.title = line.innerText;
        cell.append(mark);
      }
    }
    layOut();
  });
})();
