import type { RotatingKey } from '#core/secrets.ts';
import { decrypt, encrypt, hashSecret, newSecret } from '#core/secrets.ts';
import type { Tx } from '#db/database.ts';
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
  const context = contextOf(made);
  if (known !== undefined && known.doubted_at === null) {
    return decrypt(made.cardKey, known.sealed, context);
  }
  const value = newSecret(SECRET_KINDS[made.kind]);
  const sealed = encrypt(made.cardKey, value, context);
  await replacePhonePass(tx, { ...made, hash: hashSecret(value), sealed });
  return value;
}
