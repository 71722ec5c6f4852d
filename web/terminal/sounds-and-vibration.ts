import { playNotes } from '../ui/play-notes.ts';

/** Sounds and vibrations for each result, for cashiers who are not looking at the screen. */
const SIGNALS = {
  good: { notes: [880, 1320], vibration: [60, 40, 120] },
  bad: { notes: [330, 220], vibration: [250, 100, 250] },
  /** Played when a pass was read. */
  wait: { notes: [587], vibration: [40] },
} as const;

/** Long enough to notice from the side, while the text fades in. */
const COLOR_MS = 500;

export type Signal = keyof typeof SIGNALS;

let colorTimer = 0;

/** Fills the screen with the color of the result, which people notice before the text. */
function showColor(kind: Signal): void {
  const { dataset } = document.documentElement;
  delete dataset.signal;
  // Forces a layout, so that the same color twice in a row restarts the animation.
  void document.documentElement.offsetWidth;
  dataset.signal = kind;
  clearTimeout(colorTimer);
  colorTimer = window.setTimeout(() => delete dataset.signal, COLOR_MS);
}

let audio: AudioContext | null = null;

function unlockSound(): void {
  audio ??= new AudioContext();
  void audio.resume();
}

/**
 * Unlocks sound at the first click. Browsers require one after each load, so also after a reload
 * during a shift.
 */
export function unlockSoundOnClick(end: AbortSignal): void {
  if (navigator.userActivation?.isActive === true) unlockSound();
  const how = { once: true, capture: true, signal: end };
  window.addEventListener('click', unlockSound, how);
  window.addEventListener('keydown', unlockSound, how);
}

/** @param isOn The till's setting for sounds and vibration; the color shows in any case. */
export function signal(kind: Signal, isOn: boolean): void {
  const { notes, vibration } = SIGNALS[kind];
  showColor(kind);
  if (!isOn) return;
  if (audio?.state === 'running') playNotes(audio, notes);
  // Missing in Safari and Firefox.
  if ('vibrate' in navigator) navigator.vibrate([...vibration]);
}
