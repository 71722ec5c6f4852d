import { CardGone, ProtocolError, SUCCESS, select, type Transceive, withinTime } from './apdu.ts';
import type { ProveCollector } from './prove-collector.ts';
import { findSigningChip } from './signing-chip.ts';
import { readSmartTap, SMART_TAP_AID } from './smart-tap.ts';
import { decodeTlv, findTag } from './tlv.ts';
import { readTagContent } from './type4.ts';
import { type PassType, readVas } from './vas.ts';

/** Reads an item that is held to the reader, trying the protocols in a fixed order. */

export interface Wallets {
  readonly collector: ProveCollector | null;
  readonly passType: PassType | null;
}

/** A tap's credential in the device API's format. The values are secrets: never log them. */
export interface TapCredential {
  readonly type: 'smart_tap' | 'apple_vas' | 'nfc_sun' | 'nfc_id';
  readonly value: string;
}

export type Tap =
  | { readonly status: 'read'; readonly credential: TapCredential }
  /** A chip signed the digest from `ToSign`. All values in hex. */
  | { readonly status: 'signed'; readonly signed: SignedByChip }
  /** A chip can sign, but no payment waits or the network did not provide a digest. */
  | { readonly status: 'nothing_to_sign' }
  /** The phone has a supported wallet, but no pass of this network. */
  | { readonly status: 'no_pass' }
  /** The phone must be unlocked, or its owner must choose a pass. The customer then taps again. */
  | { readonly status: 'tap_again' }
  /** The item is, for example, a bank card, a ticket or an empty tag. */
  | { readonly status: 'not_a_payment_card' }
  /** The item was removed before it was read. */
  | { readonly status: 'gone' }
  /** The item's response violated the protocol or came too late. */
  | { readonly status: 'unreadable'; readonly reason: string };

export interface SignedByChip {
  /** 65 bytes. */
  readonly public_key: string;
  readonly digest: string;
  /** 32 bytes each. */
  readonly r: string;
  readonly s: string;
}

/** Returns the 32-byte digest that the chip with this 65-byte key must sign now, or `null`. */
export type ToSign = (publicKey: Uint8Array) => Promise<Uint8Array | null>;

export const WALLET_AID: Uint8Array = Uint8Array.from(Buffer.from('OSE.VAS.01', 'latin1'));
/**
 * Time limit of a phone's tap. Customers hold a phone for about a second, so a longer tap would
 * fail anyway.
 */
export const LONGEST_TAP_MS = 2000;
/**
 * Time limit of a signature. A chip takes about a second, and people hold it still for a few
 * seconds.
 */
const LONGEST_SIGNATURE_MS = 8000;

const GOOGLE = 'AndroidPay';
const APPLE = 'ApplePay';
/** A static chip of this network contains its pass as text. */
const STATIC_PASS = /^nfc_[0-9A-Za-z]{20,80}$/;
const FORMAT = 1;

/** Never rejects; failures are values, too. */
export async function readTap(
  transceive: Transceive,
  wallets: Wallets,
  toSign: ToSign = async () => null,
): Promise<Tap> {
  const limit = withinTime(transceive, LONGEST_TAP_MS);
  try {
    const card = limit.transceive;
    const read = (await readWallet(card, wallets)) ?? (await readTag(card));
    if (read !== null) return read;
    const chip = await findSigningChip(card);
    if (chip === null) return { status: 'not_a_payment_card' };
    limit.extend(LONGEST_SIGNATURE_MS);
    const digest = await toSign(chip.publicKey);
    if (digest === null) return { status: 'nothing_to_sign' };
    const { r, s } = await chip.sign(digest);
    const public_key = Buffer.from(chip.publicKey).toString('hex');
    const word = (value: bigint) => value.toString(16).padStart(64, '0');
    const signed = { public_key, digest: Buffer.from(digest).toString('hex') };
    return { status: 'signed', signed: { ...signed, r: word(r), s: word(s) } };
  } catch (error) {
    if (error instanceof CardGone) return { status: 'gone' };
    // Malformed bytes can make a parser throw in unforeseen ways, but the till must keep running.
    const reason =
      error instanceof ProtocolError ? error.message : 'the response has an unknown format';
    return { status: 'unreadable', reason };
  } finally {
    limit.end();
  }
}

async function readWallet(transceive: Transceive, wallets: Wallets): Promise<Tap | null> {
  const selected = await select(transceive, WALLET_AID);
  if (selected.status !== SUCCESS) return null;
  const template = findTag(decodeTlv(selected.data), 0x6f);
  const fields = template === undefined ? [] : decodeTlv(template);
  const label = Buffer.from(findTag(fields, 0x50) ?? new Uint8Array()).toString('latin1');
  if (label === GOOGLE && wallets.collector !== null) {
    return readGoogle(transceive, wallets.collector, nonceIn(fields));
  }
  if (label === APPLE && wallets.passType !== null) {
    return readApple(transceive, wallets.passType);
  }
  return label === GOOGLE || label === APPLE ? { status: 'no_pass' } : null;
}

async function readGoogle(
  transceive: Transceive,
  collector: ProveCollector,
  nonce: Uint8Array | undefined,
): Promise<Tap> {
  const result = await readSmartTap(transceive, collector, nonce);
  if (result.status !== 'read') return result;
  const value = smartTapValue(result);
  return { status: 'read', credential: { type: 'smart_tap', value } };
}

async function readApple(transceive: Transceive, passType: PassType): Promise<Tap> {
  const result = await readVas(transceive, passType);
  if (result.status !== 'read') return result;
  return { status: 'read', credential: { type: 'apple_vas', value: vasValue(result) } };
}

/**
 * @returns `null` if it is not one of this network's cards; signing chips contain their
 * manufacturer's URL.
 */
async function readTag(transceive: Transceive): Promise<Tap | null> {
  const content = await readTagContent(transceive);
  if (content === undefined) return null;
  if (STATIC_PASS.test(content)) {
    return { status: 'read', credential: { type: 'nfc_id', value: content } };
  }
  const url = URL.canParse(content) ? new URL(content) : null;
  if (url === null || !/\/card\/card_[0-9A-Za-z]+$/.test(url.pathname)) return null;
  return { status: 'read', credential: { type: 'nfc_sun', value: content } };
}

/**
 * Encodes the value: format byte, the phone's session nonce (which makes the value single-use),
 * then the value.
 */
export function smartTapValue(read: {
  readonly value: Uint8Array;
  readonly deviceNonce: Uint8Array;
}): string {
  return Buffer.concat([Uint8Array.from([FORMAT]), read.deviceNonce, read.value]).toString(
    'base64url',
  );
}

/**
 * Encodes the value: format byte, the phone's time in Unix seconds (which makes the value
 * short-lived), then the message.
 */
export function vasValue(read: { readonly message: Uint8Array; readonly at: Date }): string {
  const seconds = Buffer.alloc(5);
  seconds.writeUInt8(FORMAT);
  seconds.writeUInt32BE(Math.floor(read.at.getTime() / 1000), 1);
  return Buffer.concat([seconds, read.message]).toString('base64url');
}

/**
 * Returns the phone's nonce. Newer phones put it next to the application or into its directory
 * entry.
 */
function nonceIn(fields: ReturnType<typeof decodeTlv>): Uint8Array | undefined {
  const beside = findTag(fields, 0xc2);
  if (beside !== undefined) return beside;
  const proprietary = findTag(fields, 0xa5);
  const issuer = proprietary && findTag(decodeTlv(proprietary), 0xbf0c);
  for (const { tag, value } of issuer === undefined ? [] : decodeTlv(issuer)) {
    if (tag !== 0x61) continue;
    const entry = decodeTlv(value);
    const aid = findTag(entry, 0x4f);
    const details = findTag(entry, 0x73);
    if (details === undefined || !Buffer.from(SMART_TAP_AID).equals(aid ?? new Uint8Array()))
      continue;
    return findTag(decodeTlv(details), 0xdf6e);
  }
  return undefined;
}
