import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import { assert, present } from '#core/assert.ts';
import { addSeconds } from '#core/clock.ts';
import { type IdKey, newId, numberedId, offlineOrderId } from '#core/ids.ts';
import { atoms } from '#core/money.ts';
import type { Stamp } from '#db/commit-order.ts';
import type { ChipRow } from '#payers/chip-queries.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import { newIntent, type OpenIntent, type PaymentIntent } from '#payments/intent-rows.ts';
import type { RebuiltSale } from '#payments/offline/offline-queries.ts';
import type { BounceReason } from '#payments/offline/offline-states.ts';
import type { OfflineQuote, PresentmentProblem } from '#payments/offline/presentment-terms.ts';
import { type ChainVerdict, countedAt, type Signed } from '#payments/offline/signed-sale.ts';
import type { SaleLines } from '#prices/sale-lines.ts';
import type { DrawnNumber } from '#settlement/settlement-numbers.ts';

/** A verified sale that had no row when it arrived, with the chain's verdict. */
export interface Arrived extends Signed {
  readonly acceptedAt: Date;
  readonly description: string | null;
  readonly lines: SaleLines | null;
  /** The person who was signed in at the till; `null` if there was none that the account knows. */
  readonly cashier: string | null;
  /** The price in the shop's currency; `null` for a sale in USDC. */
  readonly quote: OfflineQuote | null;
  readonly presentmentProblem: PresentmentProblem | null;
  /** ID of the intent that this sale replaces; `null` if there is none. */
  readonly replaces: string | null;
  /**
   * The bounce reason that follows from the record and the rates alone; `null` if there is none.
   */
  readonly termsProblem: BounceReason | null;
  readonly verdict: Exclude<ChainVerdict, 'unavailable' | 'settled' | 'merchant_refused'>;
}

export interface Forwarded {
  readonly merchant: MerchantAccount;
  readonly terminalId: string;
  readonly now: Date;
  readonly arrived: readonly Arrived[];
}

/** An arrived sale, with the intent that it gets if it is accepted. */
export interface Candidate {
  /** The sale's index among the arrived sales. */
  readonly index: number;
  readonly sale: Arrived;
  readonly intent: OpenIntent;
  readonly payer: PayerRow;
  /** The owner's settings for the payer's address, if it is a registered chip; otherwise `null`. */
  readonly chip: ChipRow | null;
  readonly offlineId: string;
  /** The time that decides on which day the sale counts. */
  readonly countedAt: Date;
  /**
   * The payment of this sale, if the database lost it and it was rebuilt from the chain; otherwise
   * `null`.
   */
  readonly rebuilt: RebuiltSale | null;
  /** The locked intent that the sale replaces; `null` if the account knows none. */
  readonly replaced: PaymentIntent | null;
}

/** Maximum number of order IDs that are tried per sale. Even one clash is very unlikely. */
const MAX_CLASHES = 8;

/** Returns the order IDs that a sale may get, in the order in which they are tried. */
export function orderIdsOf(
  idKey: IdKey,
  { merchant: { tenant } }: Pick<Forwarded, 'merchant'>,
  { authorization: { from, nonce } }: Signed,
): string[] {
  return Array.from({ length: MAX_CLASHES }, (_, clash) =>
    offlineOrderId(idKey, { tenant, from, nonce }, clash),
  );
}

/** The rows from which candidates are built, read while holding the locks of the payers. */
export interface ReadSales {
  readonly sales: readonly (readonly [index: number, sale: Arrived])[];
  readonly drawn: readonly DrawnNumber[];
  /** Possible order IDs of the sales that other intents already have. */
  readonly taken: ReadonlySet<string>;
  readonly rebuilt: readonly RebuiltSale[];
  readonly payers: ReadonlyMap<string, PayerRow>;
  readonly chips: readonly ChipRow[];
  /** The intents that the sales replace, locked, by ID. */
  readonly replaced: ReadonlyMap<string, PaymentIntent>;
  readonly stamp: Stamp;
  /** The till's location; `null` if it has none. */
  readonly locationId: string | null;
}

/** Builds a candidate from each sale: with an intent whose order ID is not in use. */
export function candidatesOf(idKey: IdKey, forwarded: Forwarded, state: ReadSales): Candidate[] {
  const { livemode } = forwarded.merchant.tenant;
  const { stamp, locationId } = state;
  const taken = new Set(state.taken);
  return state.sales.map(([index, sale]) => {
    const { from } = sale.authorization;
    const possible = orderIdsOf(idKey, forwarded, sale);
    const orderId = possible.find((one) => !taken.has(one));
    assert(orderId !== undefined, 'all order ids of an offline sale are in use');
    taken.add(orderId);
    const drawn = present(state.drawn[index], 'drawn number');
    const offlineId = newId('offlinePayment', forwarded.now);
    const chip = state.chips.find((row) => row.livemode === livemode && row.address === from);
    const rebuilt = state.rebuilt.find(
      (one) =>
        possible.includes(one.order_id) &&
        one.payer_address === from &&
        one.amount === sale.sale.amount,
    );
    return {
      index,
      sale,
      intent: intentOf(idKey, forwarded, { sale, drawn, orderId, offlineId, stamp, locationId }),
      payer: present(state.payers.get(from), 'payer of an offline sale'),
      chip: chip ?? null,
      offlineId,
      countedAt: countedAt(sale.acceptedAt, addSeconds(forwarded.now, stamp.aheadSeconds)),
      rebuilt: rebuilt ?? null,
      replaced: state.replaced.get(sale.replaces ?? '') ?? null,
    };
  });
}

/** A till's default. It has no effect, because the intent of an offline sale is never open. */
const EXPIRES_IN_SECONDS = 120;

/** Returns a sale's intent before its payment. The writer assigns its position. */
function intentOf(
  idKey: IdKey,
  { merchant, terminalId }: Forwarded,
  made: {
    readonly sale: Arrived;
    readonly drawn: DrawnNumber;
    readonly orderId: string;
    readonly offlineId: string;
    readonly stamp: Stamp;
    readonly locationId: string | null;
  },
): OpenIntent {
  const { sale, drawn, orderId, offlineId, stamp, locationId } = made;
  const { created, aheadSeconds } = stamp;
  return newIntent({
    id: numberedId(idKey, 'paymentIntent', drawn),
    settlement_number: drawn.number,
    account_id: merchant.tenant.accountId,
    livemode: merchant.tenant.livemode,
    position: 0n,
    created,
    ahead_seconds: BigInt(aheadSeconds),
    amount: atoms(sale.sale.amount),
    presentment: sale.quote,
    lines: sale.lines,
    terminal_id: terminalId,
    location_id: locationId,
    order_id: orderId,
    description: sale.description,
    source: 'terminal',
    cashier_id: sale.cashier,
    offline: { id: offlineId, acceptedAt: sale.acceptedAt.toISOString() },
    expires_at: addSeconds(created, EXPIRES_IN_SECONDS - aheadSeconds),
    picked_up_at: created,
  });
}
