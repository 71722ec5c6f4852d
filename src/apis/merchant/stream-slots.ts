import type { Database } from '#db/database.ts';
import {
  countStreamSlots,
  freeStreamSlots,
  holdStreamSlots,
  type StreamSlot,
  takeStreamSlot,
} from '#events/stream-queries.ts';
import { describeError, type Log } from '#observability/log.ts';

/** Maximum number of concurrent streams per key (behavior.md 10.5). */
export const MAX_STREAMS_OF_KEY = 20;
/** Time until the slots of a killed process become free. It spans three renewals. */
const HOLD_MS = 9_000;
const RENEW_EVERY_MS = 3_000;

export interface StreamSlots {
  /**
   * Takes one of the key's slots. @returns a function that frees the slot; `null` if all are in
   * use.
   */
  take(keyId: string): Promise<(() => void) | null>;
}

/**
 * Creates the slots for open streams of a key or a person. All processes on the database share
 * them.
 * @param most Slots per key or person, at most {@link MAX_STREAMS_OF_KEY}, which the table
 * enforces.
 */
export function createStreamSlots(
  { db, log }: { readonly db: Database; readonly log: Log },
  most = MAX_STREAMS_OF_KEY,
): StreamSlots {
  const held = new Set<StreamSlot>();
  let timer: NodeJS.Timeout | undefined;
  const warn = (error: unknown) =>
    log.warn('the count of open event streams could not be stored', {
      error: describeError(error),
    });
  const renew = () => holdStreamSlots(db, [...held], HOLD_MS).catch(warn);
  const free = (slot: StreamSlot) => {
    if (!held.delete(slot)) return;
    if (held.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    freeStreamSlots(db, [slot]).catch(warn);
  };
  return {
    take: async (keyId) => {
      const input = { keyId, slots: most, holdMs: HOLD_MS };
      for (;;) {
        const slot = await takeStreamSlot(db, input);
        if (slot !== undefined) {
          const mine = { keyId, slot };
          held.add(mine);
          timer ??= setInterval(renew, RENEW_EVERY_MS).unref();
          return () => free(mine);
        }
        // Either another process took the chosen slot first, so try again, or all slots are in use.
        if ((await countStreamSlots(db, input)) >= most) return null;
      }
    },
  };
}
