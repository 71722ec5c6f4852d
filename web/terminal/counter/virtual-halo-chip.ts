import { hexToBytes, toHex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { addressMessage } from '../../data/ndef.ts';
import { proofOf } from '../reader/chip-commands.ts';
import type { Thing } from './virtual-nfc-field.ts';

/**
 * Simulates a chip of the HaLo family as its manufacturer's library sees it: a URL with the chip's
 * keys, and commands that are written to it. Only the payment commands are implemented. The key
 * holds test money.
 */

const SIGN = 0x01;
const SIGN_WITH_PIN = 0xa1;
const LIST_KEYS = 0x02;
const FAILED = 0xe1;
const UNKNOWN_COMMAND = 0x01;
const WRONG_KEY = 0x02;
const WRONG_LENGTH = 0x03;
const NO_PIN = 0x10;
const WRONG_PIN = 0x11;
const LOCKED = 0x18;
/** A real chip also locks after this many wrong PINs. */
const MOST_WRONG = 5;
const DIGEST_BYTES = 32;
/** A real chip takes about this long to sign. */
const SIGNING_MS = 600;

function derInteger(hex: string): number[] {
  const bytes = [...hexToBytes(`0x${hex}`)];
  while (bytes.length > 1 && bytes[0] === 0 && (bytes[1] ?? 0) < 0x80) bytes.shift();
  const positive = (bytes[0] ?? 0) < 0x80 ? bytes : [0, ...bytes];
  return [0x02, positive.length, ...positive];
}

/** Encodes r and s as DER, as a chip does. */
function derOf(signature: string): Uint8Array {
  const both = [...derInteger(signature.slice(2, 66)), ...derInteger(signature.slice(66, 130))];
  return Uint8Array.from([0x30, both.length, ...both]);
}

/** Checks the PIN proof as the chip does. Only a caller who knows the PIN can compute the proof. */
async function isPinProof(pin: string, digest: Uint8Array, proof: Uint8Array): Promise<boolean> {
  return toHex(await proofOf(pin, digest)) === toHex(proof);
}

/** Simulates a chip. @param pin `null` for a chip that signs without a PIN. */
export function haloChip(
  account: PrivateKeyAccount,
  page: string,
  pin: string | null = null,
): Thing {
  const key = hexToBytes(account.publicKey);
  const hex = (bytes: Uint8Array) => toHex(bytes).slice(2);
  let answer: Uint8Array | null = null;
  let times = 0;
  let wrong = 0;
  const refusalOf = async (code: number, digest: Uint8Array, proof: Uint8Array) => {
    if (digest.length !== DIGEST_BYTES) return WRONG_LENGTH;
    if (pin === null) return code === SIGN ? null : NO_PIN;
    if (wrong >= MOST_WRONG) return LOCKED;
    if (code === SIGN) return WRONG_PIN;
    if (await isPinProof(pin, digest, proof)) return null;
    wrong++;
    return WRONG_PIN;
  };
  const run = async (command: Uint8Array): Promise<Uint8Array> => {
    const [code, slot] = command;
    if (code === LIST_KEYS) return Uint8Array.from([key.length, ...key, 0]);
    if (code !== SIGN && code !== SIGN_WITH_PIN) {
      return Uint8Array.from([FAILED, UNKNOWN_COMMAND]);
    }
    if (slot !== 1) return Uint8Array.from([FAILED, WRONG_KEY]);
    const digest = code === SIGN ? command.subarray(2) : command.subarray(2, 2 + DIGEST_BYTES);
    const refusal = await refusalOf(code, digest, command.subarray(2 + DIGEST_BYTES));
    if (refusal !== null) return Uint8Array.from([FAILED, refusal]);
    await new Promise((resolve) => setTimeout(resolve, SIGNING_MS));
    return derOf(await account.sign({ hash: toHex(digest) }));
  };
  return {
    message: () => {
      const result = answer === null ? '' : `&res=${hex(answer)}`;
      answer = null;
      return addressMessage(`${page}?pk1=${hex(key)}${result}`);
    },
    command: async (bytes) => {
      const time = times;
      const result = await run(bytes);
      if (time === times) answer = result;
    },
    leave: () => {
      answer = null;
      times++;
    },
  };
}
