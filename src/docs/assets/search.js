// Finds the pages that match the search field. Loaded by site.js at the first key.

import { createFinder } from '/docs/find-pages.js';
import MiniSearch from '/docs/minisearch.js';

const field = document.querySelector('#search');
const results = document.querySelector('#results');
const found = document.querySelector('#found');
const MAX_RESULTS = 12;

/** Finds sections, once the index is loaded: at the first search, and again after a failure. */
let finder;
async function load() {
  finder ??= fetch('/docs/search.json')
    .then((answer) => answer.json())
    .then((index) => createFinder(MiniSearch, index));
  try {
    return await finder;
  } catch (error) {
    finder = undefined;
    throw error;
  }
}

function link(entry) {
  const item = document.createElement('li');
  const anchor = document.createElement('a');
  anchor.href = entry.href;
  anchor.textContent = entry.title;
  const page = document.createElement('span');
  page.textContent = entry.title === entry.page ? entry.text.slice(0, 90) : entry.page;
  anchor.append(page);
  item.append(anchor);
  return item;
}

/** Shows the results for the field's text. @throws if the index cannot be loaded */
export async function search() {
  if (field.value.trim() === '') {
    results.hidden = true;
    found.textContent = '';
    return;
  }
  const find = await load();
  const sections = find(field.value);
  const list = document.createElement('ul');
  list.append(...sections.slice(0, MAX_RESULTS).map(link));
  const none = document.createElement('p');
  none.textContent = 'Nothing found.';
  results.replaceChildren(sections.length === 0 ? none : list);
  results.hidden = false;
  found.textContent = `${sections.length} results`;
}
