import { playNotes } from '../ui/play-notes.ts';
import { ringDevice } from './ring-by-push.ts';
import { kept } from './wallet-storage.ts';

/** Rings twice, like a telephone. */
const NOTES = [880, 1175, 880, 1175];
/** Vibrate, pause, vibrate: noticeable in a pocket. */
const VIBRATION_MS = [250, 120, 250];

async function play(notes: readonly number[]): Promise<void> {
  const audio = new AudioContext();
  await audio.resume();
  const ms = playNotes(audio, notes);
  // Closes the audio context, because an open one keeps a phone's speaker powered.
  setTimeout(() => void audio.close(), ms);
}

interface Signal {
  readonly notes: readonly number[];
  readonly vibrationMs: readonly number[];
}

/** Plays and vibrates, unless the user has switched it off. */
export function signalOwner({ notes, vibrationMs }: Signal): void {
  // Browsers log a warning for sound and vibration in a window without user interaction.
  if (navigator.userActivation?.hasBeenActive !== true || kept('silent')) return;
  navigator.vibrate?.([...vibrationMs]);
  play(notes).catch(() => {});
}

/** Alerts a payer who is not looking at this window to a pending confirmation. */
export function startRing(): void {
  if (document.visibilityState === 'hidden') void ringDevice(true);
  signalOwner({ notes: NOTES, vibrationMs: VIBRATION_MS });
}

/** Removes the notification, whichever window showed it. */
export function endRing(): void {
  void ringDevice(false);
}
