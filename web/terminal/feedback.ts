import { playNotes } from '../ui/notes.ts';

/** What a result sounds and feels like: told by ear and hand, for those who do not look. */
const SIGNALS = {
  good: { notes: [880, 1320], vibration: [60, 40, 120] },
  bad: { notes: [330, 220], vibration: [250, 100, 250] },
  /** A pass was read. */
  wait: { notes: [587], vibration: [40] },
} as const;

/** Long enough to be seen from the side; the words come up from under it. */
const COLOR_MS = 500;

export type Signal = keyof typeof SIGNALS;

let colorTimer = 0;

/** Fills the screen with the color of what has happened, before anybody reads a word. */
function showColor(kind: Signal): void {
  const { dataset } = document.documentElement;
  delete dataset.signal;
  // Forces a layout, so that the same color twice starts its animation twice.
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
 * Browsers let a page make sounds only after somebody has pressed something on it: after each load,
 * also in the middle of a shift.
 */
export function unlockSoundByPress(end: AbortSignal): void {
  if (navigator.userActivation?.isActive === true) unlockSound();
  const how = { once: true, capture: true, signal: end };
  window.addEventListener('click', unlockSound, how);
  window.addEventListener('keydown', unlockSound, how);
}

export function signal(kind: Signal, withSound: boolean): void {
  const { notes, vibration } = SIGNALS[kind];
  showColor(kind);
  if (withSound && audio?.state === 'running') playNotes(audio, notes);
  // Absent in Safari and Firefox.
  if ('vibrate' in navigator) navigator.vibrate([...vibration]);
}
