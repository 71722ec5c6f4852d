import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ApiDocument } from '#docs/api-document.ts';
import { type PackageMethods, packageMethods } from '#docs/code-examples.ts';
import { escapeHtml, type RenderedPage, renderMarkdown } from '#docs/markdown.ts';
import { errorsPage, type PageSource, referencePages } from '#docs/reference-pages.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const GUIDES = path.join(ROOT, 'docs/guides');
/** Pages in `docs` that the site shows among the guides. The console links to them. */
const HANDBOOK = ['operate', 'incident'];
const ASSETS = path.join(import.meta.dirname, 'assets');
const TOKENS = path.join(import.meta.dirname, '../core/design-tokens.css');
const MINISEARCH = fileURLToPath(import.meta.resolve('minisearch'));
const RESOURCES = path.join(ROOT, 'sdk/src/resources.ts');

/** The order of guides in the table of contents. Guides not listed here follow by name. */
const GUIDE_ORDER = [
  ...[
    'quickstart',
    'webhooks',
    'declines',
    'refunds',
    'tips',
    'prices',
    'receipts',
    'books',
    'organizations',
    'terminals',
    'cashiers',
    'offline',
    'wallets',
  ],
  ...['agents', 'testing', 'going-live', 'coming-from', 'shop-systems', 'cash-registers'],
  ...['customers', 'handout', 'what-to-buy', 'fees', 'bank-account', 'your-money', 'legal'],
  ...['troubleshooting', 'api-changes', 'upgrading', 'operate', 'incident', 'security'],
];

/** The documented APIs, each with name, group in the table of contents, and path of its pages. */
const SURFACES: readonly (readonly [name: string, group: string, prefix: string])[] = [
  ['openapi.json', 'Reference', 'api/'],
  ['openapi/device.json', 'Terminals', 'api/device/'],
  ['openapi/payer.json', 'Wallets', 'api/payer/'],
  ['openapi/pay.json', 'Paying with any wallet', 'api/pay/'],
  ['openapi/dashboard.json', 'Dashboard', 'api/dashboard/'],
  ['openapi/operator.json', 'Operators', 'api/operator/'],
];

export interface SiteFile {
  /** For example `/docs/webhooks`. */
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

interface Page extends PageSource, RenderedPage {
  readonly title: string;
}

/**
 * Inserts files into a guide: a code block that names a file of the repository shows that file, so
 * that the file's tests also cover the guide.
 */
async function withFiles(markdown: string): Promise<string> {
  const parts = markdown.split(/^```(\w+) (examples\/[\w./-]+)\n```$/m);
  const filled: string[] = [];
  for (let i = 0; i < parts.length; i += 3) {
    filled.push(parts[i] ?? '');
    const [language, file] = [parts[i + 1], parts[i + 2]];
    if (language === undefined || file === undefined) continue;
    const text = await readFile(path.join(ROOT, file), 'utf8');
    filled.push(`\`\`\`${language}\n${text.trimEnd()}\n\`\`\``);
  }
  return filled.join('');
}

/**
 * Makes the links of a page in `docs` fit the site: links to guides lead there, and other files of
 * the repository are named by their paths.
 */
function siteLinks(markdown: string): string {
  const link = /\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g;
  return markdown.replaceAll(link, (_, text: string, file: string, anchor = '') => {
    const name = path.basename(file, '.md');
    if (file.startsWith('guides/') || HANDBOOK.includes(name)) {
      return `[${text}](${name}.md${anchor})`;
    }
    const source = `\`${path.posix.join('docs', file)}\``;
    return text === file ? source : `${text} (${source})`;
  });
}

function readPage(name: string): Promise<string> {
  const isGuide = !HANDBOOK.includes(name);
  const file = path.join(isGuide ? GUIDES : path.dirname(GUIDES), `${name}.md`);
  return readFile(file, 'utf8').then((text) => (isGuide ? text : siteLinks(text)));
}

async function readGuides(): Promise<PageSource[]> {
  const guideNames = (await readdir(GUIDES)).map((file) => file.replace(/\.md$/, ''));
  const names = [...guideNames, ...HANDBOOK];
  const rank = (name: string) => (GUIDE_ORDER.indexOf(name) + 100) % 100;
  const sorted = names.toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const guides = sorted.map(async (name) => {
    const markdown = await withFiles(await readPage(name));
    const title = /^# (.*)$/m.exec(markdown)?.[1] ?? name;
    return { name, title, group: 'Guides', markdown };
  });
  return Promise.all(guides);
}

function navigation(pages: readonly Page[], current: string): string {
  const groups = [...new Set(pages.map(({ group }) => group))];
  const items = groups.map((group) => {
    const own = pages.filter((page) => page.group === group);
    const links = own.map(({ name, title }) => {
      const attribute = name === current ? ' aria-current="page"' : '';
      return `<li><a href="/docs/${name}"${attribute}>${escapeHtml(title)}</a></li>`;
    });
    const isOpen = own.some(({ name }) => name === current) || group === 'Guides';
    return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(group)}</summary>
<ul>${links.join('\n')}</ul></details>`;
  });
  return `<nav aria-label="Contents"><ul><li><a href="/docs"${
    current === '' ? ' aria-current="page"' : ''
  }>Overview</a></li></ul>${items.join('\n')}</nav>`;
}

function onThisPage({ sections }: RenderedPage): string {
  if (sections.length < 3) return '';
  const links = sections
    .slice(1)
    .map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`);
  const list = `<ul>${links.join('\n')}</ul>`;
  return `<details class="toc"><summary>On this page</summary>${list}</details>`;
}

export interface SiteOptions {
  /** True if the examples can be tried out with the demo account. */
  readonly isSandbox: boolean;
}

interface Shell extends SiteOptions {
  readonly pages: readonly Page[];
  readonly styles: string;
  readonly script: string;
}

function pageHtml(page: Page, { pages, styles, script, isSandbox }: Shell): string {
  const address = page.name === '' ? '/docs/index' : `/docs/${page.name}`;
  const [heading = '', ...rest] = page.html.split('</h1>\n');
  return `<!doctype html>
<html lang="en"${isSandbox ? ' data-sandbox' : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)} · Tapline docs</title>
<link rel="icon" href="/icons/tapline.svg">
<link rel="alternate" type="text/markdown" href="${address}.md">
<link rel="stylesheet" href="${styles}">
<script src="${script}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="name" href="/docs">Tapline docs</a>
<form role="search" class="search">
<label for="search">Search</label>
<input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false"
aria-controls="results">
<div id="results" class="results" hidden></div>
<p class="unseen" role="status" id="found"></p>
</form>
<a class="home" href="/">Home</a>
</header>
<div class="columns">
<div class="side"><details class="menu" open><summary>Contents</summary>
${navigation(pages, page.name)}</details></div>
<main id="content"${page.name === '' ? ' class="overview"' : ''}>
<div class="title">
${heading}</h1>
<p class="twin"><a href="${address}.md">Markdown</a></p>
</div>
${page.name === '' ? '' : onThisPage(page)}
${rest.join('</h1>\n')}
</main>
</div>
</body>
</html>
`;
}

/** Returns a guide's first sentence, which states the guide's purpose. */
function leadOf({ sections }: RenderedPage): string {
  const [lead = ''] = (sections[0]?.text ?? '').split(/(?<=\.)\s/);
  // A section's text has a space after each inline code; remove it before punctuation.
  return lead.replaceAll(/ (?=[,.:;])/g, '');
}

function overview(pages: readonly Page[]): PageSource {
  const groups = [...new Set(pages.map(({ group }) => group))];
  const lists = groups.flatMap((group) => {
    const links = pages
      .filter((page) => page.group === group)
      .map((page) => {
        const link = `- [${page.title}](/docs/${page.name})`;
        return group === 'Guides' ? `${link}\n  ${leadOf(page)}` : link;
      });
    return [`## ${group}`, links.join('\n')];
  });
  const documents = SURFACES.map(([name]) => `[${name}](/${name})`).join(', ');
  const markdown = [
    '# Documentation',
    'Tapline takes payments in physical stores: the customer taps a pass on a terminal, and the ' +
      'payment settles in USDC in about a second. Start with the [quickstart](/docs/quickstart).',
    ...lists,
    '## For programs',
    `OpenAPI documents: ${documents}. Every page is also available as Markdown: add \`.md\` to ` +
      'its address. [llms.txt](/llms.txt) lists all pages, and [llms-full.txt](/llms-full.txt) ' +
      'contains the guides and the merchant API. [/packages/](/packages/) has the client packages.',
  ].join('\n\n');
  return { name: '', title: 'Documentation', group: '', markdown: `${markdown}\n` };
}

function llms(pages: readonly Page[]): string {
  const groups = [...new Set(pages.map(({ group }) => group))];
  const lists = groups.flatMap((group) => [
    `## ${group}`,
    pages
      .filter((page) => page.group === group)
      .map(({ name, title, sections }) => {
        const about = (sections[0]?.text ?? '').split(/(?<=[.:])\s/)[0] ?? '';
        return `- [${title}](/docs/${name}.md)${about === '' ? '' : `: ${about}`}`;
      })
      .join('\n'),
  ]);
  const about =
    '> A payment network for physical stores: tap to pay, settlement in USDC, signed webhooks.';
  return `${['# Tapline', about, ...lists].join('\n\n')}\n`;
}

/**
 * Returns the guides and the merchant API as one file, for programs that read all of the
 * documentation.
 */
function llmsFull(pages: readonly Page[]): string {
  const chosen = pages.filter(({ group }) => group === 'Guides' || group === 'Reference');
  return chosen.map(({ markdown }) => markdown.trim()).join('\n\n---\n\n');
}

/** Of a section of the reference, whose start names the operation and its parameters. */
const REFERENCE_CHARS = 250;
/** Enough for the line below a result that is a whole page. */
const LEAD_CHARS = 90;

/** Returns each word of a text once, behind its first characters. */
function searchText(text: string, chars: number): string {
  const lead = text.slice(0, chars);
  const wordsOf = (part: string): readonly string[] =>
    part.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];
  const known = wordsOf(lead);
  const rest = wordsOf(text.slice(lead.length)).filter((word) => !known.includes(word));
  return [lead, ...new Set(rest)].join(' ');
}

/** Returns the search index of `assets/find-pages.js`: the words of each section. */
function searchIndex(pages: readonly Page[]): string {
  const sections = pages.flatMap(({ group, sections: own }, page) =>
    own.map(({ id, title, text }, index) => {
      const indexed = group === 'Guides' ? text : text.slice(0, REFERENCE_CHARS);
      return [page, index === 0 ? '' : id, title, searchText(indexed, LEAD_CHARS)];
    }),
  );
  const shown = pages.map(({ name, title, group }) => [name, title, group === 'Guides']);
  return JSON.stringify({ pages: shown, sections });
}

/**
 * Removes comments that have lines of their own, and indentation. They are a fifth of the file, and
 * only readers of the source need them.
 */
function withoutComments(text: string): string {
  return text.replaceAll(/^ *(?:\/\/.*|\/\*[\s\S]*?\*\/)\n/gm, '').replaceAll(/^ +/gm, '');
}

function versioned(name: string, text: string): string {
  return `/docs/${name}?v=${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

export async function buildSite(
  documents: Readonly<Record<string, ApiDocument>>,
  options: SiteOptions,
): Promise<readonly SiteFile[]> {
  const read = (file: string) => readFile(file, 'utf8');
  const methods = packageMethods(await read(RESOURCES));
  const none: PackageMethods = new Map();
  const references = SURFACES.flatMap(([name, group, prefix]) => {
    const document = documents[name];
    const known = name === 'openapi.json' ? methods : none;
    return document === undefined
      ? []
      : referencePages(document, { group, prefix, methods: known });
  });
  const sources = [...(await readGuides()), ...references];
  const position = sources.findLastIndex(({ group }) => group === 'Reference') + 1;
  sources.splice(position, 0, errorsPage());
  const render = (source: PageSource): Page => ({ ...renderMarkdown(source.markdown), ...source });
  const pages: Page[] = [];
  for (const source of sources) {
    pages.push(render(source));
    // Let other requests run between two pages.
    await nextTurn();
  }
  const asset = async (name: string) => withoutComments(await read(path.join(ASSETS, name)));
  const style = withoutComments(await read(TOKENS)) + (await asset('site.css'));
  const script = await asset('site.js');
  const urls = { styles: versioned('site.css', style), script: versioned('site.js', script) };
  const shell = { pages, ...urls, ...options };
  const index = render(overview(pages));
  return [
    { path: '/docs', type: HTML, text: pageHtml(index, shell) },
    { path: '/docs/index.md', type: MARKDOWN, text: index.markdown },
    ...pages.flatMap((page) => [
      { path: `/docs/${page.name}`, type: HTML, text: pageHtml(page, shell) },
      { path: `/docs/${page.name}.md`, type: MARKDOWN, text: page.markdown },
    ]),
    { path: '/docs/site.css', type: 'text/css; charset=utf-8', text: style },
    { path: '/docs/site.js', type: SCRIPT, text: script },
    { path: '/docs/search.js', type: SCRIPT, text: await asset('search.js') },
    { path: '/docs/find-pages.js', type: SCRIPT, text: await asset('find-pages.js') },
    { path: '/docs/minisearch.js', type: SCRIPT, text: await read(MINISEARCH) },
    { path: '/docs/own.js', type: SCRIPT, text: await asset('own.js') },
    { path: '/docs/try.js', type: SCRIPT, text: await asset('try.js') },
    {
      path: '/docs/search.json',
      type: 'application/json; charset=utf-8',
      text: searchIndex(pages),
    },
    { path: '/llms.txt', type: 'text/plain; charset=utf-8', text: llms(pages) },
    { path: '/llms-full.txt', type: 'text/plain; charset=utf-8', text: llmsFull(pages) },
  ];
}
