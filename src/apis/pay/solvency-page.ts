import type { FastifyReply, FastifyRequest } from 'fastify';
import { dataOf, type FinishedPage, fillPage, fromPage } from '#apis/pay/fill-built-page.ts';
import { createSolvencyReader, type NetworkSolvency, type Solvency } from '#apis/pay/solvency.ts';
import { escapeHtml } from '#core/escape-html.ts';
import { usdcText } from '#core/sums.ts';

import type { PageFor } from '#i18n/languages.ts';
import type { ApiContext } from '#payments/api-context.ts';

const NAMES = { mainnet: 'Real money', testnet: 'Test money' } as const;
const REPORTED = 'Reported by this server. Your browser has not checked it against the chain.';
const NOT_REPORTED = 'The chain did not answer this server just now.';

function sum(id: string, name: string, atoms: number | null): string {
  const sum = atoms === null ? '?' : `${usdcText(BigInt(atoms), 'en')}`;
  return `<div class="row"><dt>${name}</dt><dd data-sum="${id}" translate="no">${sum}</dd></div>`;
}

function fact(name: string, value: string): string {
  const code = `<code translate="no">${escapeHtml(value)}</code>`;
  return `<div class="row"><dt>${name}</dt><dd>${code}</dd></div>`;
}

/**
 * Returns the contract's ID on the page: the network's name for its current contract, and a number
 * after it for earlier ones.
 */
function idOf(one: NetworkSolvency, index: number): string {
  return index === 0 ? one.network : `${one.network}-${index}`;
}

function section(one: NetworkSolvency, index: number, node: string | null): string {
  const id = idOf(one, index);
  const name = index === 0 ? NAMES[one.network] : `${NAMES[one.network]}, a former contract`;
  const asks = node === null ? '' : ` data-node="${escapeHtml(node)}"`;
  return `<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${name}</h2>
<dl>
${sum('held', 'Held by the contract', one.held)}
${sum('owed', 'Owed to merchants', one.owed_to_merchants)}
${sum('fees', 'Fees, not collected yet', one.fees)}
${sum('surplus', 'Left over (sent without a payment)', one.surplus)}
</dl>
<p class="verdict plain" role="status"${asks}>${one.held === null ? NOT_REPORTED : REPORTED}</p>
<details>
<summary>On-chain details</summary>
<dl>
${fact('Settlement contract', one.settlement)}
${fact('USDC', one.usdc)}
${fact('Chain', String(one.chain_id))}
${one.rpc_url === null ? '' : fact('Node', one.rpc_url)}
</dl>
</details>
</section>`;
}

/** Returns the contract's index among those of its network; the current one has 0. */
function placeIn({ networks }: Solvency, one: NetworkSolvency): number {
  return networks.filter(({ network }) => network === one.network).indexOf(one);
}

/**
 * Renders the page so that it can be read without script. Its script queries the nodes and
 * recomputes the sums.
 */
function solvencyPage(
  solvency: Solvency,
  nodeOf: (one: NetworkSolvency) => string | null,
): FinishedPage {
  const body = `<main>
<h1>Is all the money there?</h1>
<p>The settlement contract holds what merchants have sold and not withdrawn yet. This page adds up
what it owes, and compares the sum with what the USDC contract says it holds.</p>
${solvency.networks.map((one) => section(one, placeIn(solvency, one), nodeOf(one))).join('\n')}
</main>
<script type="application/json" id="solvency">${dataOf(solvency)}</script>`;
  return { title: 'Is all the money there? · Tapline', body };
}

/**
 * Serves `/solvency`, a public page with the holdings and debts of each network's contracts, and
 * `/solvency.json`, the same data for programs.
 */
export function createSolvencyGate(ctx: ApiContext) {
  const read = createSolvencyReader(ctx);
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    pageFor: PageFor,
  ): Promise<FastifyReply> => {
    reply.header('Cache-Control', 'no-store');
    const solvency = await read();
    if (request.routeOptions.url?.endsWith('.json') === true) {
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(solvency));
    }
    const webUrl = ctx.pages.webUrl();
    const page = solvencyPage(solvency, (one) => fromPage(one.rpc_url, webUrl));
    return reply.type('text/html; charset=utf-8').send(fillPage(pageFor(null).html, page));
  };
}
