// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// How the page looks, light and dark, wide and narrow, and what its script adds: sorting,
// filtering, zooming, by mouse and by keyboard.
#include "btf-kernel/report/page.h"

namespace btflink::kernel::report
{

std::string_view page_style()
{
    return R"css(
:root { color-scheme: light dark; --bg: #fbfbfa; --fg: #1c1d1f; --dim: #5d6166; --line: #d9dbde;
  --card: #ffffff; --bar: #3565a8; --focus: #b3541e; --ink: #ffffff;
  --c0: #3565a8; --c1: #7a4fa3; --c2: #23766f; --c3: #9a5b13; --c4: #a33b57; --c5: #4d6b1f;
  --c6: #5a5f99; --c7: #7a5c47; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #16181b; --fg: #e6e7e9; --dim: #a0a5ab; --line: #363a40; --card: #1e2125;
    --bar: #6f9fe0; --focus: #f0a35e; --ink: #f4f5f6;
    --c0: #2f5c99; --c1: #6d4894; --c2: #1f6a64; --c3: #875012; --c4: #8f344d; --c5: #455f1c;
    --c6: #50558a; --c7: #6b513f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 78rem; background: var(--bg); color: var(--fg);
  font: 16px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: .2rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .5rem; }
p { max-width: 46rem; } .dim { color: var(--dim); }
nav.toc { display: flex; flex-wrap: wrap; gap: .3rem 1rem; margin-bottom: 1rem; }
a { color: var(--bar); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .6rem; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem; }
.tile b { display: block; font-size: 1.3rem; font-variant-numeric: tabular-nums; }
.tile span { color: var(--dim); font-size: .85rem; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1.5rem; }
.scroll { overflow: auto; max-height: 42rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--card); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { padding: .3rem .6rem; text-align: left; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
th { position: sticky; top: 0; background: var(--card); white-space: nowrap; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible, input:focus-visible, #up:focus-visible,
  .scroll:focus-visible, summary:focus-visible
  { outline: 3px solid var(--focus); outline-offset: 1px; }
#map .dir:focus-visible { outline: none; }
#map .dir:focus-visible rect { stroke: var(--focus); stroke-width: 4; }
th[aria-sort=ascending] button::after { content: " \2191"; }
th[aria-sort=descending] button::after { content: " \2193"; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.word { white-space: nowrap; }
td.bar { width: 30%; min-width: 3rem; } td.bar svg { display: block; width: 100%; height: .9rem; }
td.bar rect, .roots rect { fill: var(--bar); }
code { font: .85rem/1.4 ui-monospace, monospace; } td code { display: block; }
.tools { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: .4rem 0; }
.tools label { display: flex; gap: .5rem; align-items: center; }
input { font: inherit; padding: .3rem .5rem; width: min(20rem, 100%); color: var(--fg);
  background: var(--card); border: 1px solid var(--line); border-radius: 5px; }
button#up { font: inherit; padding: .25rem .7rem; }
button#up:disabled { opacity: .45; }
#map { width: 100%; height: auto; display: block; background: var(--card); border: 1px solid var(--line);
  border-radius: 6px; touch-action: manipulation; --fs: 11px; }
#map rect { stroke: var(--card); stroke-width: .5; vector-effect: non-scaling-stroke; }
#map text { fill: var(--ink); font-size: var(--fs); pointer-events: none; font-family: system-ui, sans-serif; }
#map text.no { display: none; }
#map .dir { cursor: zoom-in; }
#map .dir rect { filter: brightness(.78); }
#map .d1.leaf rect { opacity: .92; } #map .d2.leaf rect { opacity: .86; }
#map .d3 rect, #map .d4 rect, #map .d5 rect { opacity: .82; }
.c0 rect { fill: var(--c0); } .c1 rect { fill: var(--c1); } .c2 rect { fill: var(--c2); }
.c3 rect { fill: var(--c3); } .c4 rect { fill: var(--c4); } .c5 rect { fill: var(--c5); }
.c6 rect { fill: var(--c6); } .c7 rect { fill: var(--c7); }
.roots text { fill: var(--fg); font: 12px ui-monospace, monospace; }
.roots path { fill: none; stroke: var(--dim); stroke-width: 1.5; }
.roots { width: 100%; max-width: 26rem; height: auto; display: block; }
details { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: .4rem .8rem; margin: .5rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.script { display: none; } .with-script .script { display: flex; }
@media (max-width: 40rem) { body { padding: .7rem; } .wide { display: none; } th, td { padding: .3rem .4rem; } }
@media print { .scroll { max-height: none; overflow: visible; } }
)css";
}

std::string_view page_script()
{
    return R"js(
"use strict";
document.documentElement.classList.add("with-script");
for (const table of document.querySelectorAll("table[data-sort]")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const value = (row, i) => row.cells[i].dataset.v !== undefined ? Number(row.cells[i].dataset.v)
    : row.cells[i].textContent;
  heads.forEach((head, i) => {
    if (head.dataset.plain !== undefined) return;
    const button = document.createElement("button");
    button.type = "button"; button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("n");
      const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : numeric;
      heads.forEach(h => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map(row => [value(row, i), row]);
      rows.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (down ? -1 : 1));
      body.append(...rows.map(r => r[1]));
    });
  });
  const input = document.querySelector(`input[data-for="${table.id}"]`);
  if (!input) continue;
  const count = input.closest(".tools").querySelector("output");
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of body.rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(w => text.includes(w));
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${body.rows.length}`;
  };
  input.addEventListener("input", show); show();
}
const map = document.getElementById("map");
if (map) {
  const full = map.getAttribute("viewBox"), stack = [];
  const where = document.getElementById("where"), up = document.getElementById("up");
  const labels = [...map.querySelectorAll("text")].map(text => {
    const rect = text.parentElement.querySelector("rect");
    return { text, w: +rect.getAttribute("width"), h: +rect.getAttribute("height"),
      x: +rect.getAttribute("x"), y: +rect.getAttribute("y") };
  });
  const base = full.split(" ").map(Number);
  const look = () => {
    const top = stack[stack.length - 1];
    const rect = top ? top.querySelector("rect") : null;
    let box = base;
    if (rect) {
      // The same proportions as the whole: what is around a narrow folder is seen, too.
      const w = +rect.getAttribute("width"), h = +rect.getAttribute("height");
      const k = Math.max(w / base[2], h / base[3]);
      box = [+rect.getAttribute("x") - (base[2] * k - w) / 2, +rect.getAttribute("y") - (base[3] * k - h) / 2,
        base[2] * k, base[3] * k];
    }
    map.setAttribute("viewBox", box.join(" "));
    const k = base[2] / box[2];
    map.style.setProperty("--fs", 11 / k + "px");
    for (const l of labels) {
      l.text.classList.toggle("no", l.w * k < 6.5 * l.text.textContent.length + 4 || l.h * k < 13);
      l.text.setAttribute("x", l.x + 3 / k); l.text.setAttribute("y", l.y + 11 / k);
    }
    where.textContent = top ? top.querySelector("title").textContent : "everything";
    up.disabled = !top;
  };
  const into = group => { if (stack[stack.length - 1] !== group) { stack.push(group); look(); } };
  const out = () => { const left = stack.pop(); look(); if (left) left.focus({ preventScroll: true }); };
  map.addEventListener("click", event => {
    const top = stack[stack.length - 1];
    // From the whole, one level at a time: the outermost folder that is not yet looked at.
    const x = document.elementsFromPoint(event.clientX, event.clientY)
      .map(e => e.closest && e.closest("g.dir")).filter(Boolean).reverse();
    const next = top ? x[x.indexOf(top) + 1] : x[0];
    if (next) into(next);
  });
  map.addEventListener("keydown", event => {
    if (event.key === "Enter" || event.key === " ") {
      const group = event.target.closest("g.dir");
      if (group) { event.preventDefault(); into(group); }
    }
  });
  document.addEventListener("keydown", event => { if (event.key === "Escape" && stack.length) out(); });
  up.addEventListener("click", out);
  look();
}
)js";
}

} // namespace btflink::kernel::report
