import { encode } from 'uqr';
import { dataOf, type FinishedPage } from '#apis/pay/fill-built-page.ts';
import type { ReceiptLine, Slip } from '#apis/pay/receipt-slip.ts';
import { escapeHtml } from '#core/escape-html.ts';
import { isolatedHtml, type Writer } from '#i18n/text.ts';

/** Keeps a browser's translator from changing amounts, IDs and names. */
const AS_IT_IS = 'translate="no"';
/** Hashes, addresses and numbers run from left to right, even on a right-to-left page. */
const LEFT_TO_RIGHT = `${AS_IT_IS} dir="ltr"`;

function given(value: string, isCode: boolean | undefined): string {
  return isCode === true
    ? `<code ${LEFT_TO_RIGHT}>${escapeHtml(value)}</code>`
    : `<bdi ${AS_IT_IS}>${escapeHtml(value)}</bdi>`;
}

/** Names of people and shops may run from right to left. */
function row(line: ReceiptLine): string {
  const { name, value, also, isNamed, isTotal, isCode, isWords, href } = line;
  const title = isNamed === true ? given(name, false) : escapeHtml(name);
  const below = also === undefined ? '' : belowOf(isolatedHtml(also), isTotal);
  const text = isWords === true ? `<span>${isolatedHtml(value)}</span>` : given(value, isCode);
  const shown = href == null ? text : `<a href="${escapeHtml(href)}" rel="noreferrer">${text}</a>`;
  return (
    `<div class="row${isTotal === true ? ' total' : ''}"><dt>${title}</dt>` +
    `<dd dir="auto">${shown}${below}</dd></div>`
  );
}

/** Renders the text below a value. Below a total it is folded: few readers want the sum in USDC. */
function belowOf(also: string, isFolded: boolean | undefined): string {
  if (isFolded !== true) return `<span class="at">${also}</span>`;
  const summary = `<summary ${AS_IT_IS}>USDC</summary>`;
  return `<details class="at">${summary}${also}</details>`;
}

/** Renders a list of lines; empty if there are no lines. */
function list(kind: string, lines: readonly ReceiptLine[]): string {
  return lines.length === 0 ? '' : `<dl class="${kind}">\n${lines.map(row).join('\n')}\n</dl>`;
}

/**
 * Renders the QR code of a printed receipt, which clerks scan when goods are returned. Each run of
 * dark modules is one stroke, because strokes compress better than an outline.
 */
function qr(url: string, { html }: Writer): string {
  const { data, size } = encode(url, { ecc: 'M', border: 2 });
  const runs = data.flatMap((cells, y) => {
    const runs: string[] = [];
    for (let x = 0; x < size; x++) {
      if (cells[x] !== true || cells[x - 1] === true) continue;
      let end = x;
      while (cells[end] === true) end++;
      runs.push(`M${x} ${y}h${end - x}`);
    }
    return runs;
  });
  return (
    `<svg class="printed qr" viewBox="0 -.5 ${size} ${size}" role="img" ` +
    `aria-label="${html('receipt.address')}"><path stroke="#000" d="${runs.join('')}"/></svg>`
  );
}

/**
 * Renders the whole receipt, so that it can be read without script. If `node` (an absolute URL, or
 * a path from the root) is set, the page's script asks that node whether the chain confirms the
 * payment.
 */
export function receiptPage(
  slip: Slip,
  at: {
    readonly url: string;
    readonly node: string | null;
    /** The path of the receipt as PDF; `null` if there is no PDF. */
    readonly pdf: string | null;
  },
): FinishedPage {
  const { html } = slip.writer;
  const name = escapeHtml(slip.merchantName);
  const kind = escapeHtml(slip.kind);
  const checks = slip.isCheckable && at.node !== null;
  const node = checks ? ` data-node="${escapeHtml(at.node ?? '')}"` : '';
  const body = `<main>
<p class="soft">${kind}</p>
<h1 dir="auto" class="branded" ${AS_IT_IS}>${name}</h1>
${slip.seller.map((line) => `<p class="soft" dir="auto">${isolatedHtml(line)}</p>`).join('\n')}
<p class="sum"><bdi ${AS_IT_IS}>${escapeHtml(slip.headline)}</bdi></p>
${slip.state === null ? '' : `<p class="state">${escapeHtml(slip.state)}</p>`}
${slip.livemode ? '' : `<p class="test">${html('receipt.test_mode')}</p>`}
${list('items', slip.items)}
${list('amounts', slip.amounts)}
${list('taxes', slip.taxes)}
${list('facts', slip.facts)}
${list('facts', slip.fiscal)}
<section aria-labelledby="proof">
<h2 id="proof">${html('receipt.proof')}</h2>
<p id="verdict" class="verdict plain" role="status"${node}>${html('receipt.check.reported')}</p>
<details>
<summary>${html('receipt.proof_details')}</summary>
${list('facts', slip.chain)}
</details>
</section>
${qr(at.url, slip.writer)}
<p class="printed soft"><code ${LEFT_TO_RIGHT}>${escapeHtml(at.url)}</code></p>
${at.pdf === null ? '' : `<a class="print" href="${escapeHtml(at.pdf)}">${html('receipt.pdf')}</a>`}
<button type="button" id="print" class="print" hidden="">${html('receipt.print')}</button>
</main>
<script type="application/json" id="receipt">${dataOf(slip.document)}</script>`;
  return { title: `${kind} · ${name}`, body };
}

export function noReceiptPage({ html }: Writer): FinishedPage {
  const title = html('receipt.missing.heading');
  return {
    title,
    body: `<main>
<h1>${title}</h1>
<p role="alert">${html('receipt.missing.text')}</p>
</main>`,
  };
}
