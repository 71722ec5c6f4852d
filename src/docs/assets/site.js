// Search, copy buttons, language tabs. Every page can also be read and printed without this script.

const field = document.querySelector('#search');
const results = document.querySelector('#results');

let failures = 0;
/** Loads a part of this script. Chromium keeps a failure, so a retry needs another address. */
async function load(name) {
  try {
    return await import(`/docs/${name}?after=${failures}`);
  } catch (error) {
    failures++;
    throw error;
  }
}

/** Arrow keys move through the results; Escape closes them. */
function moveThroughResults(event) {
  const links = [...results.querySelectorAll('a')];
  if (event.key === 'Escape') {
    results.hidden = true;
    field.focus();
  }
  if (results.hidden || !['ArrowDown', 'ArrowUp'].includes(event.key)) return;
  const at = links.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1);
  event.preventDefault();
  if (at < 0) field.focus();
  else links[Math.min(at, links.length - 1)]?.focus();
}

field.addEventListener('input', async () => {
  try {
    const { search } = await load('search.js');
    await search();
  } catch {
    results.textContent = 'The search could not be loaded.';
    results.hidden = false;
  }
});
field.form.addEventListener('keydown', moveThroughResults);
field.form.addEventListener('submit', (event) => {
  event.preventDefault();
  results.querySelector('a')?.click();
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.matches('input, textarea');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  field.focus();
});
document.addEventListener('click', (event) => {
  if (!field.form.contains(event.target)) results.hidden = true;
});

for (const button of document.querySelectorAll('[data-copy]')) {
  const label = button.firstElementChild;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const code = button.closest('figure').querySelector('code').textContent;
    try {
      await navigator.clipboard.writeText(code);
      label.textContent = 'Copied';
    } catch {
      label.textContent = 'Press Ctrl+C';
      getSelection().selectAllChildren(button.closest('figure').querySelector('code'));
    }
    setTimeout(() => {
      label.textContent = 'Copy';
    }, 2_000);
  });
}

/** Examples that exist in several languages show one of them; the choice applies to all pages. */
const CHOSEN = 'tapline docs language';
const LANGUAGES = ['curl', 'TypeScript', 'JavaScript', 'Python', 'Go', 'PHP'];
const languageOf = (figure) => figure.querySelector('figcaption span').textContent;

/** Returns groups of adjacent code figures, each in a different language. */
function alternatives() {
  const groups = [];
  for (const figure of document.querySelectorAll('main figure.code')) {
    if (!LANGUAGES.includes(languageOf(figure))) continue;
    const group = groups.at(-1);
    const isNext = group !== undefined && group.at(-1) === figure.previousElementSibling;
    const isOther = isNext && !group.some((one) => languageOf(one) === languageOf(figure));
    if (isOther) group.push(figure);
    else groups.push([figure]);
  }
  return groups.filter((group) => group.length > 1);
}

function showLanguage(groups, chosen) {
  for (const { figures, buttons } of groups) {
    const shown = figures.find((one) => languageOf(one) === chosen) ?? figures[0];
    for (const figure of figures) figure.hidden = figure !== shown;
    for (const button of buttons) {
      button.setAttribute('aria-pressed', String(button.textContent === languageOf(shown)));
    }
  }
}

function addTabs() {
  const groups = alternatives().map((figures) => {
    const tabs = document.createElement('div');
    tabs.className = 'tabs';
    tabs.setAttribute('role', 'group');
    tabs.setAttribute('aria-label', 'Language');
    const buttons = figures.map((figure) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.translate = false;
      button.textContent = languageOf(figure);
      return button;
    });
    tabs.append(...buttons);
    figures[0].before(tabs);
    return { figures, buttons };
  });
  for (const button of groups.flatMap(({ buttons }) => buttons)) {
    button.addEventListener('click', () => {
      // Keep the clicked button under the pointer when the groups above it change in height.
      const before = button.getBoundingClientRect().top;
      localStorage.setItem(CHOSEN, button.textContent);
      showLanguage(groups, button.textContent);
      scrollBy(0, button.getBoundingClientRect().top - before);
    });
  }
  showLanguage(groups, localStorage.getItem(CHOSEN));
}

addTabs();

/**
 * True in a sandbox on this machine, which marks its pages and gives its test key to the browser.
 */
function isOwnSandbox() {
  const isHere = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(location.hostname);
  return isHere && document.documentElement.dataset.sandbox !== undefined;
}

/** Returns the last of a request's figures (one per language). The button is placed after it. */
function lastOfGroup(figure) {
  const next = figure.nextElementSibling;
  const isOther = next?.matches('figure.code') && LANGUAGES.includes(languageOf(next));
  return isOther && languageOf(next) !== 'curl' ? lastOfGroup(next) : figure;
}

/**
 * Adds a button to each request. The button gets the code as served, because own.js later replaces
 * the demo's IDs in the page.
 */
function addTryButtons() {
  for (const figure of document.querySelectorAll('main figure.code')) {
    const text = figure.querySelector('code').textContent;
    if (languageOf(figure) !== 'curl' || !text.startsWith('curl "$TAPLINE_BASE_URL/v1/')) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'try-it';
    button.textContent = 'Try it';
    button.addEventListener('click', async () => (await load('try.js')).open(button, text));
    lastOfGroup(figure).after(button);
  }
}

if (isOwnSandbox()) addTryButtons();

/** The dashboard sets this item while a user is signed in; without it, no session is read. */
const SIGNED_IN = 'tapline dashboard signed in';

// Without a session, the examples stay as they are.
if (localStorage.getItem(SIGNED_IN) !== null && document.querySelector('main pre code') !== null) {
  load('own.js')
    .then(({ fillIn }) => fillIn())
    .catch(() => {});
}

// On a narrow screen the table of contents is above the text, and closed until the reader opens it.
const narrow = matchMedia('(max-width: 60rem)');
const fold = () => document.querySelector('.menu').toggleAttribute('open', !narrow.matches);
narrow.addEventListener('change', fold);
fold();
