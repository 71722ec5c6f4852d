import type { CheckedPerson } from '#accounts/check-pin.ts';
import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import type { AskedTerminal } from '#accounts/shop-settings.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import { addSeconds } from '#core/clock.ts';
import { derivedOrderId, type IdKey, numberedId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { type Atoms, atoms } from '#core/money.ts';
import type { Stamp } from '#db/commit-order.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';
import { newIntent, type OpenIntent } from '#payments/intent-rows.ts';
import type { Tipping } from '#payments/payment-attempt.ts';
import {
  type AskedLines,
  type FindItem,
  readLines,
  type TaxSettings,
} from '#prices/check-asked-lines.ts';
import { type AskedPresentment, lastWorth, type Quote, quote } from '#prices/quote-price.ts';
import type { RateRow } from '#prices/rate-queries.ts';
import type { SaleLines } from '#prices/sale-lines.ts';
import type { DrawnNumber, SettlementNumbers } from '#settlement/settlement-numbers.ts';

/** The validated body of a request from a merchant's server or a till. */
export interface NewIntent {
  /** Atoms, or a price in the shop's currency. */
  readonly amount: number | AskedPresentment;
  /** The items whose prices add up to the amount; `null` if the request has none. */
  readonly lines: AskedLines | null;
  readonly tipping: Tipping | null;
  readonly terminalId: string;
  readonly orderId: string | null;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly source: 'api' | 'terminal';
  readonly splitGroup: string | null;
  /** The manager's code with which a till gives a discount; servers do not send it. */
  readonly managerCode?: string | null;
  /** The manager at the till who gives a discount, and whose PIN was right. */
  readonly manager?: CheckedPerson | null;
  /** Seconds. */
  readonly expiresIn: number;
}

export interface CreateRequest {
  readonly merchant: MerchantAccount;
  readonly idempotency: IdempotentRequest;
  readonly requestId: string;
  readonly now: Date;
  readonly input: NewIntent;
  /** The trace context of the request; `null` if it is not traced. */
  readonly traceparent?: string | null;
}

/**
 * The amount of a new intent, its lines, and the quote for the amount (`null` for a price in
 * atoms).
 */
export interface Price {
  readonly amount: Atoms;
  readonly quote: Quote | null;
  readonly lines: SaleLines | null;
}

export interface PriceContext {
  readonly rates: ReadonlyMap<string, RateRow>;
  /** Returns the tax settings at a terminal, if they were read. */
  readonly taxesAt: (of: AskedTerminal) => TaxSettings | undefined;
  /** Returns a function that finds the catalog items of a tenant, if they were read. */
  readonly itemsOf: (tenant: Tenant) => FindItem;
}

/** A placeholder, used if all lines state their taxes themselves. */
const NO_TAX_SETTINGS: TaxSettings = { tax_rates: [], prices_include_tax: true };

export function priceOf(
  { input: { amount, lines: inputLines, terminalId }, merchant, now }: CreateRequest,
  { rates, taxesAt, itemsOf }: PriceContext,
): Price | Refusal {
  const price = typeof amount === 'number' ? amount : amount.amount;
  const { accountId } = merchant.tenant;
  const settings = taxesAt({ accountId, terminalId }) ?? NO_TAX_SETTINGS;
  const context = { settings, findItem: itemsOf(merchant.tenant) };
  const lines = inputLines === null ? null : readLines(inputLines, context, price);
  if (isRefusal(lines)) return lines;
  if (typeof amount === 'number') return { amount: atoms(amount), quote: null, lines };
  const quoted = quote(amount, rates, now);
  return isRefusal(quoted) ? quoted : { ...quoted, lines };
}

/**
 * Returns the estimated amount of a new intent in atoms, which identifies a rebuilt one; `null` if
 * no rate is known.
 */
export function worthOf(
  { input: { amount } }: CreateRequest,
  { rates }: PriceContext,
): bigint | null {
  return typeof amount === 'number' ? BigInt(amount) : lastWorth(amount, rates);
}

/** Positions in the account's order: one for the intent and one for its event. */
export const PLACES_PER_CREATE = 2;

export interface IntentIds {
  readonly idKey: IdKey;
  readonly numbers: SettlementNumbers;
}

/**
 * Returns the request's order ID, or one derived from its Idempotency-Key. A request that is
 * repeated after a data loss gets the same derived ID.
 */
export function orderIdOf(idKey: IdKey, { input, idempotency }: CreateRequest, clash = 0): string {
  return input.orderId ?? derivedOrderId(idKey, idempotency, clash);
}

/** Builds the intent that a request creates, at the time in `position`. */
export function toNewIntent(
  idKey: IdKey,
  { merchant, input, traceparent = null }: CreateRequest,
  position: Pick<Stamp, 'created' | 'aheadSeconds'> & {
    readonly position: bigint;
    readonly drawn: DrawnNumber;
    readonly orderId: string;
    readonly price: Price;
    /** The terminal's. */
    readonly locationId: string | null;
    readonly cashierId: string | null;
  },
): OpenIntent {
  const { drawn, price, created, aheadSeconds } = position;
  return newIntent({
    id: numberedId(idKey, 'paymentIntent', drawn),
    settlement_number: drawn.number,
    account_id: merchant.tenant.accountId,
    livemode: merchant.tenant.livemode,
    position: position.position,
    created,
    ahead_seconds: BigInt(aheadSeconds),
    amount: price.amount,
    presentment: price.quote,
    lines: price.lines,
    tipping: input.tipping,
    terminal_id: input.terminalId,
    location_id: position.locationId,
    order_id: position.orderId,
    description: input.description,
    metadata: input.metadata,
    source: input.source,
    split_group: input.splitGroup,
    cashier_id: position.cashierId,
    expires_at: addSeconds(created, input.expiresIn - aheadSeconds),
    picked_up_at: input.source === 'terminal' ? created : null,
    traceparent,
  });
}
