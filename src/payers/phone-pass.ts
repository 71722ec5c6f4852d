import type { RotatingKey } from '#core/secrets.ts';
import { decrypt, encrypt, hashSecret, newSecret } from '#core/secrets.ts';
import type { Tx } from '#db/database.ts';
import { noteCopiesChanged } from '#payers/pass-copy-queries.ts';
import { lockPayer } from '#payers/payer-queries.ts';
import { replacePhonePass, selectPhonePass } from '#payers/phone-pass-queries.ts';
import { type PhoneKind, SECRET_KINDS } from '#payers/phone-tap.ts';

/** So far a phone's clock may be off, either way: an Apple tap is good for this long. */
export const VAS_MS = 60_000;

/** What the seal is bound to: neither another pass nor the other wallet of the same one. */
function contextOf({ passId, kind }: { readonly passId: string; readonly kind: PhoneKind }) {
  return `${kind} ${passId}`;
}

/**
 * What the pass says in such a phone. The same each time, so that a pass that is put into a second
 * phone is the same pass; after a loss of data another one, because nobody knows any more which
 * taps of the one before were used. Locks the payer, as revoking a pass does.
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

/** What the pass says in such a phone. */
export function openPhonePass(
  cardKey: RotatingKey,
  phone: { readonly passId: string; readonly kind: PhoneKind; readonly sealed: Buffer },
): string {
  return decrypt(cardKey, phone.sealed, contextOf(phone));
}
