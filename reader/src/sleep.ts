const LOOK_MS = 500;
/** More than a busy machine is ever late with a timer. */
const SLEPT_MS = 3000;

/**
 * Says when this machine has slept: its clock went on, its timers stood still. Connections from
 * before are dead then, and nothing says so for a long time.
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
