import { assert } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import type { Tx } from '#db/database.ts';
import { VAS_MS } from '#payers/issue-phone-pass.ts';
import type { TappedPass } from '#payers/payer-queries.ts';
import {
  insertUsedTaps,
  lockPhonePasses,
  selectPayersOfPhones,
  selectUsedTaps,
  sweepUsedTaps,
} from '#payers/phone-pass-queries.ts';
import { type PhoneKind, type PhoneTap, parsePhoneTap } from '#payers/phone-tap.ts';
import {
  type FoundPass,
  foundBy,
  passKind,
  type TappedKind,
} from '#payments/credentials/credential-kind.ts';

interface Presented<T> {
  readonly type: T;
  readonly tap: PhoneTap;
}

interface PhonePassState<T> extends FoundPass<T> {
  /** The pass's used taps. `null` for an attempt in progress, whose tap was consumed before. */
  readonly phone: PhoneState | null;
}

/** The used taps of a pass in a phone wallet. */
interface PhoneState {
  readonly hash: Buffer;
  readonly doubtedAt: Date | null;
  /** Hashes in hex of those presented taps that were used before this batch. */
  readonly usedBefore: ReadonlySet<string>;
  /** The taps that this batch has consumed so far. */
  readonly uses: readonly PhoneTap[];
}

/**
 * Number of expired rows that each used tap deletes. It exceeds one, so that the table cannot grow
 * without bound.
 */
const SWEEP_PER_TAP = 2;

/**
 * True if the tap is recent enough. An Apple phone's tap from before a data loss is refused,
 * because its use may have been lost.
 */
function isTimely({ at }: PhoneTap, doubtedAt: Date | null, now: Date): boolean {
  if (at === null) return true;
  if (Math.abs(now.getTime() - at.getTime()) > VAS_MS) return false;
  return doubtedAt === null || at > doubtedAt;
}

async function writeUsedTaps(tx: Tx, used: readonly PhoneState[], now: Date): Promise<void> {
  const taps = used.flatMap(({ hash: phonePass, uses }) =>
    uses.map(({ tapHash: hash, at }) => {
      // The phone's clock may be ahead by VAS_MS, so a tap is kept for twice that time.
      return { hash, phonePass, sweptFrom: at === null ? null : addMs(at, 2 * VAS_MS) };
    }),
  );
  if (taps.length === 0) return;
  await sweepUsedTaps(tx, now, SWEEP_PER_TAP * taps.length);
  assert((await insertUsedTaps(tx, taps, now)) === taps.length, 'a tap of a phone was used twice');
}

/** A pass in a phone wallet. Each tap, identified by its nonce or its time, is valid once. */
function phonePass<T extends PhoneKind>(type: T): TappedKind<Presented<T>, PhonePassState<T>> {
  const ofPass = (pass: TappedPass, phone: PhoneState | null): PhonePassState<T> => {
    return { type, payerId: pass.payer_id, pass, phone };
  };
  const lockPhones = async (tx: Tx, hashes: readonly Buffer[], all: readonly Presented<T>[]) => {
    const phones = await lockPhonePasses(tx, hashes);
    const tapHashes = all.map(({ tap }) => tap.tapHash);
    const usedBefore =
      phones.length === 0 ? new Set<string>() : await selectUsedTaps(tx, tapHashes);
    return phones.map((pass) => {
      const { phone_hash: hash, doubted_at: doubtedAt } = pass;
      return [hash, ofPass(pass, { hash, doubtedAt, usedBefore, uses: [] })] as const;
    });
  };
  return {
    ...passKind(type, (pass) => ofPass(pass, null)),
    form: "the reader's encoding of the phone’s response: base64url of its format 1",
    read(value) {
      const tap = parsePhoneTap(type, value);
      return tap === null ? null : { type, tap };
    },
    value: ({ tap }) => tap.text,
    cell: ({ tap }) => tap.cell,
    ...foundBy(({ tap }) => tap.valueHash, selectPayersOfPhones, lockPhones),
    verify(state, { tap }, { now }) {
      const { phone } = state;
      if (phone === null) return { decline: null, after: state };
      const isUsed =
        phone.usedBefore.has(tap.tapHash.toString('hex')) ||
        phone.uses.some(({ tapHash }) => tapHash.equals(tap.tapHash));
      if (isUsed || !isTimely(tap, phone.doubtedAt, now)) {
        return { decline: 'pass_replayed', after: state };
      }
      const after = { ...state, phone: { ...phone, uses: [...phone.uses, tap] } };
      return { decline: null, after };
    },
    consume: (tx, used, now) =>
      writeUsedTaps(
        tx,
        used.flatMap(({ phone }) => phone ?? []),
        now,
      ),
  };
}

/** A pass in Google Wallet. Its taps contain a nonce from the phone, but no time. */
export const smartTap: TappedKind<Presented<'smart_tap'>, PhonePassState<'smart_tap'>> = {
  ...phonePass('smart_tap'),
  facts: ({ phone }) => ({ doubtedAt: phone?.doubtedAt ?? null }),
};

/** A pass in Apple Wallet. Its taps contain their time, which must be current. */
export const appleVas = phonePass('apple_vas');
