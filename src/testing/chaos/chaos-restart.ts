/** Whatever was sent SIGKILL is gone by then. */
export const ENDED_MS = 10_000;
/** Starts that fail are tried again: a port or a lock of what was just killed may linger. */
const START_TRIES = 5;

export async function persistently<T>(start: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      if (tries === START_TRIES) throw error;
    }
  }
}
