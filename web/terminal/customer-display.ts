import type { FeeRates } from '#core/charges.ts';
import { linePrice, type SaleLines, salePrice } from '#prices/sale-lines.ts';
import type { Intent } from '../data/device-api.ts';
import { writeRequest } from '../data/offline-request.ts';
import type { SaleTotal } from '../ui/paid-total.ts';
import type { Quoted } from '../ui/quoted-price.ts';
import { dueFor } from '../ui/sale-total.tsx';
import { saleOf } from './cart.ts';
import type { HeldSale } from './offline/held-sales.ts';
import { requestTotal, slipTotal } from './offline/offline-total.ts';
import { tipPercentages } from './till-machine.ts';
import type { Outcome, Till } from './till-phases.ts';

/**
 * The content of the customer display. The window has no device key and sends no requests: it
 * receives everything from the till through a BroadcastChannel, which only windows of this origin
 * in this browser can read. It sends back only the customer's tip.
 */
export type Shown =
  | { readonly at: 'idle' }
  /** The cart while it grows, or the sum that is being charged. */
  | ({ readonly at: 'cart' } & Ringing)
  | {
      readonly at: 'tip';
      /**
       * The intent to which the tip belongs, so that a late choice cannot apply to the next
       * customer.
       */
      readonly intent: string;
      readonly atoms: bigint;
      readonly quoted: Quoted | null;
      readonly percentages: readonly number[];
    }
  /** The request of an offline sale, which the customer's wallet scans. */
  | ({ readonly at: 'asking'; readonly text: string } & SaleTotal)
  /** A sale that was accepted offline, and its state since. */
  | ({ readonly at: 'accepted'; readonly is: 'waits' | 'paid' | 'bounced' } & SaleTotal)
  | ({ readonly at: 'checking' | 'confirming' } & Due)
  | ({
      readonly at: 'pay';
      readonly url: string | null;
      readonly isDeclined: boolean;
    } & Due)
  | ({
      readonly at: 'result';
      readonly outcome: Outcome;
      /** The address of the receipt; `null` until the till knows it. */
      readonly receipt: string | null;
    } & Due);

/** A sale before it is charged. Sums are in minor units of `currency`, or in atoms if `null`. */
export interface Ringing {
  readonly currency: string | null;
  readonly lines: readonly {
    /** Its place in the cart. */
    readonly at: number;
    readonly name: string;
    readonly quantity: number | string;
    readonly price: bigint;
  }[];
  readonly discount: bigint;
  /** Tax on top of the prices. */
  readonly tax: bigint;
  /** What the shop gets, without the service fee. */
  readonly sum: bigint;
}

/** What the customer pays, with the tip. */
export interface Due extends SaleTotal {
  readonly tip: bigint;
}

export interface DisplayState {
  readonly merchant: string;
  /** The path of a style sheet with the shop's logo and color; `null` if it has neither. */
  readonly brand: string | null;
  readonly isOffline: boolean;
  readonly shown: Shown;
}

/**
 * Messages between windows: a display asks for the state, and a till sends it and announces when it
 * closes.
 */
export type DisplayMessage =
  | { readonly type: 'hello' }
  | { readonly type: 'state'; readonly state: DisplayState }
  | { readonly type: 'bye' }
  /** The tip that the customer chose, the only message that a display sends about a payment. */
  | { readonly type: 'tip'; readonly intent: string; readonly tip: bigint };

/** True if the till, which currently shows `shown`, accepts the customer's choice. */
export function takesTip(shown: Shown, { intent, tip }: { intent: string; tip: bigint }): boolean {
  return shown.at === 'tip' && shown.intent === intent && tip >= 0n && tip <= shown.atoms;
}

/**
 * Opens the channel between till and display.
 * @returns `null` if the browser lacks BroadcastChannel.
 */
export function openChannel(): BroadcastChannel | null {
  return typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('tapline display');
}

interface Known {
  readonly rates: FeeRates | null;
  /** The till's offline sales. */
  readonly sales: readonly HeldSale[];
  /** The address of the receipt of the result. */
  readonly receipt: string | null;
}

export function shownOf(
  { phase, cart }: Pick<Till, 'phase' | 'cart'>,
  { rates, sales, receipt }: Known,
): Shown {
  switch (phase.at) {
    case 'keypad':
      if (cart === null) return { at: 'idle' };
      return { at: 'cart', ...ringing(saleOf(cart), cart.currency) };
    case 'creating': {
      const { lines, amount, currency } = phase.create;
      const sale = lines ?? { lineItems: [], discount: 0 };
      return { at: 'cart', ...ringing(sale, currency), sum: amount };
    }
    case 'canceling':
      return { at: 'idle' };
    case 'accepted': {
      const { slip } = phase;
      const state = sales.find(({ nonce }) => nonce === slip.nonce)?.state.is;
      const isPaid = state === 'succeeded' || state === 'paid_online';
      const is = isPaid ? 'paid' : state === 'bounced' ? 'bounced' : 'waits';
      return { at: 'accepted', is, ...slipTotal(slip) };
    }
    case 'asking': {
      const { request } = phase;
      return { at: 'asking', text: writeRequest(request), ...requestTotal(request) };
    }
    case 'open': {
      const { intent, tip, declined: isDeclined } = phase;
      const percentages = tipPercentages(intent);
      if (tip === null && percentages !== null) {
        const { id, amount, presentment: quoted } = intent;
        return { at: 'tip', intent: id, atoms: BigInt(amount), quoted, percentages };
      }
      return { at: 'pay', ...dueOf(intent, tip, rates), url: intent.payment_url, isDeclined };
    }
    case 'tapping':
      return { at: 'checking', ...dueOf(phase.intent, phase.tap.tip, rates) };
    case 'following': {
      const asks = phase.intent.status === 'requires_action';
      return { at: asks ? 'confirming' : 'checking', ...dueOf(phase.intent, phase.tip, rates) };
    }
    case 'result': {
      const { intent, outcome } = phase;
      const due = dueOf(intent, BigInt(intent.tip ?? 0), rates);
      return { at: 'result', ...due, outcome, receipt };
    }
  }
}

function ringing(sale: SaleLines, currency: string | null): Ringing {
  const { lineItems, discount } = sale;
  const lines = lineItems.map((line, at) => {
    const { name, quantity } = line;
    return { at, name, quantity, price: linePrice(line) };
  });
  const net = lines.reduce((all, { price }) => all + price, 0n) - BigInt(discount);
  const sum = salePrice(sale);
  return { currency, lines, discount: BigInt(discount), tax: sum - net, sum };
}

function dueOf(intent: Intent, given: bigint | null, rates: FeeRates | null): Due {
  const tip = given ?? 0n;
  return { ...dueFor(intent, tip, rates), tip };
}
