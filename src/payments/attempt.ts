import type { Atoms } from '#core/money.ts';
import type { Traced } from '#core/tracing.ts';
import type { PhoneKind } from '#payers/phone-tap.ts';
import type { PaymentAuthorization } from '#settlement/chain-requests.ts';

/** The tips that the terminal offers the customer, in percent of the sale. */
export interface Tipping {
  readonly percentages: readonly number[];
}

/** The payer's credential, as tapped or sent. */
export type Credential = (Tapped | AgentToken | Signed | Unknown) & {
  /**
   * The cell that issued the credential, if it is another one. This cell then has no row for it.
   */
  readonly home?: number;
};

/** Credentials that a terminal reads. */
export type Tapped =
  | { readonly type: 'nfc_id'; readonly passId: string }
  | { readonly type: 'nfc_sun'; readonly cardId: string }
  /** A code that the wallet app showed for this pass. */
  | { readonly type: 'qr'; readonly passId: string }
  /** A code of this pass that changes every half minute. */
  | { readonly type: 'rotating_code'; readonly passId: string }
  /** The pass in a phone wallet. */
  | { readonly type: PhoneKind; readonly passId: string };

type AgentToken = { readonly type: 'agent_token'; readonly tokenId: string };

/** A signature by the wallet for this payment only. */
type Signed = { readonly type: 'authorization' | 'chip' } & PaymentAuthorization;

/** The tap was lost with the database; only the chain has a record of the payment. */
type Unknown = { readonly type: 'unknown' };

/** One attempt to pay an intent. At most one is in progress. */
export interface Attempt extends Traced {
  readonly payerId: string;
  readonly payerAddress: `0x${string}`;
  readonly credential: Credential;
  /**
   * The tip on top of the sale. 0 for a rebuilt payment, because the chain stores only the sum of
   * both.
   */
  readonly tip: Atoms;
  /** The rule that asked for the payer's confirmation; `null` if none did. */
  readonly reasonCode: string | null;
}
