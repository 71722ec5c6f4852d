import { isPulledAway } from './sheet-close-threshold.ts';
import './sheet-grip.css';

/**
 * The current pull. Not part of a component, because the sheet may re-render during the pull. Only
 * one sheet can be pulled at a time.
 */
let start: { readonly y: number; readonly at: number } | null = null;

/**
 * Lets a finger or a mouse pull a sheet down by its grip. Escape and the close button work as well.
 */
export function dragDown(grip: HTMLElement, onAway: () => void): void {
  const sheet = grip.parentElement;
  if (sheet === null) return;
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
  // Set as properties, so that a re-render replaces them instead of adding more.
  grip.onpointerdown = down;
  grip.onpointermove = move;
  grip.onpointerup = up;
  grip.onpointercancel = up;
}
