import { encode } from 'uqr';
import { amountLines, factLines, type ReceiptLine, TEST_MODE } from '#apis/pay/receipt-lines.ts';
import type { ShownReceipt } from '#apis/pay/receipt-routes.ts';
import { headlineUsdc } from '#core/money.ts';
import { escapeHtml } from '#http/plain-page.ts';

/** What the page says of itself, and what stands in it. Both are HTML. */
export interface FinishedPage {
  readonly title: string;
  readonly body: string;
}

const TOLD = 'As told by this server. Your browser has not checked it with the chain.';

/** Names of people and shops may run from right to left. */
function row({ name, value, also, isTotal }: ReceiptLine): string {
  const below = also === undefined ? '' : `<span class="at">${escapeHtml(also)}</span>`;
  return (
    `<div class="row${isTotal === true ? ' total' : ''}"><dt>${name}</dt>` +
    `<dd dir="auto">${escapeHtml(value)}${below}</dd></div>`
  );
}

function codeRow(name: string, value: string, href: string | null = null): string {
  const code = `<code>${escapeHtml(value)}</code>`;
  const shown = href === null ? code : `<a href="${escapeHtml(href)}" rel="noreferrer">${code}</a>`;
  return `<div class="row"><dt>${name}</dt><dd>${shown}</dd></div>`;
}

function proofRows({ proof }: ShownReceipt): string {
  return [
    codeRow('Transaction', proof.tx_hash, proof.explorer_url),
    row({ name: 'Block', value: String(proof.block_number) }),
    row({ name: 'Event', value: `${proof.event}, entry ${proof.log_index} of the block` }),
    row({ name: 'Payment number', value: String(proof.number) }),
    codeRow('Contract', proof.settlement),
    row({ name: 'Chain', value: String(proof.chain_id) }),
  ].join('\n');
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

/** JSON inside a page: nothing in it ends the element that holds it. */
function data(receipt: ShownReceipt): string {
  return JSON.stringify(receipt).replaceAll('<', '\\u003c');
}

/**
 * The whole receipt, readable without script. The script only asks `node` (a page's address or a
 * path from the root), where there is one, whether the chain says the same.
 */
export function receiptPage(
  receipt: ShownReceipt,
  at: { readonly url: string; readonly node: string | null },
): FinishedPage {
  const { merchant, paid, livemode } = receipt;
  const name = escapeHtml(merchant.name);
  const node = at.node === null ? '' : ` data-node="${escapeHtml(at.node)}"`;
  const body = `<main>
<p class="soft">Receipt</p>
<h1 dir="auto">${name}</h1>
<p class="sum">${escapeHtml(headlineUsdc(BigInt(paid)))} USDC</p>
${livemode ? '' : `<p class="test">${TEST_MODE}</p>`}
<dl class="amounts">
${amountLines(receipt).map(row).join('\n')}
</dl>
<dl class="facts">
${factLines(receipt).map(row).join('\n')}
</dl>
<section aria-labelledby="proof">
<h2 id="proof">Proof on the chain</h2>
<p id="verdict" class="verdict plain" role="status"${node}>${TOLD}</p>
<details>
<summary>Where it is on the chain</summary>
<dl class="facts">
${proofRows(receipt)}
</dl>
</details>
</section>
${qr(at.url)}
<p class="printed soft"><code>${escapeHtml(at.url)}</code></p>
<button type="button" id="print" class="print" hidden>Print</button>
</main>
<script type="application/json" id="receipt">${data(receipt)}</script>`;
  return { title: `Receipt · ${name}`, body };
}

export const NO_RECEIPT_PAGE: FinishedPage = {
  title: 'No such receipt',
  body: `<main>
<h1>No such receipt</h1>
<p role="alert">Is the address complete? It ends with 22 letters and digits.</p>
</main>`,
};
