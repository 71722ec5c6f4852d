import { LIST_KEYS, signCommand } from './chip-commands.ts';
import { type Chip, firstKeyOf } from './nfc.ts';

/**
 * An iPhone gives pages no NFC. Its dialog for security keys does talk to a chip of the HaLo
 * family: the command goes as the id of a credential, and the answer comes back as a signature.
 * Each command needs a press and a hold of its own.
 */

/** How long the phone looks for a card. */
const HOLD_MS = 60_000;

/** iPads have no reader, and other browsers ask for keys that they can verify. */
export function asksByPress(): boolean {
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
 * The first hold says which chip it is. Comes from a press of a button.
 *
 * @param pressed resolves at the next press: the phone's dialog opens for nothing else.
 * @returns null for anything that is no such chip. @throws what the phone throws.
 */
export async function readChipByPress(
  pressed: (until: AbortSignal) => Promise<void>,
  until: AbortSignal,
): Promise<Chip | null> {
  const publicKey = firstKeyOf(hexOf(await ask(LIST_KEYS, until)));
  if (publicKey === null) return null;
  const sign: Chip['sign'] = async (digest, signal, proof) => {
    await pressed(signal);
    return ask(signCommand(digest, proof ?? null), signal);
  };
  return { publicKey, sign, byPress: true };
}
