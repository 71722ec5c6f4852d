// Finds the pages that match the search field. Loaded by site.js at the first key.

const field = document.querySelector('#search');
const results = document.querySelector('#results');
const found = document.querySelector('#found');
const MAX_RESULTS = 12;

/** The search index, loaded at the first search, and again after a failure. */
let entries;
async function load() {
  entries ??= fetch('/docs/search.json').then((answer) => answer.json());
  try {
    return await entries;
  } catch (error) {
    entries = undefined;
    throw error;
  }
}

/**
 * Rates an entry: every word must match, titles count more than text, and guides rank above fields.
 */
function rate(entry, words) {
  const title = `${entry.title} ${entry.page}`.toLowerCase();
  const text = entry.text.toLowerCase();
  let score = /^\/docs\/(api|errors)/.test(entry.href) ? 0 : 6;
  for (const word of words) {
    if (entry.title.toLowerCase().startsWith(word)) score += 8;
    else if (title.includes(word)) score += 5;
    else if (text.includes(word)) score += 1;
    else return 0;
  }
  return score;
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
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    results.hidden = true;
    found.textContent = '';
    return;
  }
  const rated = (await load())
    .map((entry) => ({ entry, score: rate(entry, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score);
  const list = document.createElement('ul');
  list.append(...rated.slice(0, MAX_RESULTS).map(({ entry }) => link(entry)));
  const none = document.createElement('p');
  none.textContent = 'Nothing found.';
  results.replaceChildren(rated.length === 0 ? none : list);
  results.hidden = false;
  found.textContent = `${rated.length} results`;
}
