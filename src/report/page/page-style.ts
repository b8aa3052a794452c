/**
 * The page's style: one column, system fonts, and two meanings of color (done, needs a person), each also
 * shown by words and a hatch. For light and dark screens, phones and paper.
 */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#f7f7f5, #14181b); --sheet: light-dark(#ffffff, #1b2024); --ink: light-dark(#1c2227, #e6e9ea); --soft: light-dark(#5a646d, #9ba6ae); --rule: light-dark(#e0e2e0, #30373c);
  --done: light-dark(#2a7458, #58b08d); --care: light-dark(#b3302b, #f0857e); --care-tint: light-dark(#fdf1f0, #2b1f1f); --care-rule: light-dark(#ecc0bd, #5e3b39); --idle: light-dark(#8a949c, #78838b); --stripe: light-dark(#d9807c, #a5504b);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 56rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1, h2, h3, p, ul, ol, dl, dd { margin: 0; }
h1 { font-size: clamp(1.6rem, 1.1rem + 2.2vw, 2.35rem); line-height: 1.15; letter-spacing: -0.02em; text-wrap: balance; }
h2 { font-size: 1.05rem; line-height: 1.3; margin-bottom: 0.9rem; }
h3 { font-size: 1rem; line-height: 1.4; font-weight: 600; }
code { font: 0.875em/1.4 var(--mono); }
a { color: inherit; text-underline-offset: 0.18em; text-decoration-thickness: 1px; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--ink); outline-offset: 3px; border-radius: 2px; }
section, footer { margin-top: 2.75rem; }
.soft { color: var(--soft); font-size: 0.9rem; }
time { white-space: nowrap; }
.item { display: block; }
.other { font-weight: 700; }

.where { display: flex; gap: 0.6rem; align-items: baseline; color: var(--soft); font-size: 0.9rem; margin-bottom: 1.1rem; }
.environment { color: var(--ink); border: 1px solid var(--rule); border-radius: 3px; padding: 0 0.5rem; background: var(--sheet); }
.lead { margin-top: 0.7rem; color: var(--soft); text-wrap: pretty; }
.lead b { color: var(--ink); font-weight: 600; }
main > header { border-left: 4px solid var(--idle); padding-left: 1.25rem; }
main > header.well { border-color: var(--done); }
main > header.care { border-color: var(--care); }
.problem { margin-top: 1.1rem; padding: 0.85rem 1rem; background: var(--care-tint); border: 1px solid var(--care-rule); border-radius: 4px; }
.problem .soft { display: block; }

.bar { display: block; border-radius: 4px; overflow: hidden; background: var(--rule); }
rect.done { fill: var(--done); } rect.idle { fill: var(--idle); } rect.hatched { fill: url(#hatch); }
rect.care { fill: var(--care); } rect.stripe { fill: var(--stripe); } rect.gap { fill: var(--paper); }
.counts { list-style: none; padding: 0; margin: 1.2rem 0 0.8rem; display: grid; gap: 1.2rem 1.75rem; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); }
.counts li { display: flex; flex-direction: column; }
.number { font-size: 1.9rem; line-height: 1.15; font-weight: 600; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; }
.counts .hatched .number { color: var(--care); }
.word { font-weight: 600; }
.swatch { vertical-align: -1px; margin-right: 0.15rem; }
.meaning { color: var(--soft); font-size: 0.85rem; line-height: 1.4; }

.next { background: var(--sheet); border: 1px solid var(--rule); border-radius: 6px; padding: 1.25rem 1.5rem 1.35rem; }
.next ol { padding-left: 1.3rem; }
.next li + li { margin-top: 0.75rem; }
.next li::marker { color: var(--soft); font-variant-numeric: tabular-nums; }
.next li { text-wrap: pretty; }
.next li > code:not(.command) { white-space: nowrap; }
.next code { background: var(--paper); border-radius: 3px; padding: 0.1em 0.3em; }
.next .command { padding: 0.3em 0.6em; }

.group { background: var(--sheet); border: 1px solid var(--rule); border-radius: 6px; padding: 1.1rem 1.5rem 1.2rem; }
.group + .group { margin-top: 1rem; }
.group header { margin-bottom: 0.8rem; }
.tally { color: var(--soft); font-size: 0.9rem; margin: 0.25rem 0; }
.tally b { color: var(--care); font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.tag { display: inline-block; border: 1px solid var(--care-rule); color: var(--care); border-radius: 3px; padding: 0 0.4rem; margin-left: 0.35rem; font-size: 0.8rem; line-height: 1.5; }
table { width: 100%; table-layout: fixed; border-collapse: collapse; font-size: 0.9rem; line-height: 1.4; }
th { text-align: left; color: var(--soft); font-weight: 500; font-size: 0.8rem; padding: 0.3rem 1rem 0.3rem 0; border-bottom: 1px solid var(--rule); }
td { padding: 0.38rem 1rem 0.38rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
th.figure, td.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.figure { color: var(--soft); }
td.data { font-family: var(--mono); font-size: 0.85rem; }
td.data .soft { font-family: system-ui, sans-serif; }
/* The same first columns in every card: one column without a width takes the rest, or all would be stretched. */
col.figure { width: 4.5rem; } col.data { width: 24%; } col.data.order { width: 9rem; } col:last-child { width: auto; }
.wide colgroup:has(.data ~ .data ~ .data) col.data:not(.items, .order, :last-child) { width: 14%; } col.items { width: auto; }
details thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.command { display: block; margin-top: 0.3rem; width: fit-content; max-width: 100%; }
.command span { display: inline-block; max-width: 100%; }
details { border-top: 1px solid var(--rule); }
.soft + details { margin-top: 0.8rem; }
summary { cursor: pointer; padding: 0.55rem 0; font-size: 0.9rem; color: var(--soft); }
summary:hover { color: var(--ink); }
.more { margin-top: 0.6rem; color: var(--soft); font-size: 0.9rem; }

.stops { list-style: none; padding: 0; margin-bottom: 0.5rem; }
.stops li { padding: 0.12rem 0; }
.stops time { display: inline-block; min-width: 5rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.stops .pause { color: var(--care); }

footer { border-top: 1px solid var(--rule); padding-top: 1.25rem; font-size: 0.85rem; color: var(--soft); }
footer dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 0.6rem 1.5rem; margin-bottom: 0.9rem; }
footer dt { font-size: 0.8rem; } footer dd { color: var(--ink); }

@media (max-width: 36rem) {
  main { padding: 1.5rem 1rem 3rem; }
  section, footer { margin-top: 2.1rem; }
  main > header { padding-left: 0.9rem; }
  .next, .group { padding: 1rem; }
  .counts { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; }
  .slim col.figure { width: 3.5rem; } .slim col.data { width: auto; }
  .wide, .wide tbody, .wide tr, .wide td { display: block; }
  .wide thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .wide tr { padding: 0.55rem 0; border-bottom: 1px solid var(--rule); }
  .wide tbody tr:last-child { border-bottom: 0; }
  .wide td { display: grid; grid-template-columns: 4.5rem 1fr; gap: 0.5rem; border: 0; padding: 0.08rem 0; min-width: 0; }
  .wide td:has(> div:empty) { display: none; }
  .wide td.figure { text-align: left; white-space: normal; }
  .wide td::before { content: attr(data-label); color: var(--soft); font: 0.8rem/1.6 system-ui, sans-serif; }
}

@media print {
  :root { --paper: #fff; color-scheme: light; }
  @page { margin: 14mm 16mm; }
  /* All sizes follow it: a report of few orders takes one page. */
  html { font-size: 10pt; } body { line-height: 1.4; } td time { white-space: normal; } th:last-child, td:last-child { padding-right: 0; }
  main { max-width: none; padding: 0; }
  section, footer { margin-top: 1.1rem; } h2 { margin-bottom: 0.5rem; } .counts { margin: 0.7rem 0 0.5rem; } footer { padding-top: 0.7rem; }
  footer dl { grid-template-columns: repeat(4, 1fr); gap: 0.4rem 1.2rem; }
  .bar, .swatch, rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .group header { margin-bottom: 0.4rem; } .group + .group { margin-top: 0.5rem; } .tally { margin: 0; }
  .next, .group { padding: 0.5rem 0 0; border: 0; border-top: 1px solid var(--rule); border-radius: 0; }
  .next .command, .next code { padding-inline: 0; }
  .group header, h2, tr, .command, .stops li, footer dl > div { break-inside: avoid; }
  h2, .group header { break-after: avoid; } .more, .next .command, footer > p, footer dl > :nth-child(n+5) { break-before: avoid; }
  p, .next li, td > div { orphans: 3; widows: 3; } colgroup:has(.prose) col.data:not(.items, .order) { width: 16%; }
  details::details-content { content-visibility: visible; height: auto; }
  summary { display: none; }
}
`;
