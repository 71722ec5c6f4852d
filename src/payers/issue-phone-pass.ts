import type { RotatingKey } from '#core/bearer-secrets.ts';
import { decrypt, encrypt, hashSecret, newSecret } from '#core/bearer-secrets.ts';
import type { Tx } from '#db/database.ts';
import { noteCopiesChanged } from '#payers/pass-copy-queries.ts';
import { lockPayer } from '#payers/payer-queries.ts';
import { replacePhonePass, selectPhonePass } from '#payers/phone-pass-queries.ts';
import { type PhoneKind, SECRET_KINDS } from '#payers/phone-tap.ts';

/**
 * Maximum accepted deviation of a phone's clock, in either direction, and so the validity of an
 * Apple tap.
 */
export const VAS_MS = 60_000;

/** Binds the encryption to the pass and to the kind of phone wallet. */
function contextOf({ passId, kind }: { readonly passId: string; readonly kind: PhoneKind }) {
  return `${kind} ${passId}`;
}

/**
 * Returns the value that identifies the pass in this kind of phone wallet. A second phone gets the
 * same value. After a data loss, the value changes, because used taps of the previous value are
 * unknown. Locks the payer, so that the pass cannot be revoked meanwhile.
 */
export async function issuePhonePass(
  tx: Tx,
  made: {
    readonly payerId: string;
    readonly passId: string;
    readonly kind: PhoneKind;
    readonly cardKey: RotatingKey;
    readonly now: Date;
  },
): Promise<string> {
  await lockPayer(tx, made.payerId);
  const known = await selectPhonePass(tx, made);
  if (known !== undefined && known.doubted_at === null) {
    return openPhonePass(made.cardKey, { ...made, sealed: known.sealed });
  }
  const value = newSecret(SECRET_KINDS[made.kind], tx.cell);
  const sealed = encrypt(made.cardKey, value, contextOf(made));
  await replacePhonePass(tx, { ...made, hash: hashSecret(value), sealed });
  const wallet = made.kind === 'smart_tap' ? 'google' : 'apple';
  await noteCopiesChanged(tx, { ...made, wallets: [wallet] });
  return value;
}

export function openPhonePass(
  cardKey: RotatingKey,
  phone: { readonly passId: string; readonly kind: PhoneKind; readonly sealed: Buffer },
): string {
  return decrypt(cardKey, phone.sealed, contextOf(phone));
}
