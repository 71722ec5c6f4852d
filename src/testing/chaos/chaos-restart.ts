/** How long a process may take to end after SIGKILL. */
export const ENDED_MS = 10_000;
/**
 * How many times a start is tried. The killed process may hold its port or lock for another moment.
 */
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
