/** Time limit for a process to end after SIGKILL. */
export const ENDED_MS = 10_000;
/** Number of attempts to start. The killed process may hold its port or lock for another moment. */
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
