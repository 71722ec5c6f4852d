import { assert } from '#core/assert.ts';
import type { RotatingKey } from '#core/secrets.ts';
import type { Tx } from '#db/database.ts';
import { openCardKeys } from '#payers/card.ts';
import { useUpTaps } from '#payers/card-queries.ts';
import { useUpPassCodes } from '#payers/pass-code-queries.ts';
import { readSunMessage } from '#payers/sun-message.ts';
import type { Found } from '#payments/credential.ts';
import type { Decline } from '#payments/decline.ts';
import type { Presented } from '#payments/presented.ts';

/**
 * What a card gave, or a code of the wallet app, is good for one attempt. An attempt that is
 * answered with 200 uses it up, however the payment ends; one that is refused (4xx), or that could
 * not be decided (503), does not.
 */
export interface Judged {
  /** Why what was presented is not accepted, or null. */
  readonly decline: Decline | null;
  /** The credential after the attempt is answered. */
  readonly after: Found;
}

/** `found` as it is locked, with what the batch has used of it already. */
export function judge(
  found: Found,
  presented: Presented,
  { cardKey, now }: { readonly cardKey: RotatingKey; readonly now: Date },
): Judged {
  if (found.type === 'nfc_sun' && presented.type === 'nfc_sun') {
    const { card } = found;
    const tap = readSunMessage(presented.message, openCardKeys(cardKey, card));
    const isNew = tap !== null && tap.counter > card.counter && (card.uid ?? tap.uid) === tap.uid;
    if (!isNew) return { decline: 'pass_replayed', after: found };
    const { counter, uid } = tap;
    return { decline: null, after: { ...found, card: { ...card, counter, uid } } };
  }
  if (found.type === 'qr' && found.code !== null) {
    const { code } = found;
    if (code.used_at !== null) return { decline: 'pass_code_used', after: found };
    const after = { ...found, code: { ...code, used_at: now } };
    return { decline: code.expires_at <= now ? 'pass_code_expired' : null, after };
  }
  return { decline: null, after: found };
}

/**
 * Writes what a batch has used up. Each was locked and judged, so no other transaction can have
 * used it.
 */
export async function writeUsedUp(tx: Tx, used: Iterable<Found>, now: Date): Promise<void> {
  const all = [...used];
  const taps = all.flatMap((found) => {
    if (found.type !== 'nfc_sun' || found.card.uid === null) return [];
    const { id, counter, uid } = found.card;
    return [{ id, counter, uid }];
  });
  const codes = all.flatMap((found) => (found.type === 'qr' ? (found.code?.hash ?? []) : []));
  if (taps.length > 0) {
    assert((await useUpTaps(tx, taps, now)) === taps.length, 'a tap of a card was used twice');
  }
  if (codes.length > 0) {
    assert((await useUpPassCodes(tx, codes, now)) === codes.length, 'a code was used twice');
  }
}
