import type { PayerRow } from '#payers/payer-queries.ts';
import type { CredentialKind } from '#payments/credentials/credential-kind.ts';
import type { Decline } from '#payments/decline-codes.ts';
import type { Tapped } from '#payments/payment-attempt.ts';

/** A credential of another cell that was presented in this cell, and its home cell's response. */
export interface Visit {
  readonly key: string;
  /**
   * The credential's payer; `null` if the home cell does not know the credential or could not be
   * reached.
   */
  readonly holder: VisitingHolder | null;
  /** The decline if the home cell refuses the credential; `null` if it accepts it. */
  readonly refusal: { readonly decline: Decline; readonly rule?: string } | null;
}

/** The payer of a visiting credential, with the limits that the home cell has set. */
interface VisitingHolder {
  /** The payer in this cell with the same wallet, and this cell's limits. */
  readonly payer: PayerRow;
  readonly credential: Tapped & { readonly home: number };
  /** Maximum amount per payment in the home cell; `null` for no limit. */
  readonly limit: bigint | null;
  /**
   * Time since which the home cell may have lost taps, so that the payer must confirm; `null` if it
   * has lost none.
   */
  readonly doubtedAt: Date | null;
}

interface Presented {
  readonly type: 'visiting';
  readonly visit: Visit;
}

interface VisitState {
  readonly type: 'visiting';
  readonly payerId: string;
  readonly holder: VisitingHolder;
}

/** A credential of another cell, which that cell has verified and consumed. */
export const visiting: CredentialKind<Presented, VisitState> = {
  unknown: 'pass_unknown',
  key: ({ visit }) => visit.key,
  payers: async (_, presented) =>
    presented.flatMap(({ visit: { key, holder } }) =>
      holder === null ? [] : [{ ...holder.payer, credential: key }],
    ),
  lock: async (_, presented) =>
    presented.flatMap(({ visit: { key, holder } }) =>
      holder === null ? [] : [[key, { type: 'visiting', payerId: holder.payer.id, holder }]],
    ),
  stored: ({ holder }) => holder.credential,
  check: (_, { intent, payerLivemode }) =>
    payerLivemode === intent.livemode ? null : 'pass_unknown',
  verify: (state, { visit }) => ({ decline: visit.refusal?.decline ?? null, after: state }),
  facts: ({ holder: { limit, doubtedAt, credential } }) => ({
    card: { per_payment_limit: limit, asks_since: doubtedAt },
    isCopied: credential.type === 'nfc_id',
  }),
};
