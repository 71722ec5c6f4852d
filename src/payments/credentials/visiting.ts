import type { PayerRow } from '#payers/payer-queries.ts';
import type { Tapped } from '#payments/attempt.ts';
import type { CredentialKind } from '#payments/credentials/kind.ts';
import type { Decline } from '#payments/decline.ts';

/** What was tapped here and is known in another cell, as that one has answered. */
export interface Visit {
  /** That of what was tapped. */
  readonly key: string;
  /** `null`: its home does not know it, or could not be asked. */
  readonly holder: VisitingHolder | null;
  /** Why it is declined; `null`: its home has nothing against it. */
  readonly refusal: { readonly decline: Decline; readonly rule?: string } | null;
}

/** Its payer, and the terms of its home. */
interface VisitingHolder {
  /** By the wallet's address: the payer of this cell, with the limits that it has here. */
  readonly payer: PayerRow;
  readonly credential: Tapped & { readonly home: number };
  /** The most that its home lets it pay at once; `null`: no limit. */
  readonly limit: bigint | null;
  /** Set: the payer is asked, because its home may have lost taps. */
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

/** What another cell created: its home has verified and consumed it. */
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
