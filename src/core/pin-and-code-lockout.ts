import { addMs } from '#core/clock.ts';
import { MINUTE_MS } from '#core/durations.ts';

/**
 * Limits guesses at a short code: the fifth wrong one within ten minutes blocks the code for
 * another ten minutes.
 */

const WRONG_ALLOWED = 5;
const WRONG_WINDOW_MS = 10 * MINUTE_MS;
const BLOCKED_MS = 10 * MINUTE_MS;
/**
 * Maximum time by which a try may be ahead of `now`, because requests are not counted in the order
 * in which they arrived. Tries further ahead date from before the clock was set back.
 */
const AHEAD_MS = MINUTE_MS;

export interface Tries {
  /** When the latest wrong codes were entered. */
  readonly wrongAt: readonly Date[];
  readonly blockedUntil: Date | null;
}

export function afterWrong({ wrongAt, blockedUntil }: Tries, now: Date): Tries {
  const since = addMs(now, -WRONG_WINDOW_MS);
  const counted = [...wrongAt.filter((at) => at > since && at <= addMs(now, AHEAD_MS)), now];
  if (counted.length < WRONG_ALLOWED) return { wrongAt: counted, blockedUntil };
  return { wrongAt: [], blockedUntil: addMs(now, BLOCKED_MS) };
}

/**
 * True if the code is blocked. Ignores a block that ends too late to have started about now,
 * because the clock must have been set back since.
 */
export function isBlocked({ blockedUntil }: Tries, now: Date): boolean {
  if (blockedUntil === null || blockedUntil <= now) return false;
  return blockedUntil <= addMs(now, BLOCKED_MS + AHEAD_MS);
}
