import { bytesToNumberBE } from '@noble/curves/utils.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { type EcdsaSignature, recoverKey, wholeKey } from '../ethereum/signature.ts';
import { type Answer, ProtocolError, SUCCESS, select, send, type Transceive } from './apdu.ts';
import { decodeTlv, findTag } from './tlv.ts';

/**
 * Chips with an Ethereum key that sign on request: HaLo (and Burner), Keycard Cash, and a Keycard
 * with a path that needs no PIN. Source: the manufacturers' published commands.
 */
export interface SigningChip {
  /** 65 bytes. */
  readonly publicKey: Uint8Array;
  /** Signs a digest. @param digest 32 bytes. @returns the signature as the chip returned it. */
  sign(digest: Uint8Array): Promise<EcdsaSignature>;
}

const HALO = Uint8Array.from(Buffer.from('481199130e9f01', 'hex'));
const CASH = Uint8Array.from(Buffer.from('a00000080400010301', 'hex'));
const KEYCARD = Uint8Array.from(Buffer.from('a00000080400010101', 'hex'));
/** Status codes for success: HaLo chips return either, depending on their age. */
const HALO_SUCCESS = [SUCCESS, 0x9100];
const HALO_SIGN = 0x01;
const HALO_KEYS = 0x02;
/** The key that the manufacturer reserves for payments. */
const HALO_KEY = 1;
const HALO_FAILED = 0xe1;
const KEYCARD_SIGN = 0xc0;
const CURRENT_KEY = 0x00;
const WITHOUT_PIN = 0x03;
/**
 * A Keycard reveals the key of this path only together with a signature, so it signs this harmless
 * text.
 */
const QUESTION = keccak_256(Buffer.from('tapline: which key signs without a PIN?', 'latin1'));

/** Detects a signing chip. @returns `null` if the card cannot sign or needs a PIN. */
export async function findSigningChip(transceive: Transceive): Promise<SigningChip | null> {
  return (
    (await findHalo(transceive)) ?? (await findCash(transceive)) ?? (await findKeycard(transceive))
  );
}

async function findHalo(transceive: Transceive): Promise<SigningChip | null> {
  if (!HALO_SUCCESS.includes((await select(transceive, HALO)).status)) return null;
  const run = async (...data: readonly number[]) => {
    const command = { cla: 0xb0, ins: 0x51, p1: 0, p2: 0, data: Uint8Array.from(data), le: 0 };
    const answer = await send(transceive, command);
    const failed = answer.data[0] === HALO_FAILED && answer.data.length === 2;
    if (failed || !HALO_SUCCESS.includes(answer.status)) throw refusal(answer);
    return answer.data;
  };
  const [length = 0, ...keys] = await run(HALO_KEYS);
  const publicKey = keyIn(Uint8Array.from(keys.slice(0, length)));
  return {
    publicKey,
    sign: async (digest) => readDer(await run(HALO_SIGN, HALO_KEY, ...digest)),
  };
}

/** Detects a Keycard Cash, which is made for tills: one key and no PIN. */
async function findCash(transceive: Transceive): Promise<SigningChip | null> {
  const selected = await select(transceive, CASH);
  if (selected.status !== SUCCESS) return null;
  const template = findTag(decodeTlv(selected.data), 0xa4);
  const publicKey = keyIn(findTag(decodeTlv(template ?? new Uint8Array()), 0x80));
  return {
    publicKey,
    sign: async (digest) => {
      const answer = await keycardSign(transceive, CURRENT_KEY, digest);
      if (answer.status !== SUCCESS) throw refusal(answer);
      return signedBy(answer.data, digest).signature;
    },
  };
}

async function findKeycard(transceive: Transceive): Promise<SigningChip | null> {
  if ((await select(transceive, KEYCARD)).status !== SUCCESS) return null;
  const probe = await keycardSign(transceive, WITHOUT_PIN, QUESTION);
  // The card lacks this path or has no key, so its owner must pay with a wallet app.
  if (probe.status !== SUCCESS) return null;
  return {
    publicKey: signedBy(probe.data, QUESTION).publicKey,
    sign: async (digest) => {
      const answer = await keycardSign(transceive, WITHOUT_PIN, digest);
      if (answer.status !== SUCCESS) throw refusal(answer);
      return signedBy(answer.data, digest).signature;
    },
  };
}

function keycardSign(transceive: Transceive, p1: number, digest: Uint8Array): Promise<Answer> {
  return send(transceive, { cla: 0x80, ins: KEYCARD_SIGN, p1, p2: 0, data: digest, le: 0 });
}

/** Older cards return a template with key and signature, newer ones r, s and the recovery id. */
function signedBy(data: Uint8Array, digest: Uint8Array) {
  if (data.length === 65) {
    const signature = {
      r: bytesToNumberBE(data.subarray(0, 32)),
      s: bytesToNumberBE(data.subarray(32, 64)),
    };
    const publicKey = recoverKey(digest, signature, ((data[64] ?? 0) & 1) === 1);
    if (publicKey === null) throw new ProtocolError('the signature belongs to no key');
    return { publicKey, signature };
  }
  const template = decodeTlv(findTag(decodeTlv(data), 0xa0) ?? new Uint8Array());
  const der = findTag(template, 0x30);
  if (der === undefined) throw new ProtocolError('the response has no signature');
  return { publicKey: keyIn(findTag(template, 0x80)), signature: readParts(der) };
}

function keyIn(bytes: Uint8Array | undefined): Buffer {
  const key = wholeKey(bytes ?? new Uint8Array());
  if (key === null) throw new ProtocolError('the public key is not on the curve');
  return key;
}

function readDer(bytes: Uint8Array): EcdsaSignature {
  return readParts(findTag(decodeTlv(bytes), 0x30) ?? new Uint8Array());
}

function readParts(inner: Uint8Array): EcdsaSignature {
  const [r, s, ...more] = decodeTlv(inner);
  const isPair = r?.tag === 0x02 && s?.tag === 0x02 && more.length === 0;
  if (!isPair) throw new ProtocolError('the signature has an unknown format');
  return { r: bytesToNumberBE(r.value), s: bytesToNumberBE(s.value) };
}

function refusal({ status }: Answer): ProtocolError {
  return new ProtocolError(`the chip answered ${status.toString(16)}`);
}
