import { hashTypedData, hexToBytes, recoverAddress, type TypedDataDefinition, toHex } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import type { ChipSignature, DeviceApi } from '../../data/device-api.ts';
import { refusalText } from '../../data/refusal-text.ts';
import { type Limit, within } from '../../data/run-within.ts';
import { formatAtoms } from '../../ui/format-usdc.ts';
import { t } from '../../ui/text/t.ts';
import { type Chip, proofOf, refusalIn } from './chip-commands.ts';

/**
 * Signs payments with a chip. Loaded when such a chip is presented, because it needs the curve and
 * the hash function.
 */

/** Time limit for signing: a person holds a card still for a few seconds at most. */
const SIGN_LIMIT_MS = 8_000;
/** Time limit after a PIN was typed, because the user must pick the card up again. */
const AFTER_PIN_MS = 20_000;
/** Time limit with the phone's own dialog, which needs a click and takes longer. */
const AFTER_CLICK_MS = 60_000;
/** Order of secp256k1. Contracts only accept the lower of the two values of `s` (EIP-2). */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export type Signed =
  | { readonly is: 'signed'; readonly signed: ChipSignature }
  | { readonly is: 'left_early' }
  /** `message` is the service's own text, if it sent one. */
  | { readonly is: 'not_signed'; readonly message: string | null };

/** Reads one integer of a DER signature, which begins at `at`. */
function integerAt(der: Uint8Array, at: number): { readonly value: bigint; readonly end: number } {
  const [tag, length = 0] = der.subarray(at);
  const end = at + 2 + length;
  if (tag !== 0x02 || length === 0 || length > 33 || end > der.length) throw new RangeError('DER');
  return { value: BigInt(toHex(der.subarray(at + 2, end))), end };
}

/**
 * Decodes a DER signature. Of the two possible values of `s`, returns the lower one.
 * @throws RangeError unless the input is two integers below the order.
 */
export function readDer(der: Uint8Array): { readonly r: bigint; readonly s: bigint } {
  if (der[0] !== 0x30) throw new RangeError('DER');
  const r = integerAt(der, 2);
  const s = integerAt(der, r.end);
  const isWithin = [r, s].every(({ value }) => value > 0n && value < ORDER);
  if (!isWithin) throw new RangeError('DER');
  return { r: r.value, s: s.value > ORDER / 2n ? ORDER - s.value : s.value };
}

/** @returns `null` if neither recovered key is the chip's. */
async function signatureOf(
  digest: Uint8Array,
  { der, from }: { readonly der: Uint8Array; readonly from: string },
): Promise<`0x${string}` | null> {
  const { r, s } = readDer(der);
  const both: `0x${string}` = `${toHex(r, { size: 32 })}${toHex(s, { size: 32 }).slice(2)}`;
  for (const v of [27, 28]) {
    const hex: `0x${string}` = `${both}${v.toString(16)}`;
    if ((await recoverAddress({ hash: digest, signature: hex }).catch(() => null)) === from) {
      return hex;
    }
  }
  return null;
}

function emptyCardWords(balance: bigint): string {
  return t('till.chip.problem.too_little', { sum: formatAtoms(balance) });
}

const LOCKED = 'till.chip.problem.locked';

/** Asks for the card's PIN, which stays on this device. Resolves to `null` if none was entered. */
export type AskPin = (wasWrong: boolean, until: AbortSignal) => Promise<string | null>;

export interface Signing {
  readonly chip: Chip;
  readonly digest: Uint8Array;
  readonly askPin: AskPin;
}

function timeLimitOf({ afterClick }: Chip, usualMs: number, until: AbortSignal): Limit {
  return { ms: afterClick === true ? AFTER_CLICK_MS : usualMs, until };
}

/**
 * Returns the chip's response, after a retry with its PIN if it needs one; `null` if no PIN was
 * entered.
 */
async function answerOf(signing: Signing, until: AbortSignal): Promise<Uint8Array | null> {
  const { chip, digest, askPin } = signing;
  const limit = timeLimitOf(chip, SIGN_LIMIT_MS, until);
  let answer = await within(limit, (signal) => chip.sign(digest, signal));
  for (let wrong = false; refusalIn(answer) === 'wants_pin'; wrong = true) {
    const pin = await askPin(wrong, until);
    if (pin === null) return null;
    const proof = await proofOf(pin, digest);
    const longer = timeLimitOf(chip, AFTER_PIN_MS, until);
    answer = await within(longer, (signal) => chip.sign(digest, signal, proof));
  }
  return answer;
}

/**
 * Has a chip sign a digest, and asks for its PIN if it needs one. Never throws: the result says
 * that the card left too early, or why the chip did not sign.
 */
export async function signDigest(signing: Signing, until: AbortSignal): Promise<Signed> {
  const from = publicKeyToAddress(`0x${signing.chip.publicKey}`);
  let der: Uint8Array | null;
  try {
    der = await answerOf(signing, until);
  } catch {
    return { is: 'left_early' };
  }
  if (der === null) return { is: 'not_signed', message: null };
  if (refusalIn(der) === 'locked') return { is: 'not_signed', message: t(LOCKED) };
  try {
    const signature = await signatureOf(signing.digest, { der, from });
    return signature === null
      ? { is: 'not_signed', message: null }
      : { is: 'signed', signed: { from, signature } };
  } catch {
    // The chip returned an error code, or bytes that are not a signature.
    return { is: 'not_signed', message: null };
  }
}

export interface ChipPayment {
  readonly api: DeviceApi;
  readonly intent: string;
  readonly tip: bigint | null;
  readonly chip: Chip;
  readonly askPin: AskPin;
}

/** Has a chip sign a payment of this till, without sending the signature to the service. */
export async function signByChip(payment: ChipPayment, until: AbortSignal): Promise<Signed> {
  const { api, intent, tip, chip, askPin } = payment;
  const from = publicKeyToAddress(`0x${chip.publicKey}`);
  const message = await api.toSign(intent, { from, tip });
  if (message.is === 'refused') return { is: 'not_signed', message: refusalText(message.error) };
  if (message.is !== 'done' || message.value.typed_data === null) {
    return { is: 'not_signed', message: null };
  }
  const { balance, typed_data } = message.value;
  const typedData = typed_data as unknown as TypedDataDefinition;
  // Checks the card's balance before the card signs, so that its holder can use another card.
  if (balance !== null && BigInt(balance) < BigInt(String(typedData.message.value))) {
    return { is: 'not_signed', message: emptyCardWords(BigInt(balance)) };
  }
  return signDigest({ chip, digest: hexToBytes(hashTypedData(typedData)), askPin }, until);
}
