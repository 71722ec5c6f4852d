/** Keeps the screen on until the signal ends it; asks again whenever the page is shown again. */
export function keepAwake(end: AbortSignal): void {
  if (!('wakeLock' in navigator)) return;
  const lock = async () => {
    if (document.visibilityState !== 'visible' || end.aborted) return;
    // Refused while the battery is low: the screen then goes dark, and nothing else happens.
    const held = await navigator.wakeLock.request('screen').catch(() => null);
    if (end.aborted) await held?.release();
    else end.addEventListener('abort', () => void held?.release(), { once: true });
  };
  document.addEventListener('visibilitychange', lock, { signal: end });
  void lock();
}
