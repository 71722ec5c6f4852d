import type { CountedPrice } from '#core/offline-sums.ts';
import type { SaleLines } from '#prices/sale-lines.ts';
import type { ChipSignature, Credential, Intent } from '../data/device-api.ts';
import type { OfflineRequest } from '../data/offline-request.ts';
import type { Price } from '../ui/format-price.ts';
import type { Cart } from './cart.ts';
import type { SealedText } from './sealed-storage.ts';
import type { Split } from './split-bill.ts';

/** A request to open a payment. Every retry uses the same key. */
export interface Create {
  readonly key: string;
  readonly amount: bigint;
  /** The currency whose minor units the amount counts; `null` for atoms of USDC. */
  readonly currency: string | null;
  /** The lines of a cart, or a typed sum as a line; `null` for a sum without a tax rate. */
  readonly lines: SaleLines | null;
  readonly splitGroup: string | null;
  readonly tipping: readonly number[] | null;
  /** Name of the cashier, or `null` if none was entered. */
  readonly cashier: string | null;
  /** A manager's code for a discount. Absent in tills stored by an earlier version. */
  readonly managerCode?: string | null;
  /** True if a manager at the till allows the discount. The PIN is never stored. */
  readonly byManager?: boolean;
}

/** A presented pass, stored until its result is known. */
export type Tap = {
  readonly key: string;
  readonly tip: bigint | null;
} & ({ readonly credential: Credential } | { readonly signed: ChipSignature });

/** A failure without a charge. */
export interface Remark {
  readonly kind: 'not_sent' | 'refused' | 'needs_manager' | 'code_invalid';
  /** The service's own message, if it sent one, or the reason why the till cannot sell offline. */
  readonly message: string | null;
}

/**
 * An online payment that was left open and may still be paid: its intent or, if no response to the
 * request to open it arrived, that request.
 */
export type LeftOpen = { readonly id: string } | { readonly create: Create };

interface Timed {
  /** The start of this phase. Responses to requests sent earlier say nothing about it. */
  readonly since: number;
}

export interface Keypad extends Timed {
  readonly at: 'keypad';
  readonly remark: Remark | null;
}

/** The till has asked the service to open a payment. No pass can be charged yet. */
export interface Creating extends Timed {
  readonly at: 'creating';
  readonly create: Create;
  readonly sends: number;
}

/** A pass may be presented, or the payment canceled. */
export interface Open extends Timed {
  readonly at: 'open';
  readonly intent: Intent;
  /** The tip; `null` if the payment takes tips and the customer has not answered yet. */
  readonly tip: bigint | null;
  /** True if the previous pass was declined. */
  readonly declined: boolean;
  readonly remark: Remark | null;
}

/**
 * A tap was sent, or may have been sent. Only its response or the end of the intent ends this
 * phase.
 */
export interface Tapping extends Timed {
  readonly at: 'tapping';
  readonly intent: Intent;
  readonly tap: Tap;
  readonly sends: number;
}

/**
 * The service is processing a tap. The payment can be canceled only while the payer is asked to
 * confirm.
 */
export interface Following extends Timed {
  readonly at: 'following';
  readonly intent: Intent;
  readonly tip: bigint | null;
}

export interface Canceling extends Timed {
  readonly at: 'canceling';
  readonly intent: Intent;
  /** The tip, kept in case a cancel comes too late. */
  readonly tip: bigint | null;
  /** True if the till returns to the keypad without showing the result. */
  readonly quietly: boolean;
}

export type Outcome = 'paid' | 'declined' | 'canceled' | 'expired';

export interface Result extends Timed {
  readonly at: 'result';
  readonly outcome: Outcome;
  readonly intent: Intent;
}

/** A price in the shop's currency. `terms` is the id of the terms that give its atoms. */
export type SalePrice = CountedPrice & { readonly terms: string; readonly rate: string };

/** An offline sale that waits for the signature of the customer's card or phone. */
export interface Asking extends Timed {
  readonly at: 'asking';
  readonly request: OfflineRequest;
  /** The lines of a cart, or a typed sum as a line; `null` for a sum without a tax rate. */
  readonly lines: SaleLines | null;
  /**
   * The online payment for the same cart that was left open; `null` if there is none. Absent in
   * tills stored by an earlier version.
   */
  readonly replaces?: LeftOpen | null;
  /** The price in the shop's currency. Absent in tills stored by an earlier version. */
  readonly presentment?: SalePrice | null;
  /**
   * The price of the cart in the shop's currency, by which an unpaid payment for it is recognized;
   * also set if the sale is in USDC because the wallet cannot read prices.
   */
  readonly price?: CartPrice | null;
}

export interface CartPrice {
  readonly currency: string;
  /** Minor units. */
  readonly amount: number;
}

/** A signature was stored on the till. Nothing has been paid yet. */
export interface Accepted extends Timed {
  readonly at: 'accepted';
  readonly slip: Slip;
}

/** The slip that a customer gets for a sale accepted offline. It is not a receipt. */
export interface Slip {
  /** The first digits of the authorization's nonce, by which the sale is found later. */
  readonly code: string;
  readonly amount: bigint;
  /** The atoms that leave the wallet. Absent in tills stored by an earlier version. */
  readonly paid?: bigint;
  /** The nonce of the sale. Absent, like the price, in tills stored by an earlier version. */
  readonly nonce?: string;
  /** The price in the shop's currency; `null` for a sale in USDC. */
  readonly price?: Price | null;
  /** ISO 8601, by the service's clock as far as it is known. */
  readonly acceptedAt: string;
}

export type Phase =
  | Keypad
  | Creating
  | Open
  | Tapping
  | Following
  | Canceling
  | Result
  | Asking
  | Accepted;

export interface Till {
  readonly phase: Phase;
  /** The amount that the cashier typed, kept while another screen is shown. */
  readonly typed: string;
  /**
   * The currency in which `typed` was typed, `null` for USDC. Absent if the till did not know its
   * currency yet: the digits then get the currency that the service sends.
   */
  readonly typedIn?: string | null;
  readonly split: Split | null;
  /** The unpaid cart from the catalog page. */
  readonly cart: Cart | null;
  /** The rest of a cart that was split by items, while a part of it is the cart. */
  readonly rest?: Cart | null;
  /** The carts that were put aside with `Hold`, oldest first. */
  readonly held?: Held | null;
  /** A payment that may have been opened: the till must find and cancel it first. */
  readonly orphan: Create | null;
  /** Payments that the till abandoned to sell offline; it cancels them once it is connected. */
  readonly left?: readonly string[];
  /**
   * The online payment that was left open last. The next offline sale of the same amount replaces
   * it.
   */
  readonly unpaid?: Unpaid | null;
}

export type Aside = Pick<Till, 'rest' | 'held'>;

/** Held carts, encrypted, or plain on pages that cannot encrypt. */
export type Held = {
  /** The shop's name, by which another pairing recognizes them; empty if it is unknown. */
  readonly shop: string;
} & (SealedText | { readonly carts: readonly HeldCart[] });

export interface HeldCart {
  /** What the cashier called it, or a number. */
  readonly name: string;
  readonly cart: Cart;
}

export interface Unpaid {
  readonly replaces: LeftOpen;
  readonly amount: bigint;
  /** Its price in the shop's currency. Absent in tills stored by an earlier version. */
  readonly price?: CartPrice | null;
}

export const NEW_TILL: Till = {
  phase: { at: 'keypad', remark: null, since: 0 },
  typed: '',
  split: null,
  cart: null,
  orphan: null,
};
