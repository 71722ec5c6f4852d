import type { SaleLines } from '#prices/sale-lines.ts';
import type { Hex } from '../../data/bytes.ts';
import type { Forwarded, OfflineRecord } from '../../data/forward-offline-payments.ts';
import type { Slip } from '../till-phases.ts';

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
  readonly state: SaleState;
}

/**
 * The status of a sale. `waits`: not forwarded yet. `processing`: the service has it, and the chain
 * has not decided. `unread`: the service did not accept the record, so the till keeps it and sends
 * it again later.
 */
export type SaleState =
  | { readonly is: 'waits' }
  | { readonly is: 'processing' | 'succeeded'; readonly id: string }
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
  return state.is === 'succeeded' || state.is === 'bounced';
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
    ...(sale.lineItems === null ? {} : { line_items: [...sale.lineItems] }),
  };
}

function stateAfter(sale: HeldSale, told: Forwarded): SaleState {
  if (told.object === 'error') return { is: 'unread', code: told.code, message: told.message };
  const { id, status, bounce_reason: reason } = told;
  if (status === 'succeeded') return { is: 'succeeded', id };
  if (status !== 'bounced') return { is: 'processing', id };
  const isSeen = sale.state.is === 'bounced' && sale.state.isSeen;
  return { is: 'bounced', id, reason: reason ?? '', isSeen };
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
    const changed: HeldSale = { ...sale, state: stateAfter(sale, told) };
    return [isFinal(changed) ? { ...changed, signature: null } : changed];
  });
}

/** Returns the held sale that the parameter of a refusal names, such as `payments[3].amount`. */
export function refusedRecord(sent: readonly HeldSale[], param: string | null): HeldSale | null {
  const [, place] = /^payments\[(\d+)\]/.exec(param ?? '') ?? [];
  return place === undefined ? null : (sent[Number(place)] ?? null);
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
export function slipOf({ nonce, amount, acceptedAt }: HeldSale): Slip {
  const digits = nonce.slice(2, 10).toUpperCase();
  return { code: `${digits.slice(0, 4)}-${digits.slice(4)}`, amount: BigInt(amount), acceptedAt };
}
