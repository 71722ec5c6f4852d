import { assert, present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import type { RotatingKey } from '#core/secrets.ts';
import { readSunMessage } from '#core/sun-message.ts';
import type { Tx } from '#db/database.ts';
import { openCardKeys } from '#payers/card.ts';
import { useUpTaps } from '#payers/card-queries.ts';
import { useUpPassCodes } from '#payers/pass-code-queries.ts';
import { VAS_MS } from '#payers/phone-pass.ts';
import { insertUsedTaps, sweepUsedTaps } from '#payers/phone-pass-queries.ts';
import type { PhoneKind, PhoneTap } from '#payers/phone-tap.ts';
import { judgeCode, openRotatingKey } from '#payers/rotating-code.ts';
import { updateRotatingKey } from '#payers/rotating-key-queries.ts';
import type { Found, PhoneState } from '#payments/credential.ts';
import type { Decline } from '#payments/decline.ts';
import type { Presented } from '#payments/presented.ts';

/**
 * What a card gave, or a code of a pass, is good for one attempt. An attempt that is
 * answered with 200 uses it up, however the payment ends; one that is refused (4xx), or that could
 * not be decided (503), does not.
 */
export interface Verified {
  /** Why what was presented is not accepted, or null. */
  readonly decline: Decline | null;
  /** The credential after the attempt is answered. */
  readonly after: Found;
}

/** `found` as it is locked, with what the batch has used of it already. */
export function verify(
  found: Found,
  presented: Presented,
  { cardKey, now }: { readonly cardKey: RotatingKey; readonly now: Date },
): Verified {
  // Its home has used it up.
  if (presented.type === 'visiting') {
    return { decline: presented.visit.refusal?.decline ?? null, after: found };
  }
  if (found.type === 'nfc_sun' && presented.type === 'nfc_sun') {
    const { card } = found;
    const tap = readSunMessage(presented.message, openCardKeys(cardKey, card));
    const isNew = tap !== null && tap.counter > card.counter && (card.uid ?? tap.uid) === tap.uid;
    if (!isNew) return { decline: 'pass_replayed', after: found };
    const { counter, uid } = tap;
    return { decline: null, after: { ...found, card: { ...card, counter, uid } } };
  }
  if (found.type === 'rotating_code' && presented.type === 'rotating_code') {
    const { rotating } = found;
    if (rotating === null) return { decline: null, after: found };
    const key = openRotatingKey(cardKey, rotating);
    const judged = judgeCode(rotating, { code: presented.code, key, now });
    const isSame = judged.after === rotating;
    return {
      decline: judged.decline,
      after: isSame ? found : { ...found, rotating: judged.after },
    };
  }
  if (found.type === 'qr' && found.code !== null) {
    const { code } = found;
    if (code.used_at !== null) return { decline: 'pass_code_used', after: found };
    const after = { ...found, code: { ...code, used_at: now } };
    return { decline: code.expires_at <= now ? 'pass_code_expired' : null, after };
  }
  if ('phone' in found && found.phone !== null && 'tap' in presented) {
    return verifyPhone({ ...found, phone: found.phone }, presented.tap, now);
  }
  return { decline: null, after: found };
}

type FoundPhone = Extract<Found, { readonly type: PhoneKind }> & { readonly phone: PhoneState };

/**
 * A tap of a phone is good once: by its nonce, or by its time, which has to be of now. What an
 * Apple phone gave before a loss of data is refused: it may have been used in the lost time.
 */
function verifyPhone(found: FoundPhone, tap: PhoneTap, now: Date): Verified {
  const { phone } = found;
  const isUsed =
    phone.usedBefore.has(tap.tapHash.toString('hex')) ||
    phone.uses.some(({ tapHash }) => tapHash.equals(tap.tapHash));
  if (isUsed || !isTimely(tap, phone.doubtedAt, now)) {
    return { decline: 'pass_replayed', after: found };
  }
  const after = { ...found, phone: { ...phone, uses: [...phone.uses, tap] } };
  return { decline: null, after };
}

function isTimely({ at }: PhoneTap, doubtedAt: Date | null, now: Date): boolean {
  if (at === null) return true;
  if (Math.abs(now.getTime() - at.getTime()) > VAS_MS) return false;
  return doubtedAt === null || at > doubtedAt;
}

/** Rows dropped with what a batch uses: the table cannot grow faster than it is swept. */
const SWEEP_PER_TAP = 2;

async function writeUsedTaps(tx: Tx, used: readonly Found[], now: Date): Promise<void> {
  const taps = used.flatMap((found) =>
    'phone' in found && found.phone !== null
      ? found.phone.uses.map(({ tapHash, at }) => ({
          hash: tapHash,
          phonePass: present(found.phone, 'phone of a tap').hash,
          // Its time is so far ahead at most that it is taken for twice as long.
          sweptFrom: at === null ? null : addMs(at, 2 * VAS_MS),
        }))
      : [],
  );
  if (taps.length === 0) return;
  await sweepUsedTaps(tx, now, SWEEP_PER_TAP * taps.length);
  assert((await insertUsedTaps(tx, taps, now)) === taps.length, 'a tap of a phone was used twice');
}

/**
 * Writes what a batch has used up. Each was locked and judged, so no other transaction can have
 * used it.
 */
export async function writeConsumed(tx: Tx, used: Iterable<Found>, now: Date): Promise<void> {
  const all = [...used];
  const taps = all.flatMap((found) => {
    if (found.type !== 'nfc_sun' || found.card.uid === null) return [];
    const { id, counter, uid } = found.card;
    return [{ id, counter, uid }];
  });
  const codes = all.flatMap((found) => (found.type === 'qr' ? (found.code?.hash ?? []) : []));
  const rotating = all.flatMap((found) =>
    found.type === 'rotating_code' ? (found.rotating ?? []) : [],
  );
  for (const row of rotating) {
    assert((await updateRotatingKey(tx, row)) === 1, 'a step of a pass was used twice');
  }
  if (taps.length > 0) {
    assert((await useUpTaps(tx, taps, now)) === taps.length, 'a tap of a card was used twice');
  }
  await writeUsedTaps(tx, all, now);
  if (codes.length > 0) {
    assert((await useUpPassCodes(tx, codes, now)) === codes.length, 'a code was used twice');
  }
}
