/** Time limit within which a process that got SIGKILL has ended. */
export const ENDED_MS = 10_000;
/** Attempts to start, because a killed process's port or lock may persist for a moment. */
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
