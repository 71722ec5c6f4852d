import type { SaleLines } from '#prices/sale-lines.ts';
import type { Hex } from '../../data/bytes.ts';
import type { Forwarded, OfflineRecord } from '../../data/forward-offline-payments.ts';
import { lineFields } from '../../data/sale-line-fields.ts';
import type { Create, LeftOpen, SalePrice, Slip } from '../till-phases.ts';

/**
 * A sale that the till has accepted offline. Sums are in atoms and small enough for JSON numbers.
 */
export interface HeldSale {
  /** Identifies the sale, together with the network and `from`. */
  readonly nonce: Hex;
  readonly from: Hex;
  readonly amount: number;
  readonly value: number;
  /** Unix seconds. */
  readonly validBefore: number;
  readonly salt: Hex;
  /** `null` once the sale is final, because the signature is no longer needed. */
  readonly signature: Hex | null;
  /** ISO 8601. */
  readonly acceptedAt: string;
  readonly lineItems: SaleLines['lineItems'] | null;
  /** The discount on the whole cart. Absent, like the cashier, in sales of an earlier version. */
  readonly discount?: OfflineRecord['discount'];
  readonly discount_name?: string;
  /** The id of the person who was signed in; `null` if there was none. */
  readonly cashier?: string | null;
  /** The price in the shop's currency. Absent in sales stored by an earlier version. */
  readonly presentment?: SalePrice | null;
  /**
   * The online payment for the same cart that was left open. Absent in sales stored by an earlier
   * version.
   */
  readonly replaces?: Replaced | null;
  readonly state: SaleState;
}

/** {@link LeftOpen} as stored: JSON has no bigint, so the amount is text. */
export type Replaced =
  | { readonly id: string }
  | { readonly create: Omit<Create, 'amount'> & { readonly amount: string } };

export function toReplaced(left: LeftOpen): Replaced {
  return 'id' in left ? left : { create: { ...left.create, amount: `${left.create.amount}` } };
}

/**
 * The status of a sale. `waits`: not forwarded yet. `processing`: the service has it, and the chain
 * has not decided. `unread`: the service did not accept the record, so the till keeps it and sends
 * it again later. `paid_online`: the customer has paid the online payment that the sale replaces,
 * so the sale is never sent.
 */
export type SaleState =
  | { readonly is: 'waits' | 'paid_online' }
  | {
      readonly is: 'processing' | 'succeeded';
      readonly id: string;
      /** The payment. Absent until the sale is paid, and in sales stored by an earlier version. */
      readonly payment?: string | null;
    }
  | {
      readonly is: 'bounced';
      readonly id: string;
      readonly reason: string;
      /** True once a cashier has seen the bounce. */
      readonly isSeen: boolean;
    }
  | { readonly is: 'unread'; readonly code: string; readonly message: string };

/** True if the status of the sale can no longer change. */
export function isFinal({ state }: HeldSale): boolean {
  return state.is === 'succeeded' || state.is === 'bounced' || state.is === 'paid_online';
}

/** The number of sales that are not final. */
export function waitingCount(sales: readonly HeldSale[]): number {
  return sales.filter((sale) => !isFinal(sale)).length;
}

/** The sales that the till must forward, oldest first. */
export function toForward(sales: readonly HeldSale[]): readonly HeldSale[] {
  return sales.filter((sale) => !isFinal(sale) && sale.signature !== null);
}

/** Writes a sale in the form that the service accepts. */
export function recordOf(sale: HeldSale): OfflineRecord {
  return {
    authorization: {
      from: sale.from,
      value: sale.value,
      valid_after: 0,
      valid_before: sale.validBefore,
      nonce: sale.nonce,
      signature: sale.signature ?? '0x',
    },
    amount: sale.amount,
    salt: sale.salt,
    accepted_at: sale.acceptedAt,
    ...priceOf(sale),
    ...linesIn(sale),
    ...(sale.cashier == null ? {} : { cashier: sale.cashier }),
    ...(sale.replaces != null && 'id' in sale.replaces ? { replaces: sale.replaces.id } : {}),
  };
}

function linesIn({ lineItems, discount, discount_name }: HeldSale) {
  if (lineItems === null) return {};
  return {
    line_items: lineFields(lineItems),
    ...(discount === undefined ? {} : { discount }),
    ...(discount_name === undefined ? {} : { discount_name }),
  };
}

function priceOf({ presentment = null }: HeldSale): Pick<OfflineRecord, 'presentment'> {
  if (presentment === null) return {};
  return { presentment: { terms: presentment.terms, amount: presentment.amount } };
}

/** The service's code for a record that it cannot decide yet. */
const UNDECIDED = 'payment_intent_unexpected_state';

function stateAfter(sale: HeldSale, told: Forwarded): SaleState {
  // The payment that the sale replaces is still `processing`.
  if (told.object === 'error' && told.code === UNDECIDED) return { is: 'waits' };
  if (told.object === 'error') return { is: 'unread', code: told.code, message: told.message };
  const { id, status, bounce_reason: reason } = told;
  if (status === 'succeeded') return { is: 'succeeded', id, payment: told.payment };
  if (status !== 'bounced') return { is: 'processing', id };
  if (reason === 'already_paid') return { is: 'paid_online' };
  const isSeen = sale.state.is === 'bounced' && sale.state.isSeen;
  return { is: 'bounced', id, reason: reason ?? '', isSeen };
}

/** A final sale no longer needs its signature. */
export function inState(sale: HeldSale, state: SaleState): HeldSale {
  const changed: HeldSale = { ...sale, state };
  return isFinal(changed) ? { ...changed, signature: null } : changed;
}

/**
 * Returns the sales that a response changes. Each element belongs to the record at its index. An
 * element with another nonce changes nothing, so that a wrong response loses no sale.
 */
export function afterAnswer(
  sent: readonly HeldSale[],
  answer: readonly Forwarded[],
): readonly HeldSale[] {
  return sent.flatMap((sale, at) => {
    const told = answer[at];
    if (told === undefined || told.nonce.toLowerCase() !== sale.nonce || isFinal(sale)) return [];
    return [inState(sale, stateAfter(sale, told))];
  });
}

/** Returns the held sale that the parameter of a refusal names, such as `payments[3].amount`. */
export function refusedRecord(sent: readonly HeldSale[], param: string | null): HeldSale | null {
  const [, index] = /^payments\[(\d+)\]/.exec(param ?? '') ?? [];
  return index === undefined ? null : (sent[Number(index)] ?? null);
}

/**
 * Time for which a final sale stays in the history and counts toward the limit per card and day.
 */
const KEPT_MS = 7 * 24 * 3_600_000;

/** True if a final sale is old enough to be deleted. */
export function isOver(sale: HeldSale, now: number): boolean {
  const { state, acceptedAt } = sale;
  // A bounced sale is kept until a cashier has seen it.
  if (!isFinal(sale) || (state.is === 'bounced' && !state.isSeen)) return false;
  return Date.parse(acceptedAt) < now - KEPT_MS;
}

/** Returns the slip of a sale. Its code is the beginning of the nonce. */
export function slipOf({ nonce, amount, value, acceptedAt, presentment = null }: HeldSale): Slip {
  const digits = nonce.slice(2, 10).toUpperCase();
  const code = `${digits.slice(0, 4)}-${digits.slice(4)}`;
  const price = presentment && { ...presentment, units: BigInt(presentment.amount) };
  return { nonce, code, amount: BigInt(amount), paid: BigInt(value), price, acceptedAt };
}
