import { hashSecret } from '#core/bearer-secrets.ts';
import type { FeeRates } from '#core/charges.ts';
import { type ChipRow, lockChipsOf } from '#payers/chip-queries.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import type { CredentialKind } from '#payments/credentials/credential-kind.ts';
import type { PaymentAuthorization } from '#settlement/chain-requests.ts';

/** A wallet's verified signature for one payment. */
export interface SignedPayment {
  readonly payer: PayerRow;
  readonly authorization: PaymentAuthorization;
  /** The fee rates that the wallet signed. */
  readonly rates: FeeRates;
  /** For information only. */
  readonly by: SignedBy;
}

/**
 * The way in which a signed payment was submitted: through a pay link or tag, or by a chip at a
 * till. For information only: no rule depends on it.
 */
export type SignedBy = 'authorization' | 'chip';

interface Presented {
  readonly type: 'authorization';
  readonly signed: SignedPayment;
}

interface AuthorizationState {
  readonly type: 'authorization';
  readonly payerId: string;
  readonly authorization: PaymentAuthorization;
  readonly by: SignedBy;
  /** The owner's settings for the signing address, if it is a registered chip; otherwise `null`. */
  readonly chip: ChipRow | null;
}

function keyOf({ signed }: Presented): string {
  return hashSecret(signed.authorization.signature).toString('hex');
}

/** A wallet's signature for exactly this payment, so the credential needs no further check. */
export const authorization: CredentialKind<Presented, AuthorizationState> = {
  unknown: 'authorization_refused',
  isTap: ({ signed }) => signed.by === 'chip',
  key: keyOf,
  payers: async (_, presented) =>
    presented.map((one) => ({ ...one.signed.payer, credential: keyOf(one) })),
  async lock(tx, presented) {
    const chips = await lockChipsOf(
      tx,
      presented.map(({ signed }) => signed.payer.address),
    );
    return presented.map((one) => {
      const { payer, authorization, by } = one.signed;
      const { id: payerId, livemode, address } = payer;
      const chip = chips.find((row) => row.livemode === livemode && row.address === address);
      const state: AuthorizationState = {
        type: 'authorization',
        payerId,
        authorization,
        by,
        chip: chip ?? null,
      };
      return [keyOf(one), state];
    });
  },
  stored: ({ by, authorization }) => ({ type: by, ...authorization }),
  check: () => null,
  facts: ({ chip }) => ({ isSigned: true, chip }),
};
