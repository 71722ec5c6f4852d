import { playNotes } from '../ui/notes.ts';
import { kept } from './kept.ts';
import { ringDevice } from './push.ts';

/** Twice, as a telephone. */
const NOTES = [880, 1175, 880, 1175];
/** Buzz, pause, buzz: felt in a pocket. */
const VIBRATION_MS = [250, 120, 250];

async function playRing(): Promise<void> {
  const audio = new AudioContext();
  await audio.resume();
  const ms = playNotes(audio, NOTES);
  // An open one keeps a phone's loudspeaker awake.
  setTimeout(() => void audio.close(), ms);
}

/** Tells a payer who is not looking at this window that a payment waits for confirmation. */
export function startRing(): void {
  if (document.visibilityState === 'hidden') void ringDevice(true);
  // Browsers warn about both in a window that nobody has touched.
  if (navigator.userActivation?.hasBeenActive !== true) return;
  navigator.vibrate?.(VIBRATION_MS);
  if (!kept('silent')) playRing().catch(() => {});
}

/** The notification goes, wherever it came from. */
export function endRing(): void {
  void ringDevice(false);
}
