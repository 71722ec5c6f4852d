import type { Credential } from '../../data/device.ts';
import { credentialOf } from './credential.ts';

/** Slow readers and busy devices, too: while a pass is waited for, nobody types anything else. */
const GAP_MS = 250;
/** Shorter is what a person might have typed. */
const LEAST_LENGTH = 12;

/**
 * Readers that type what they read and then press Enter (USB and Bluetooth "keyboard wedges").
 * Their Enter must not press the button that has the focus.
 */
export function readKeyboard(
  onPass: (credential: Credential | null) => void,
  signal: AbortSignal,
): void {
  let typed = '';
  let last = 0;
  const onKey = (event: KeyboardEvent) => {
    const { key, timeStamp } = event;
    if (timeStamp - last > GAP_MS) typed = '';
    last = timeStamp;
    if (key.length === 1) typed += key;
    if (key !== 'Enter' || typed === '') return;
    // Also that of a pass that was read in part.
    event.preventDefault();
    event.stopPropagation();
    if (typed.length >= LEAST_LENGTH) onPass(credentialOf(typed));
    typed = '';
  };
  window.addEventListener('keydown', onKey, { capture: true, signal });
}
