import { Marked, type Tokens } from 'marked';

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
  /** The sections in order. The first one is the page itself. */
  readonly sections: readonly Section[];
}

const LABELS: Readonly<Record<string, string>> = {
  sh: 'Shell',
  bash: 'curl',
  ts: 'TypeScript',
  js: 'JavaScript',
  python: 'Python',
  go: 'Go',
  php: 'PHP',
  json: 'JSON',
  http: 'HTTP',
  text: '',
};

/** Escapes text for use inside HTML, attributes included. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Turns `Payment intents` into `payment-intents`; codes keep their underscores. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

function plainText(markdown: string): string {
  return markdown
    .replaceAll(/```[\s\S]*?```/g, ' ')
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*|#>]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function codeHtml({ text, lang = '' }: Tokens.Code): string {
  const [language = ''] = lang.split(' ');
  const label = lang.slice(language.length).trim() || (LABELS[language] ?? language);
  const name = escapeHtml(label === '' ? 'Code' : label);
  const code = `<code translate="no">${escapeHtml(text)}</code>`;
  return `<figure class="code"><figcaption><span translate="no">${escapeHtml(label)}</span>
<button type="button" data-copy hidden>
<span>Copy</span><span class="unseen"> ${name}</span></button>
</figcaption><pre tabindex="0" aria-label="${name}">${code}</pre></figure>\n`;
}

/** Turns a link to another file of the repository into a link to a page of the site. */
function hrefOf(href: string): string {
  return href.replace(/^(?:\.\.?\/)?([\w-]+)\.md(#.*)?$/, '/docs/$1$2');
}

/**
 * Returns the URL of an image in `docs/images`, which guides reference as `../images/<name>.png`.
 */
function imageSource(href: string): string {
  return href.replace(/^\.\.\/images\//, '/docs/images/');
}

/** Returns a function that creates ids for headings, unique within a page. */
function createIds() {
  const used = new Map<string, number>();
  return (title: string) => {
    const base = slug(title) || 'section';
    const count = used.get(base) ?? 0;
    used.set(base, count + 1);
    return count === 0 ? base : `${base}-${count + 1}`;
  };
}

/** Renders a page of the site from Markdown. HTML inside it is shown as text. */
export function renderMarkdown(markdown: string): RenderedPage {
  const idOf = createIds();
  const sections: { id: string; title: string; text: string }[] = [];
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      html: ({ text }) => escapeHtml(text),
      code: codeHtml,
      codespan: ({ text }) => `<code translate="no">${escapeHtml(text)}</code>`,
      heading({ tokens, depth, text }) {
        const title = plainText(text);
        const id = idOf(title);
        sections.push({ id, title, text: '' });
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1 id="${id}">${inner}</h1>\n`;
        return `<h${depth} id="${id}"><a href="#${id}">${inner}</a></h${depth}>\n`;
      },
      table({ header, rows }) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row.map((c) => `<${tag}>${this.parser.parseInline(c.tokens)}</${tag}>`).join('');
        const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        const head = `<thead><tr>${cells(header, 'th')}</tr></thead>`;
        const table = `<table>${head}<tbody>${body}</tbody></table>`;
        return `<div class="wide" tabindex="0">${table}</div>\n`;
      },
      image({ href, text }) {
        const source = escapeHtml(imageSource(href));
        return `<img src="${source}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(hrefOf(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  // A comment in a block of code is no heading.
  const bodies = markdown
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .split(/^#{1,6} .*$/m)
    .slice(1);
  for (const [index, section] of sections.entries()) section.text = plainText(bodies[index] ?? '');
  return { title: sections[0]?.title ?? '', html, sections };
}
