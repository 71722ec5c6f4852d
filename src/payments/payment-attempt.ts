import type { Atoms } from '#core/money.ts';
import type { Traced } from '#observability/tracing.ts';
import type { PhoneKind } from '#payers/phone-tap.ts';
import type { PaymentAuthorization } from '#settlement/chain-requests.ts';

/** Tips that the terminal offers to the customer, in percent of the sale. */
export interface Tipping {
  readonly percentages: readonly number[];
}

/** The payer's credential, as tapped or sent in a request. */
export type Credential = (Tapped | AgentToken | Signed | Unknown) & {
  /**
   * The cell that issued the credential, if it was another one; this cell then has no row for it.
   */
  readonly home?: number;
};

/** Credentials that a terminal reads. */
export type Tapped =
  | { readonly type: 'nfc_id'; readonly passId: string }
  | { readonly type: 'nfc_sun'; readonly cardId: string }
  /** A code that the wallet app showed for this pass. */
  | { readonly type: 'qr'; readonly passId: string }
  /** A code of this pass that changes every 30 seconds. */
  | { readonly type: 'rotating_code'; readonly passId: string }
  /** The pass in a phone wallet. */
  | { readonly type: PhoneKind; readonly passId: string };

type AgentToken = { readonly type: 'agent_token'; readonly tokenId: string };

/** A signature by the wallet for this payment only. */
type Signed = { readonly type: 'authorization' | 'chip' } & PaymentAuthorization;

/**
 * The database lost the tap, so the credential is unknown; only the chain has a record of the
 * payment.
 */
type Unknown = { readonly type: 'unknown' };

/** One attempt to pay an intent. An intent has at most one attempt in progress. */
export interface Attempt extends Traced {
  readonly payerId: string;
  readonly payerAddress: `0x${string}`;
  readonly credential: Credential;
  /**
   * The tip, in addition to the sale. 0 for a rebuilt payment, because the chain stores only the
   * sum of the sale and the tip.
   */
  readonly tip: Atoms;
  /**
   * Once it is settled: the fees that its payer paid, less the cashback, in atoms. Earlier releases
   * stored none; a migration adds those of priced sales.
   */
  readonly fees?: string;
  /** The rule that required the payer's confirmation; `null` if none did. */
  readonly reasonCode: string | null;
}
