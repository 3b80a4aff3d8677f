//===- PageStyle.cpp - How a report looks, and what its keys do -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hues that differ in lightness too, so that they are told apart without
// colour. The script adds to the page and nothing depends on it.
//
//===----------------------------------------------------------------------===//

#include "Page.h"

namespace llmc::rt::report {

const char *const pageStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #fbfbf9; --card: #ffffff; --ink: #1f2328; --soft: #5c6570; --line: #dfe2e5;
  --accent: #2364aa; --wash: #eef3f8;
  --blue: #3a7fc2; --orange: #e08a2e; --red: #b8452f; --violet: #7b5ea7; --teal: #1f9183;
  --green: #5a9e3d; --sand: #a8935a; --grey: #8b949e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --card: #1b2026; --ink: #e4e7ea; --soft: #9aa4af; --line: #303841;
    --accent: #7fb3ea; --wash: #202a35;
    --blue: #5b9bd8; --orange: #e6a04f; --red: #d2694f; --violet: #9d84c7; --teal: #3fb3a3;
    --green: #7bbf5c; --sand: #c2ad74; --grey: #77818c;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; }
main, header, nav { max-width: 1120px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 28px; }
h1 { font-size: 26px; margin: 0 0 2px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 40px 0 6px; padding-top: 8px; border-top: 1px solid var(--line); }
p { margin: 6px 0; max-width: 78ch; }
.soft, figcaption, .legend, caption { color: var(--soft); }
code { font: 12.5px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-top: 10px; }
a { color: var(--accent); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(132px, 1fr)); gap: 10px; margin: 16px 0 4px; padding: 0; list-style: none; }
.tiles li { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 9px 12px; }
.tiles b { display: block; font-size: 19px; font-variant-numeric: tabular-nums; }
.tiles span { display: block; color: var(--soft); font-size: 13px; line-height: 1.35; }
figure { margin: 12px 0; padding: 10px 12px; background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; }
figure:focus-visible, .scroll:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
figure > svg { display: block; width: 100%; min-width: 720px; height: auto; }
figcaption { font-size: 13.5px; margin: 0 0 6px; position: sticky; left: 0; }
.detail { min-height: 1.5em; margin: 0; font-size: 13.5px; color: var(--ink); position: sticky; left: 0; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 13px; }
.legend svg { vertical-align: -1px; }
svg text { font: 11px system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; fill: var(--soft); }
svg text.lane { text-anchor: end; }
svg text.tick { text-anchor: middle; }
svg text.in { text-anchor: middle; fill: #ffffff; paint-order: stroke; stroke: rgba(0, 0, 0, .5); stroke-width: 2.5px; stroke-linejoin: round; pointer-events: none; }
.grid { stroke: var(--line); stroke-width: 1; fill: none; }
.track { fill: var(--wash); }
.bubble { fill: url(#hatch); }
.quiet { pointer-events: none; }
.pale { fill-opacity: .3; }
.forward { fill: var(--blue); } .backward { fill: var(--orange); } .weight { fill: var(--red); }
.update { fill: var(--violet); } .other { fill: var(--grey); }
.collective { fill: var(--teal); } .message { fill: var(--green); } .copy { fill: var(--sand); }
.m-state { fill: var(--blue); } .m-hyper { fill: var(--grey); } .m-step { fill: var(--violet); } .m-act { fill: var(--orange); }
.m-bnd { fill: var(--green); } .m-input { fill: var(--sand); } .m-tmp { fill: var(--red); } .m-scratch { fill: var(--teal); }
.limit { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 5 4; fill: none; }
.curve { stroke: var(--accent); stroke-width: 1.6; fill: none; stroke-linejoin: round; }
.dot { fill: var(--accent); fill-opacity: 0; } .dot:hover, .dot.on { fill-opacity: 1; }
.evaluation { fill: var(--orange); }
.b:hover, .b.on { stroke: var(--ink); stroke-width: 1.5; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); gap: 12px; }
.card { margin: 0; overflow: hidden; } .card > svg { min-width: 0; margin-bottom: 8px; }
.card figcaption { position: static; margin: 0; overflow-wrap: anywhere; } .card b { color: var(--ink); }
.box { stroke: var(--card); stroke-width: 1.2; }
.d0 { fill: var(--blue); } .d1 { fill: var(--orange); } .d2 { fill: var(--violet); } .d3 { fill: var(--teal); }
.d4 { fill: var(--red); } .d5 { fill: var(--green); } .d6 { fill: var(--sand); } .d7 { fill: var(--grey); }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--card); margin: 12px 0; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
caption { text-align: left; padding: 8px 12px; }
th, td { text-align: left; padding: 4px 12px; border-top: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
td.where { white-space: normal; min-width: 220px; overflow-wrap: anywhere; color: var(--soft); font-size: 12.5px; }
td.bar { background: linear-gradient(to left, var(--wash) var(--share), transparent var(--share)); min-width: 110px; }
footer { max-width: 1120px; margin: 40px auto 0; padding: 12px 20px 40px; color: var(--soft); font-size: 13px; border-top: 1px solid var(--line); }
@media (max-width: 560px) {
  main, header, nav { padding: 0 12px; } header { padding-top: 16px; } h1 { font-size: 21px; }
}
@media print { figure, .scroll { break-inside: avoid; } nav { display: none; } }
)css";

// The text below a picture says what the shape under the pointer is; in a
// picture that has the focus the arrow keys go from shape to shape.
const char *const pageScript = R"js(
"use strict";
(() => {
  const detailOf = figure => (figure.querySelector(".detail") || figure.parentElement.parentElement.querySelector(".detail"));
  const show = (figure, shape) => {
    figure.querySelectorAll(".on").forEach(each => each.classList.remove("on"));
    const title = shape && shape.querySelector("title");
    if (shape) shape.classList.add("on");
    detailOf(figure).textContent = title ? title.textContent : "";
  };
  for (const figure of document.querySelectorAll("figure")) {
    let at = -1;
    figure.addEventListener("pointerover", event => {
      const shape = event.target.closest(".b");
      if (shape) show(figure, shape);
    });
    figure.addEventListener("keydown", event => {
      const shapes = figure.querySelectorAll(".b");
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!shapes.length || (!step && event.key !== "Home" && event.key !== "End")) return;
      at = event.key === "Home" ? 0 : event.key === "End" ? shapes.length - 1
        : at < 0 ? (step > 0 ? 0 : shapes.length - 1) : (at + step + shapes.length) % shapes.length;
      show(figure, shapes[at]);
      event.preventDefault();
    });
    figure.addEventListener("blur", () => { at = -1; show(figure, null); });
  }
})();
)js";

} // namespace llmc::rt::report
