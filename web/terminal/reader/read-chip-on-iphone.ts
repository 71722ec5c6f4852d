import { type Chip, LIST_KEYS, signCommand } from './chip-commands.ts';
import { firstKeyOf } from './read-nfc.ts';

/**
 * iPhones give pages no access to NFC, but their security-key dialog can talk to a chip of the HaLo
 * family: the credential id carries the command, and the signature carries the response. Each
 * command needs another click and another hold.
 */

/** The time for which the phone waits for a card. */
const HOLD_MS = 60_000;

/**
 * True on iPhones only: iPads have no reader, and other browsers only accept keys that they can
 * verify.
 */
export function needsClick(): boolean {
  return (
    /iPhone/.test(navigator.userAgent) &&
    isSecureContext &&
    'credentials' in navigator &&
    !('NDEFReader' in window)
  );
}

async function ask(command: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<Uint8Array> {
  const publicKey: PublicKeyCredentialRequestOptions = {
    allowCredentials: [{ id: command, transports: ['nfc'], type: 'public-key' }],
    challenge: crypto.getRandomValues(new Uint8Array(32)),
    timeout: HOLD_MS,
    userVerification: 'discouraged',
  };
  const answer = (await navigator.credentials.get({ publicKey, signal })) as {
    readonly response?: { readonly signature?: ArrayBuffer };
  } | null;
  return new Uint8Array(answer?.response?.signature ?? new ArrayBuffer());
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Reads the chip at its first hold, which only identifies it. Must be called from a click.
 * @param clicked Resolves at the next click, without which the phone opens no dialog.
 * @returns `null` if the item is no such chip.
 * @throws the phone's error.
 */
export async function readChipAfterClick(
  clicked: (until: AbortSignal) => Promise<void>,
  until: AbortSignal,
): Promise<Chip | null> {
  const publicKey = firstKeyOf(hexOf(await ask(LIST_KEYS, until)));
  if (publicKey === null) return null;
  const sign: Chip['sign'] = async (digest, signal, proof) => {
    await clicked(signal);
    return ask(signCommand(digest, proof ?? null), signal);
  };
  return { publicKey, sign, afterClick: true };
}
