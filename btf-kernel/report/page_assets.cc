// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// How the page looks, light and dark, wide and narrow. Its script sorts and filters tables, by
// mouse and by keyboard.
#include "btf-kernel/report/report.h"

namespace btflink::kernel::report
{

std::string_view page_style()
{
    return R"css(
:root { color-scheme: light dark; --bg: #fbfbfa; --fg: #1c1d1f; --dim: #5d6166; --line: #d9dbde;
  --card: #ffffff; --bar: #3565a8; --focus: #b3541e; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #16181b; --fg: #e6e7e9; --dim: #a0a5ab; --line: #363a40; --card: #1e2125;
    --bar: #6f9fe0; --focus: #f0a35e; } }
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
th button:focus-visible, input:focus-visible, .scroll:focus-visible, summary:focus-visible
  { outline: 3px solid var(--focus); outline-offset: 1px; }
th[aria-sort=ascending] button::after { content: " \2191"; }
th[aria-sort=descending] button::after { content: " \2193"; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.word { white-space: nowrap; }
td.bar { width: 30%; min-width: 3rem; } td.bar i { display: block; height: .9rem; background: var(--bar); }
code { font: .85rem/1.4 ui-monospace, monospace; } td code { display: block; }
.tools { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: .4rem 0; }
.tools label { display: flex; gap: .5rem; align-items: center; }
input { font: inherit; padding: .3rem .5rem; width: min(20rem, 100%); color: var(--fg);
  background: var(--card); border: 1px solid var(--line); border-radius: 5px; }
.tree { padding: .3rem .6rem; font-size: .9rem; }
.tree details { border: 0; padding: 0; margin: 0 0 0 1rem; }
.place { display: flex; gap: .6rem; padding: .15rem 0; border-bottom: 1px solid var(--line); }
.place.head { font-weight: 600; }
.place span:first-child { flex: 1; min-width: 0; overflow-wrap: anywhere; }
.place .n { width: 5rem; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.tree > .place, .tree details > .place { margin-left: 1rem; }
summary.place::before { content: "\25b8"; width: .6rem; margin-left: -1.2rem; }
details[open] > summary.place::before { content: "\25be"; }
.tree details > summary.place { margin-left: 0; }
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
)js";
}

} // namespace btflink::kernel::report
