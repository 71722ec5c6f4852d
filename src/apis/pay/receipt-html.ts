import { encode } from 'uqr';
import { dataOf, type FinishedPage } from '#apis/pay/finished-page.ts';
import { type ReceiptLine, type Slip, TEST_MODE } from '#apis/pay/receipt-lines.ts';
import { escapeHtml } from '#core/escape-html.ts';
import { headlineUsdc } from '#core/money.ts';

const TOLD = 'Reported by this server. Your browser has not checked it against the chain.';

/** What keeps a browser's translator away: sums, ids and names are the same in every language. */
const AS_IT_IS = 'translate="no"';

/** Names of people and shops may run from right to left. */
function row({ name, value, also, isTotal, isCode, href }: ReceiptLine): string {
  const below = also === undefined ? '' : `<span class="at">${escapeHtml(also)}</span>`;
  const tag = isCode === true ? 'code' : 'span';
  const text = `<${tag} ${AS_IT_IS}>${escapeHtml(value)}</${tag}>`;
  const shown = href == null ? text : `<a href="${escapeHtml(href)}" rel="noreferrer">${text}</a>`;
  return (
    `<div class="row${isTotal === true ? ' total' : ''}"><dt>${name}</dt>` +
    `<dd dir="auto">${shown}${below}</dd></div>`
  );
}

/** Paper is scanned at the counter, when something is brought back. */
function qr(url: string): string {
  const { data, size } = encode(url, { ecc: 'M', border: 2 });
  const runs = data.flatMap((cells, y) => {
    const found: string[] = [];
    for (let x = 0; x < size; x++) {
      if (cells[x] !== true || cells[x - 1] === true) continue;
      let end = x;
      while (cells[end] === true) end++;
      found.push(`M${x} ${y}h${end - x}v1H${x}z`);
    }
    return found;
  });
  return (
    `<svg class="printed qr" viewBox="0 0 ${size} ${size}" role="img" ` +
    `aria-label="The address of this receipt"><path d="${runs.join('')}"/></svg>`
  );
}

/**
 * The whole receipt, readable without script. The script only asks `node` (a page's address or a
 * path from the root), where there is one, whether the chain says the same.
 */
export function receiptPage(
  slip: Slip,
  at: { readonly url: string; readonly node: string | null },
): FinishedPage {
  const name = escapeHtml(slip.merchantName);
  const checks = slip.isCheckable && at.node !== null;
  const node = checks ? ` data-node="${escapeHtml(at.node ?? '')}"` : '';
  const body = `<main>
<p class="soft">${slip.kind}</p>
<h1 dir="auto" class="branded" ${AS_IT_IS}>${name}</h1>
<p class="sum" ${AS_IT_IS}>${escapeHtml(headlineUsdc(BigInt(slip.headline)))} USDC</p>
${slip.state === null ? '' : `<p class="state">${slip.state}</p>`}
${slip.livemode ? '' : `<p class="test">${TEST_MODE}</p>`}
<dl class="amounts">
${slip.amounts.map(row).join('\n')}
</dl>
<dl class="facts">
${slip.facts.map(row).join('\n')}
</dl>
<section aria-labelledby="proof">
<h2 id="proof">Proof on the chain</h2>
<p id="verdict" class="verdict plain" role="status"${node}>${TOLD}</p>
<details>
<summary>Where it is on the chain</summary>
<dl class="facts">
${slip.chain.map(row).join('\n')}
</dl>
</details>
</section>
${qr(at.url)}
<p class="printed soft"><code ${AS_IT_IS}>${escapeHtml(at.url)}</code></p>
<button type="button" id="print" class="print" hidden>Print</button>
</main>
<script type="application/json" id="receipt">${dataOf(slip.document)}</script>`;
  return { title: `${slip.kind} · ${name}`, body };
}

export const NO_RECEIPT_PAGE: FinishedPage = {
  title: 'No such receipt',
  body: `<main>
<h1>No such receipt</h1>
<p role="alert">Is the address complete? It ends with 22 letters and digits.</p>
</main>`,
};
