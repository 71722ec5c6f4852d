import { randomBytes } from 'node:crypto';
import { isRefusal, type Refusal } from '#core/answer.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { serviceUnavailable } from '#payments/check-on-chain.ts';
import { findPayLink, type PayLink, payLinkMissing, withTip } from '#payments/pay-link.ts';
import { addPayTerms, type PayTerms } from '#payments/pay-link-queries.ts';
import { ratesOf, termsAfter } from '#payments/pay-message.ts';
import { readFeeRates, sameRates } from '#settlement/chain/fee-rates.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { contractOf } from '#settlement/contract-versions.ts';

/** Opens a link with its current terms. `service_unavailable` if no node returns the rates. */
export async function openPayLink(
  ctx: ApiContext,
  asked: {
    readonly token: string;
    /** The paying wallet; `null` if not chosen yet. */
    readonly address: Hex | null;
    readonly tipAmount: number | undefined;
  },
): Promise<{ readonly link: PayLink; readonly terms: PayTerms } | Refusal> {
  const found = await findPayLink(ctx, asked);
  return found === null ? payLinkMissing() : openLink(ctx, found, asked);
}

/** Does the same as {@link openPayLink} for a link that was already read for `asked.address`. */
export async function openLink(
  ctx: ApiContext,
  found: PayLink,
  asked: { readonly address: Hex | null; readonly tipAmount: number | undefined },
): Promise<{ readonly link: PayLink; readonly terms: PayTerms } | Refusal> {
  const link = withTip(found, asked.tipAmount);
  if (isRefusal(link)) return link;
  try {
    const terms = await presentTerms(ctx, link);
    // Without the token's name, no valid message can be built.
    const isNamed = link.chain.config.token.domainProblem === null;
    if (link.closed === null && !isNamed) return serviceUnavailable();
    return { link, terms: termsAfter(terms, { address: asked.address, answers: link.answers }) };
  } catch (error) {
    if (error instanceof RpcUnavailable) return serviceUnavailable();
    throw error;
  }
}

/**
 * Returns the terms that wallets sign now. They are the same for every caller until the rates
 * change, because the server chooses the salt. A closed link shows its last terms.
 */
async function presentTerms(
  ctx: ApiContext,
  { intent, terms, chain, closed, merchant }: PayLink,
): Promise<PayTerms> {
  const last = terms.at(-1);
  if (closed !== null && last !== undefined) return last;
  const settlement = contractOf(chain.config, merchant.merchantNumber ?? 0n);
  const read = () => readFeeRates(chain, settlement);
  const [rates] = await Promise.all([
    chain.remember(`fee rates of ${settlement}`, RATES_MS, read),
    chain.refreshToken(),
  ]);
  const until = Math.ceil(intent.expiresAt.getTime() / 1000) + ctx.settings.settleWithinS;
  if (closed !== null) return { salt: NO_SALT, valid_before: until, ...rates };
  // Advancing a test clock brings the end closer, but a signature with a later end stays valid.
  const isGood = last !== undefined && last.valid_before >= until;
  if (isGood && sameRates(ratesOf(last), rates)) return last;
  const salt: Hex = `0x${randomBytes(32).toString('hex')}`;
  const added: PayTerms = { salt, valid_before: until, ...rates };
  const written = await addPayTerms(ctx.db, { intentId: intent.id, seen: terms, added });
  return written.at(-1) ?? added;
}

/** Placeholder salt of a link that nobody opened while it could be paid. */
const NO_SALT: Hex = `0x${'0'.repeat(64)}`;

/** Time for which the rates of one chain are cached. */
const RATES_MS = 1_000;
