const LOOK_MS = 500;
/** Longer than a busy machine delays a timer. */
const SLEPT_MS = 3000;

/**
 * Detects that this machine has slept: its clock advanced but its timers did not. Existing
 * connections are then dead, which sockets report only much later.
 */
export function watchSleep(
  onWake: () => void,
  signal: AbortSignal,
  now: () => number = Date.now,
): void {
  let last = now();
  const timer = setInterval(() => {
    const at = now();
    if (at - last > SLEPT_MS) onWake();
    last = at;
  }, LOOK_MS).unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}
