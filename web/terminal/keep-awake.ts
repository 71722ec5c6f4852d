/**
 * Keeps the screen on until the signal aborts. Requests the wake lock again whenever the page
 * becomes visible.
 */
export function keepAwake(end: AbortSignal): void {
  if (!('wakeLock' in navigator)) return;
  const lock = async () => {
    if (document.visibilityState !== 'visible' || end.aborted) return;
    // Browsers refuse while the battery is low. The screen then turns off; nothing else is
    // affected.
    const held = await navigator.wakeLock.request('screen').catch(() => null);
    if (end.aborted) await held?.release();
    else end.addEventListener('abort', () => void held?.release(), { once: true });
  };
  document.addEventListener('visibilitychange', lock, { signal: end });
  void lock();
}
