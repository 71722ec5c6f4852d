import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import { type IdKey, numberedId, numberOfId } from '#core/ids.ts';
import { tenantOf } from '#core/mode.ts';
import { type Atoms, atoms } from '#core/money.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectIntents } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { type PayLinkRow, type PayTerms, selectPayLink } from '#payments/pay-link-queries.ts';
import { asOf } from '#payments/payment-intent.ts';
import { checkTip } from '#payments/tip-limits.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Hex } from '#settlement/chain-requests.ts';

export interface PayLink {
  /** The intent in its current state. */
  readonly intent: PaymentIntent;
  readonly number: bigint;
  /** The customer's tip; `null` if the customer has not chosen one. */
  readonly tip: Atoms | null;
  readonly chain: Chain;
  /** True if the wallet signs the order ID, as with a pay link; false for a static tag. */
  readonly bindsOrder: boolean;
  readonly merchant: MerchantAccount;
  /** The terms, oldest first. */
  readonly terms: readonly PayTerms[];
  /** Number of responses to authorizations by the requesting wallet; each changes the salt. */
  readonly answers: number;
  /** The fees of the intent's payment; `null` until it is paid. */
  readonly fees: PayLinkRow['fees'];
  /** The reason why the link cannot be paid now; `null` if it can. */
  readonly closed: Refusal | null;
}

/**
 * Returns the token of an intent's pay link; `null` for intents of an earlier release. The token is
 * derived from the same number as the intent's ID, so it is not stored.
 */
export function payToken(
  idKey: IdKey,
  intent: { readonly id: string; readonly livemode: boolean },
): string | null {
  const { livemode } = intent;
  const number = numberOfId(idKey, 'paymentIntent', intent);
  return number === null ? null : numberedId(idKey, 'payLink', { livemode, number });
}

/**
 * Returns the ID of the intent to which a valid token belongs, without checking that the intent
 * exists; `null` if the token is invalid.
 */
export function intentOfToken(idKey: IdKey, token: string): string | null {
  for (const livemode of [false, true]) {
    const number = numberOfId(idKey, 'payLink', { livemode, id: token });
    if (number !== null) return numberedId(idKey, 'paymentIntent', { livemode, number });
  }
  return null;
}

export function payLinkMissing(): Refusal {
  return refuse('resource_missing', 'There is no such pay link.', 'token');
}

/**
 * Finds a link, with the terms for the wallet `address`; `null` for the public view. @returns
 * `null` if there is no such link.
 */
export async function findPayLink(
  ctx: ApiContext,
  { token, address }: { readonly token: string; readonly address: Hex | null },
): Promise<PayLink | null> {
  for (const livemode of [false, true]) {
    const number = numberOfId(ctx.keys.id, 'payLink', { livemode, id: token });
    const chain = ctx.chains.find(({ config }) => config.livemode === livemode);
    if (number === null || chain === undefined) continue;
    return readPayLink(ctx, { number, chain, address, bindsOrder: true });
  }
  return null;
}

/** Reads the pay link of the intent with this settlement number. */
export async function readPayLink(
  ctx: ApiContext,
  filter: {
    readonly number: bigint;
    readonly chain: Chain;
    readonly address: Hex | null;
    readonly bindsOrder: boolean;
  },
): Promise<PayLink | null> {
  const { number, chain, address, bindsOrder } = filter;
  const { livemode } = chain.config;
  const id = numberedId(ctx.keys.id, 'paymentIntent', { livemode, number });
  const [[stored], row] = await Promise.all([
    selectIntents(ctx.db, [id]),
    selectPayLink(ctx.db, { intentId: id, address }),
  ]);
  if (stored === undefined || row === undefined) return null;
  const intent = asOf(stored, ctx.clock.now());
  const { merchant_number: merchantNumber, merchant_name: name } = row;
  const kybApproved = row.kyb_status === 'approved';
  return {
    intent,
    number,
    tip: null,
    chain,
    bindsOrder,
    merchant: { tenant: tenantOf(intent), name, kybApproved, merchantNumber, keyHash: null },
    terms: row.terms,
    answers: row.answers,
    fees: row.fees,
    closed: whyClosed(intent, row),
  };
}

function whyClosed({ status }: PaymentIntent, row: PayLinkRow): Refusal | null {
  if (status !== 'requires_payment_method') {
    return refuse(
      'payment_intent_unexpected_state',
      `This payment is ${status} and cannot be paid with this link.`,
    );
  }
  if (row.account_status !== 'active' || row.merchant_number === null) {
    return refuse('account_not_live', 'The merchant cannot take payments right now.');
  }
  if (row.terminal_status === 'active') return null;
  return refuse('terminal_inactive', 'The terminal of this payment is inactive.');
}

/** Refuses a tip that is not allowed. */
export function withTip(link: PayLink, tipAmount: number | undefined): PayLink | Refusal {
  const tip = tipAmount === undefined ? null : atoms(tipAmount);
  return checkTip(link.intent, tip) ?? { ...link, tip };
}
