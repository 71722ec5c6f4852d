import { keccak_256 } from '@noble/hashes/sha3.js';
import { isRefusal } from '#core/answer.ts';
import { readRate, writeRate } from '#core/currency-conversion.ts';
import { readName } from '#core/name-rules.ts';
import { AUTHORIZATION_FIELDS } from '#core/typed-data-fields.ts';
import { fromBase32, toBase32 } from './base32.ts';
import { fromHex, type Hex, toHex } from './bytes.ts';
import { authorizationNonce } from './receive-authorization.ts';

/**
 * The messages that a till and a wallet exchange offline, as QR codes or typed: the request, which
 * the wallet shows and signs, and the answer. Each is a prefix with the version, followed by bytes
 * in base32. Capital letters and digits give the smallest codes, and any reader can type them on
 * any keyboard. docs/terminal-protocol.md lists the bytes, and offline-codes.json has examples.
 */

/** The price of a sale in the shop's currency, at the rate of the till's terms. */
export interface OfflinePrice {
  readonly currency: string;
  /** Minor units. */
  readonly amount: number;
  /** USDC for one unit of the currency, as decimal text. */
  readonly rate: string;
}

/** A sale as the till requests it. All amounts are USDC atoms. */
export interface OfflineRequest {
  readonly chainId: number;
  readonly usdc: Hex;
  readonly usdcName: string;
  readonly usdcVersion: string;
  readonly settlement: Hex;
  readonly merchantNumber: number;
  /** The merchant's name according to the till; the wallet cannot verify it. */
  readonly merchantName: string;
  /** The sale without fees. */
  readonly amount: bigint;
  /** The amount that leaves the wallet: the sale plus fees, minus cashback. */
  readonly value: bigint;
  /** Unix seconds. */
  readonly validBefore: number;
  readonly salt: Hex;
  /** Only in version 2. A sale in USDC has none, so that every wallet can read its request. */
  readonly price?: OfflinePrice;
}

/** A wallet's answer: its signature, with the fields that identify the signed message. */
export interface OfflineAnswer {
  readonly from: Hex;
  /** Unix seconds, like `validBefore`. */
  readonly validAfter: number;
  readonly validBefore: number;
  /** 65 bytes. */
  readonly signature: Hex;
  /** The first four bytes of the nonce, which identify the request. */
  readonly nonceCheck: Hex;
}

/**
 * The reason why a text could not be read: a code of another version, a text that is no such code,
 * or a damaged code.
 */
export type NotRead = 'other_version' | 'other_text' | 'damaged';

const REQUEST = 'TLREQ';
const ANSWER = 'TLANS';
type Word = typeof REQUEST | typeof ANSWER;
/** 1 is for sales in USDC, 2 for sales in the shop's currency. */
type Version = '1' | '2';

function versionOf({ price }: Pick<OfflineRequest, 'price'>): Version {
  return price === undefined ? '1' : '2';
}

/** Maximum length of a name in bytes, so that the QR code stays readable. */
const LONGEST_NAME = 60;
/** Bytes of the checksum at the end of a code, which detects typing mistakes. */
const CHECK_BYTES = 4;
/** ISO 4217, in capital letters. */
const CURRENCY_BYTES = 3;
const WORD_BYTES = 8;

type Bytes = Uint8Array<ArrayBuffer>;

/** From version 2 on, the checksum covers the version, too. */
function checkOf(bytes: Uint8Array, version: Version): Uint8Array {
  const covered = version === '1' ? bytes : Uint8Array.from([...bytes, Number(version)]);
  return keccak_256(covered).slice(0, CHECK_BYTES);
}

function write(word: Word, version: Version, parts: readonly Bytes[]): string {
  const bytes = Uint8Array.from(parts.flatMap((part) => [...part]));
  return `${word}${version}${toBase32(Uint8Array.from([...bytes, ...checkOf(bytes, version)]))}`;
}

/** Reads fields one after the other. @throws RangeError after the end of the data. */
class Fields {
  readonly #bytes: Bytes;
  #at = 0;

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
  }

  take(length: number): Bytes {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('too short');
    const part = this.#bytes.slice(this.#at, end);
    this.#at = end;
    return part;
  }

  /** Reads a price. @throws RangeError if the currency is not three letters. */
  price(): OfflinePrice {
    const currency = new TextDecoder().decode(this.take(CURRENCY_BYTES)).toLowerCase();
    if (!/^[a-z]{3}$/.test(currency)) throw new RangeError('not a currency');
    return { currency, amount: this.integer(), rate: writeRate(this.number()) };
  }

  hex(length: number): Hex {
    return toHex(this.take(length));
  }

  number(): bigint {
    return new DataView(this.take(WORD_BYTES).buffer).getBigUint64(0);
  }

  /** Reads an integer. @throws RangeError if a JSON number cannot hold it exactly. */
  integer(): number {
    const value = this.number();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError('too large');
    return Number(value);
  }

  /** Reads a text. @throws TypeError if the bytes are not UTF-8. */
  text(): string {
    const [length = 0] = this.take(1);
    return new TextDecoder('utf-8', { fatal: true }).decode(this.take(length));
  }

  /** Reads a name that the wallet shows. @throws RangeError if it breaks the rules for names. */
  name(): string {
    const name = readName(this.text(), 'name');
    if (isRefusal(name)) throw new RangeError(name.message);
    return name;
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw new RangeError('too long');
  }
}

function read<T>(
  text: string,
  word: Word,
  fields: (from: Fields, version: Version) => T,
): T | NotRead {
  // Ignores case and spaces: a person may type the code in lowercase or in groups, and a field may
  // wrap it.
  const code = text.replace(/\s/g, '').toUpperCase();
  if (!code.startsWith(word)) return 'other_text';
  const version = code.charAt(word.length);
  if (version !== '1' && version !== '2') return 'other_version';
  const letters = code.slice(word.length + version.length);
  try {
    const all = fromBase32(letters);
    const bytes = all.slice(0, -CHECK_BYTES);
    if (toHex(all.slice(-CHECK_BYTES)) !== toHex(checkOf(bytes, version))) return 'damaged';
    // Each message has exactly one valid encoding, so the unused bits of the last letter must be 0.
    if (toBase32(all) !== letters) return 'damaged';
    const from = new Fields(bytes);
    const input = fields(from, version);
    from.end();
    return input;
  } catch {
    return 'damaged';
  }
}

function number(value: bigint | number): Bytes {
  const view = new DataView(new ArrayBuffer(WORD_BYTES));
  view.setBigUint64(0, BigInt(value));
  return new Uint8Array(view.buffer);
}

function priceOf({ currency, amount, rate }: OfflinePrice): Bytes {
  return Uint8Array.from([
    ...new TextEncoder().encode(currency.toUpperCase()),
    ...number(amount),
    ...number(readRate(rate)),
  ]);
}

/** Returns as many whole characters as fit. */
function fitting(text: string): string {
  let kept = '';
  let length = 0;
  for (const letter of text) {
    length += new TextEncoder().encode(letter).length;
    if (length > LONGEST_NAME) break;
    kept += letter;
  }
  return kept;
}

function textOf(text: string): Bytes {
  const bytes = new TextEncoder().encode(fitting(text));
  return Uint8Array.from([bytes.length, ...bytes]);
}

/** A joiner at the end of a cut name would break the rules for names. */
function nameOf(name: string): Bytes {
  return textOf(fitting(name).replace(/[\u200c\u200d]+$/u, ''));
}

export function writeRequest(request: OfflineRequest): string {
  const { price } = request;
  return write(REQUEST, versionOf(request), [
    number(request.chainId),
    fromHex(request.usdc),
    textOf(request.usdcName),
    textOf(request.usdcVersion),
    fromHex(request.settlement),
    number(request.merchantNumber),
    nameOf(request.merchantName),
    number(request.amount),
    number(request.value),
    number(request.validBefore),
    fromHex(request.salt),
    ...(price === undefined ? [] : [priceOf(price)]),
  ]);
}

export function readRequest(text: string): OfflineRequest | NotRead {
  return read(text, REQUEST, (from, version) => ({
    chainId: from.integer(),
    usdc: from.hex(20),
    usdcName: from.text(),
    usdcVersion: from.text(),
    settlement: from.hex(20),
    merchantNumber: from.integer(),
    merchantName: from.name(),
    amount: from.number(),
    value: from.number(),
    validBefore: from.integer(),
    salt: from.hex(32),
    ...(version === '2' ? { price: from.price() } : {}),
  }));
}

/** Writes the answer to a request, in its version, as a text of 174 characters. */
export function writeAnswer(
  answer: OfflineAnswer,
  request: Pick<OfflineRequest, 'price'> = {},
): string {
  return write(ANSWER, versionOf(request), [
    fromHex(answer.from),
    number(answer.validAfter),
    number(answer.validBefore),
    fromHex(answer.signature),
    fromHex(answer.nonceCheck),
  ]);
}

export function readAnswer(text: string): OfflineAnswer | NotRead {
  return read(text, ANSWER, (from) => ({
    from: from.hex(20),
    validAfter: from.integer(),
    validBefore: from.integer(),
    signature: from.hex(65),
    nonceCheck: from.hex(4),
  }));
}

/** Returns the nonce, which binds the signature to merchant, sale and salt, but not to an order. */
export function offlineNonce(
  request: Pick<OfflineRequest, 'merchantNumber' | 'amount' | 'salt'>,
): Hex {
  const { merchantNumber, amount, salt } = request;
  return authorizationNonce({ merchantNumber, amount, salt });
}

export function nonceCheckOf(nonce: Hex): Hex {
  return nonce.slice(0, 10) as Hex;
}

/** Builds the message that a wallet signs, as an argument of viem's `signTypedData`. */
export function offlineMessage(request: OfflineRequest, from: Hex) {
  return {
    domain: {
      name: request.usdcName,
      version: request.usdcVersion,
      chainId: request.chainId,
      verifyingContract: request.usdc,
    },
    types: { ReceiveWithAuthorization: AUTHORIZATION_FIELDS },
    primaryType: 'ReceiveWithAuthorization',
    message: {
      from,
      to: request.settlement,
      value: request.value,
      validAfter: 0n,
      validBefore: BigInt(request.validBefore),
      nonce: offlineNonce(request),
    },
  } as const;
}

/** Returns the answer to a request, with the signature of its message. */
export function answerTo(
  request: OfflineRequest,
  { from, signature }: Pick<OfflineAnswer, 'from' | 'signature'>,
): OfflineAnswer {
  const { validBefore } = request;
  return {
    from,
    validAfter: 0,
    validBefore,
    signature,
    nonceCheck: nonceCheckOf(offlineNonce(request)),
  };
}
