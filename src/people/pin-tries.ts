import { addMs } from '#core/clock.ts';
import { DAY_MS, MINUTE_MS } from '#core/durations.ts';
import { afterWrong, isBlocked, type Tries } from '#core/pin-and-code-lockout.ts';

/**
 * Counts wrong PINs of one person: five within ten minutes block the person everywhere for ten
 * minutes, twenty in a day at one terminal block the person there for the day, and sixty in a day
 * at all terminals block the person until an admin unblocks them. A thief with a device key gets
 * sixty guesses at a person, whatever the number of tills.
 */

const PER_TERMINAL = 20;
const AT_ALL_TERMINALS = 60;
/** A day that begins later than this began before the clock was set back. */
const AHEAD_MS = MINUTE_MS;

/** Wrong PINs at one terminal within a day, which begins with the first of them. */
interface TerminalTries {
  readonly wrong: number;
  readonly since: string;
}

export interface PinTries extends Tries {
  /** By terminal. */
  readonly today: Readonly<Record<string, TerminalTries>>;
  readonly lockedAt: Date | null;
}

function dayEnd({ since }: TerminalTries): Date {
  return addMs(new Date(since), DAY_MS);
}

function countsAt(tries: TerminalTries, now: Date): boolean {
  return dayEnd(tries) > now && new Date(tries.since) <= addMs(now, AHEAD_MS);
}

/** Returns when the person may try again at this terminal; `null` if now, or if locked. */
export function blockedUntil(tries: PinTries, terminalId: string, now: Date): Date | null {
  const here = tries.today[terminalId];
  if (here !== undefined && here.wrong >= PER_TERMINAL && countsAt(here, now)) return dayEnd(here);
  return isBlocked(tries, now) ? tries.blockedUntil : null;
}

/** Returns the counts after one more wrong PIN, and whether it blocked the person for the day. */
export function afterWrongPin(
  tries: PinTries,
  terminalId: string,
  now: Date,
): PinTries & { readonly blocksHere: boolean } {
  const current = Object.entries(tries.today).filter(([, one]) => countsAt(one, now));
  const { [terminalId]: before, ...others } = Object.fromEntries(current);
  const wrong = (before?.wrong ?? 0) + 1;
  const today = { ...others, [terminalId]: { wrong, since: before?.since ?? now.toISOString() } };
  const all = Object.values(today).reduce((sum, one) => sum + one.wrong, 0);
  return {
    ...afterWrong(tries, now),
    today,
    lockedAt: tries.lockedAt ?? (all >= AT_ALL_TERMINALS ? now : null),
    blocksHere: wrong === PER_TERMINAL,
  };
}
