import { describeError, type Log } from '#observability/log.ts';

/**
 * Time between checks. Responses in progress must end within one second after their reader has lost
 * the right to them; there are two checks in that second.
 */
const LOOK_EVERY_MS = 400;

export interface RightsWatch<T> {
  /** Calls `end` when the right has ended. @returns a function that stops watching. */
  watch(held: T, end: () => void): () => void;
}

/**
 * Creates a watcher of the rights behind all responses in progress of this process.
 * @param stillHeld checks all of them with one statement, and returns one result for each
 */
export function createRightsWatch<T>(
  log: Log,
  stillHeld: (all: readonly T[]) => Promise<readonly boolean[]>,
): RightsWatch<T> {
  const all = new Set<{ readonly held: T; readonly end: () => void }>();
  let timer: NodeJS.Timeout | null = null;
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    const watched = [...all];
    try {
      const results = await stillHeld(watched.map(({ held }) => held));
      for (const [n, { end }] of watched.entries()) if (results[n] !== true) end();
    } catch (error) {
      log.warn('the rights to open responses could not be read', { error: describeError(error) });
    }
    isLooking = false;
  };
  return {
    watch: (held, end) => {
      const watched = { held, end };
      all.add(watched);
      timer ??= setInterval(look, LOOK_EVERY_MS).unref();
      return () => {
        all.delete(watched);
        if (all.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
  };
}
