/** Readable without it; looks right on a phone, in the dark and on paper. */
export const STYLE = `
:root { color-scheme: light dark; --text: #16181d; --soft: #565d6b; --line: #dfe3ea; --back: #fff;
  --panel: #f5f7fa; --accent: #1a56db; --get: #0b6b3a; --post: #1a56db; --other: #8a4b00; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8ec; --soft: #a0a8b6; --line: #2b303a;
  --back: #111318; --panel: #191c23; --accent: #8ab4ff; --get: #6fd39a; --post: #8ab4ff;
  --other: #f0b469; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  color: var(--text); background: var(--back); }
a { color: var(--accent); text-underline-offset: 2px; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { font-size: .875em; overflow-wrap: anywhere; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1rem; letter-spacing: -.02em; }
h2 { font-size: 1.5rem; margin: 4rem 0 1rem; padding-top: 1.5rem; letter-spacing: -.01em;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.125rem; margin: 0 0 .25rem; }
h4 { font-size: .875rem; margin: 1.5rem 0 .25rem; color: var(--soft); font-weight: 600; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: 1rem; background: var(--back); padding: .5rem; z-index: 2; }
nav { padding: 1rem; border-bottom: 1px solid var(--line); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { margin: 0; }
nav a { display: block; padding: .2rem 0; color: var(--text); text-decoration: none;
  font-size: .9375rem; }
nav a:hover, nav a:focus-visible { color: var(--accent); text-decoration: underline; }
nav .group { margin-top: 1rem; font-weight: 600; }
nav summary { cursor: pointer; padding: .5rem 0; font-weight: 600; }
input[type=search] { width: 100%; font: inherit; padding: .5rem .75rem; color: inherit;
  background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
main { padding: 1.5rem 1rem 6rem; max-width: 60rem; min-width: 0; }
.operation { padding: 2rem 0; border-bottom: 1px solid var(--line); }
.operation:target, tr:target, .object:target { background: var(--panel);
  box-shadow: 0 0 0 1rem var(--panel); }
.call { display: flex; gap: .6rem; flex-wrap: wrap; align-items: baseline;
  margin: .25rem 0 .75rem; }
.method { font: 600 .8125rem ui-monospace, Menlo, Consolas, monospace; color: var(--other); }
.method.get { color: var(--get); } .method.post { color: var(--post); }
.fields { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
.fields > li { padding: .5rem 0; border-bottom: 1px solid var(--line); }
.fields .fields { margin: .5rem 0 0 1rem; }
.field { display: flex; gap: .6rem; flex-wrap: wrap; align-items: baseline; }
.field .name { font-weight: 600; }
.type, .values, .about { color: var(--soft); font-size: .9375rem; }
.required { color: var(--other); font-size: .8125rem; }
.codes { display: flex; flex-wrap: wrap; gap: .25rem .75rem; margin: .25rem 0; padding: 0;
  list-style: none; }
.code { margin: 1rem 0; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.code figcaption { padding: .3rem .75rem; font-size: .8125rem; color: var(--soft);
  border-bottom: 1px solid var(--line); background: var(--panel); }
pre { margin: 0; padding: .75rem; overflow-x: auto; font-size: .8125rem; line-height: 1.5; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0;
  border-bottom: 1px solid var(--line); }
.wide { overflow-x: auto; }
[hidden] { display: none !important; }
.empty { color: var(--soft); }
@media (min-width: 60rem) {
  .page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-bottom: 0;
    border-right: 1px solid var(--line); padding: 1.5rem; }
  nav details > summary { display: none; }
  main { padding: 2.5rem 3rem 8rem; }
}
@media print { nav { display: none; } .page { display: block; } pre { white-space: pre-wrap; } }
`;

/** Search, the menu of wide screens, and this server's address in the examples. */
export const SCRIPT = `
const menu = document.querySelector('nav details');
if (matchMedia('(max-width: 59.99rem)').matches) menu.open = false;
for (const spot of document.querySelectorAll('[data-origin]')) spot.textContent = location.origin;
const box = document.querySelector('input[type=search]');
box.hidden = false;
const entries = [...document.querySelectorAll('[data-search]')];
const links = [...document.querySelectorAll('nav li[data-for]')];
const none = document.querySelector('.empty');
box.addEventListener('input', () => {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const shown = new Set();
  for (const entry of entries) {
    const text = entry.dataset.search;
    entry.hidden = !words.every((word) => text.includes(word));
    if (!entry.hidden) shown.add(entry.id);
  }
  for (const link of links) link.hidden = words.length > 0 && !shown.has(link.dataset.for);
  for (const section of document.querySelectorAll('main > section')) {
    const inside = [...section.querySelectorAll('[data-search]')];
    section.hidden = words.length > 0 && !inside.some((entry) => !entry.hidden);
  }
  none.hidden = words.length === 0 || shown.size > 0;
  if (words.length > 0) menu.open = true;
});
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  box.focus();
});
`;
