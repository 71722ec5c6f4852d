import type { PayerRow } from '#payers/payer-queries.ts';
import type { Tapped } from '#payments/attempt.ts';
import type { CredentialKind } from '#payments/credentials/kind.ts';
import type { Decline } from '#payments/decline-codes.ts';

/** A credential of another cell that was tapped at this cell, with the other cell's response. */
export interface Visit {
  /** The key of the credential. */
  readonly key: string;
  /** `null` if its home cell does not know the credential, or could not be reached. */
  readonly holder: VisitingHolder | null;
  /** The decline, if the home cell refuses the credential; `null` if it accepts it. */
  readonly refusal: { readonly decline: Decline; readonly rule?: string } | null;
}

/** The credential's payer, with the limits of its home cell. */
interface VisitingHolder {
  /** This cell's payer with the same wallet, and the limits that apply here. */
  readonly payer: PayerRow;
  readonly credential: Tapped & { readonly home: number };
  /** Maximum amount per payment that its home cell allows; `null` for no limit. */
  readonly limit: bigint | null;
  /**
   * Time since which the home cell may have lost taps; `null` if it lost none. The payer must then
   * confirm.
   */
  readonly doubtedAt: Date | null;
}

interface Presented {
  readonly type: 'visiting';
  readonly visit: Visit;
}

interface Found {
  readonly type: 'visiting';
  readonly payerId: string;
  readonly holder: VisitingHolder;
}

/** A credential of another cell, which its home cell has verified and consumed. */
export const visiting: CredentialKind<Presented, Found> = {
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
    payerLivemode === intent.tenant.livemode ? null : 'pass_unknown',
  verify: (found, { visit }) => ({ decline: visit.refusal?.decline ?? null, after: found }),
  facts: ({ holder: { limit, doubtedAt, credential } }) => ({
    card: { per_payment_limit: limit, asks_since: doubtedAt },
    isCopied: credential.type === 'nfc_id',
  }),
};
