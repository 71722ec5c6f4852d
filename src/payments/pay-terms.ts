import { randomBytes } from 'node:crypto';
import { isRefusal, type Refusal } from '#core/answer.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { serviceUnavailable } from '#payments/ask-chain-before-locking.ts';
import { findPayLink, type PayLink, payLinkMissing, withTip } from '#payments/pay-link.ts';
import { addPayTerms, type PayTerms } from '#payments/pay-link-queries.ts';
import { ratesOf, termsAfter } from '#payments/pay-message.ts';
import { readFeeRates, sameRates } from '#settlement/chain/fees/fee-rates.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { contractOf } from '#settlement/contract-versions.ts';

/**
 * Returns a link with its current terms. Refuses with `service_unavailable` if no node returns the
 * fee rates.
 */
export async function openPayLink(
  ctx: ApiContext,
  input: {
    readonly token: string;
    /** The paying wallet; `null` if the customer has not chosen one. */
    readonly address: Hex | null;
    readonly tipAmount: number | undefined;
  },
): Promise<{ readonly link: PayLink; readonly terms: PayTerms } | Refusal> {
  const payLink = await findPayLink(ctx, input);
  return payLink === null ? payLinkMissing() : openLink(ctx, payLink, input);
}

/** Like {@link openPayLink}, for a link that was already read for `input.address`. */
export async function openLink(
  ctx: ApiContext,
  payLink: PayLink,
  input: { readonly address: Hex | null; readonly tipAmount: number | undefined },
): Promise<{ readonly link: PayLink; readonly terms: PayTerms } | Refusal> {
  const link = withTip(payLink, input.tipAmount);
  if (isRefusal(link)) return link;
  try {
    const terms = await presentTerms(ctx, link);
    // The message to sign contains the token's name, so it cannot be built without one.
    const isNamed = link.chain.config.token.domainProblem === null;
    if (link.closed === null && !isNamed) return serviceUnavailable();
    return { link, terms: termsAfter(terms, { address: input.address, answers: link.answers }) };
  } catch (error) {
    if (error instanceof RpcUnavailable) return serviceUnavailable();
    throw error;
  }
}

/**
 * Returns the terms that wallets sign now. They are the same for all callers until they expire or
 * the fee rates change. A closed link shows its last terms.
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
  const until = Math.ceil(intent.expires_at.getTime() / 1000) + ctx.settings.settleWithinS;
  if (closed !== null) return { salt: NO_SALT, valid_before: until, ...rates };
  // Advancing a test clock makes `until` earlier. Terms that are valid for longer stay valid.
  const isGood = last !== undefined && last.valid_before >= until;
  if (isGood && sameRates(ratesOf(last), rates)) return last;
  const salt: Hex = `0x${randomBytes(32).toString('hex')}`;
  const added: PayTerms = { salt, valid_before: until, ...rates };
  const written = await addPayTerms(ctx.db, { intentId: intent.id, seen: terms, added });
  return written.at(-1) ?? added;
}

/** Placeholder salt for a link that nobody has opened while it could be paid. */
const NO_SALT: Hex = `0x${'0'.repeat(64)}`;

/** Time for which a chain's fee rates are cached. */
const RATES_MS = 1_000;
