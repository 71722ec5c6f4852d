/** Pulled so far, or so fast, a sheet goes away. */
const FAR_PX = 96;
const FAST_PX_PER_MS = 0.6;

/** Whether a sheet that was let go closes. */
export function isPulledAway(pull: { readonly px: number; readonly ms: number }): boolean {
  if (pull.px >= FAR_PX) return true;
  return pull.px > FAR_PX / 4 && pull.px / Math.max(pull.ms, 1) >= FAST_PX_PER_MS;
}

/**
 * Lets a finger or a mouse pull a sheet down by its grip. Escape and the button close it as well:
 * pulling is only the shorter way.
 *
 * @returns what takes the listeners off again.
 */
export function dragDown(
  { sheet, grip }: { readonly sheet: HTMLElement; readonly grip: HTMLElement },
  onAway: () => void,
): () => void {
  let start: { readonly y: number; readonly at: number } | null = null;
  const pulled = (event: PointerEvent) => Math.max(0, event.clientY - (start?.y ?? event.clientY));
  const down = (event: PointerEvent) => {
    start = { y: event.clientY, at: event.timeStamp };
    grip.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    if (start !== null) sheet.style.translate = `0 ${pulled(event)}px`;
  };
  const up = (event: PointerEvent) => {
    if (start === null) return;
    const isAway =
      event.type === 'pointerup' &&
      isPulledAway({ px: pulled(event), ms: event.timeStamp - start.at });
    start = null;
    sheet.style.removeProperty('translate');
    if (isAway) onAway();
  };
  grip.addEventListener('pointerdown', down);
  grip.addEventListener('pointermove', move);
  grip.addEventListener('pointerup', up);
  grip.addEventListener('pointercancel', up);
  return () => {
    grip.removeEventListener('pointerdown', down);
    grip.removeEventListener('pointermove', move);
    grip.removeEventListener('pointerup', up);
    grip.removeEventListener('pointercancel', up);
  };
}
