import { createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { type Answer, ProtocolError, SUCCESS, select, send, type Transceive } from './apdu.ts';
import {
  decodeMessage,
  encodeMessage,
  externalRecord,
  findRecord,
  type NdefRecord,
} from './ndef.ts';
import { createEphemeralKey, type EphemeralKey } from './p256.ts';
import { number32, type ProveCollector } from './prove-collector.ts';

/**
 * Google Smart Tap 2.1: the reader proves its collector, and the phone returns that collector's
 * pass, encrypted with session keys.
 */

export type SmartTap =
  | { readonly status: 'read'; readonly value: Uint8Array; readonly deviceNonce: Uint8Array }
  /** The phone has no pass of this collector. */
  | { readonly status: 'no_pass' }
  /** The phone asks its owner to choose a pass or to unlock it, so it will be tapped again. */
  | { readonly status: 'tap_again' };

export const SMART_TAP_AID: Uint8Array = Uint8Array.from(Buffer.from('a000000476d0000111', 'hex'));

const NEGOTIATE = 0x53;
const GET_DATA = 0x50;
const GET_MORE_DATA = 0xc0;
const MORE_DATA = 0x9100;
const NO_PASSES = 0x9001;
const CHOOSE_PASS = 0x9302;
const VERSION_1 = Uint8Array.from([0x00, 0x01]);
const BINARY = Uint8Array.from([0x04]);
const LIVE = Uint8Array.from([0x01]);
const STATUS_OK = 0x01;
/** Requests all pass types, because a merchant may use any of Google's classes. */
const ALL_PASSES = Uint8Array.from([0x00]);
/**
 * Tells the phone that this is a standalone till that supports compressed responses and wants the
 * pass rather than a payment card.
 */
const CAPABILITIES = Uint8Array.from([0x41, 0x00, 0x00, 0x00, 0x01]);
const ENCRYPTED = 0x01;
const COMPRESSED = 0x02;
const NONCE_BYTES = 32;
const IV_BYTES = 12;
const MAC_BYTES = 32;
const AES_KEY_BYTES = 16;
/** Limit: a pass has a few hundred bytes, so a phone that sends more portions is faulty. */
const MOST_PORTIONS = 32;
/** Size limit of a decompressed response. */
const LONGEST_PLAIN = 65_536;

/**
 * Reads a phone's pass.
 * @param deviceNonce From the response to SELECT. Without one, the phone is asked for it.
 */
export async function readSmartTap(
  transceive: Transceive,
  prove: ProveCollector,
  deviceNonce?: Uint8Array,
): Promise<SmartTap> {
  const nonce = deviceNonce ?? (await selectSmartTap(transceive));
  if (nonce.length !== NONCE_BYTES) throw new ProtocolError('the nonce has the wrong length');
  const session = await openSession(prove, nonce);
  if (session === null) return { status: 'no_pass' };
  const negotiated = await send(transceive, negotiate(session));
  if (negotiated.status !== SUCCESS) throw unexpected('negotiation', negotiated);
  const accepted = readNegotiated(negotiated.data, session.id);
  const answer = await getData(transceive, session, accepted.sequence + 1);
  if (answer.status === NO_PASSES) return { status: 'no_pass' };
  if (answer.status === CHOOSE_PASS) return { status: 'tap_again' };
  if (answer.status !== SUCCESS) throw unexpected('data', answer);
  const plain = decrypt(bundleOf(answer.data, session.id), session, accepted.publicKey);
  const value = redemptionValueOf(plain);
  return value === undefined
    ? { status: 'no_pass' }
    : { status: 'read', value, deviceNonce: nonce };
}

async function selectSmartTap(transceive: Transceive): Promise<Uint8Array> {
  const answer = await select(transceive, SMART_TAP_AID);
  if (answer.status !== SUCCESS) throw unexpected('selection', answer);
  // The message follows two version numbers of two bytes each.
  const nonce = findRecord(decodeMessage(answer.data.subarray(4)), 'mdn');
  if (nonce === undefined) throw new ProtocolError('the phone sent no nonce');
  return nonce.subarray(1);
}

interface Session {
  readonly id: Uint8Array;
  readonly keyVersion: number;
  readonly collectorId: Uint8Array;
  readonly nonce: Uint8Array;
  readonly deviceNonce: Uint8Array;
  readonly key: EphemeralKey;
  readonly signature: Uint8Array;
}

async function openSession(
  prove: ProveCollector,
  deviceNonce: Uint8Array,
): Promise<Session | null> {
  const key = createEphemeralKey();
  const nonce = Uint8Array.from(randomBytes(NONCE_BYTES));
  const proof = await prove({
    readerNonce: nonce,
    phoneNonce: deviceNonce,
    readerKey: key.publicKey,
  });
  if (proof === null) return null;
  const { keyVersion, signature } = proof;
  const collectorId = number32(proof.collectorId);
  const id = Uint8Array.from(randomBytes(8));
  return { id, keyVersion, collectorId, nonce, deviceNonce, key, signature };
}

function negotiate(session: Session) {
  const crypto = externalRecord(
    'cpr',
    session.nonce,
    LIVE,
    session.key.publicKey,
    number32(session.keyVersion),
    encodeMessage(externalRecord('sig', BINARY, session.signature), collectorRecord(session)),
  );
  const request = externalRecord(
    'ngr',
    VERSION_1,
    encodeMessage(sessionRecord(session, 0), crypto),
  );
  return { cla: 0x90, ins: NEGOTIATE, p1: 0, p2: 0, data: encodeMessage(request), le: 0 };
}

function readNegotiated(data: Uint8Array, id: Uint8Array) {
  const records = nested(data, 'nrs');
  const sequence = sequenceOf(records, id);
  const publicKey = findRecord(records, 'dpk');
  if (publicKey?.length !== 33) throw new ProtocolError('the phone sent no key');
  return { sequence, publicKey };
}

async function getData(transceive: Transceive, session: Session, sequence: number) {
  const merchant = externalRecord('mer', encodeMessage(collectorRecord(session)));
  const services = externalRecord('slr', encodeMessage(externalRecord('str', ALL_PASSES)));
  const capabilities = externalRecord('pcr', CAPABILITIES);
  const request = externalRecord(
    'srq',
    VERSION_1,
    encodeMessage(sessionRecord(session, sequence), merchant, services, capabilities),
  );
  const first = { cla: 0x90, ins: GET_DATA, p1: 0, p2: 0, data: encodeMessage(request), le: 0 };
  const more = { cla: 0x90, ins: GET_MORE_DATA, p1: 0, p2: 0, le: 0 };
  const portions: Uint8Array[] = [];
  for (let count = 0; count < MOST_PORTIONS; count++) {
    const answer = await send(transceive, count === 0 ? first : more);
    portions.push(answer.data);
    if (answer.status !== MORE_DATA)
      return { ...answer, data: Uint8Array.from(Buffer.concat(portions)) };
  }
  throw new ProtocolError('the response exceeds the limit');
}

function bundleOf(data: Uint8Array, id: Uint8Array): { flags: number; bytes: Uint8Array } {
  const records = nested(data, 'srs');
  sequenceOf(records, id);
  const bundle = findRecord(records, 'reb');
  if (bundle === undefined) throw new ProtocolError('the response has no records');
  return { flags: bundle[0] ?? 0, bytes: bundle.subarray(1) };
}

function decrypt(
  bundle: { readonly flags: number; readonly bytes: Uint8Array },
  session: Session,
  deviceKey: Uint8Array,
): Uint8Array {
  const { flags, bytes } = bundle;
  // Refuses the response, because an unencrypted one does not prove that its sender took part in
  // the handshake.
  if ((flags & ENCRYPTED) === 0) throw new ProtocolError('the response is not encrypted');
  if (bytes.length < IV_BYTES + MAC_BYTES) throw new ProtocolError('the response is too short');
  const { aesKey, macKey } = deriveKeys(session, deviceKey);
  const sealed = bytes.subarray(0, -MAC_BYTES);
  const mac = createHmac('sha256', macKey).update(sealed).digest();
  if (!timingSafeEqual(mac, bytes.subarray(-MAC_BYTES))) {
    throw new ProtocolError('the response was altered');
  }
  const counter = Buffer.concat([sealed.subarray(0, IV_BYTES), Buffer.alloc(4)]);
  const cipher = createDecipheriv('aes-128-ctr', aesKey, counter);
  const plain = Buffer.concat([cipher.update(sealed.subarray(IV_BYTES)), cipher.final()]);
  return (flags & COMPRESSED) === 0 ? plain : unfold(plain);
}

function deriveKeys(session: Session, deviceKey: Uint8Array) {
  const { nonce, deviceNonce, collectorId, key, signature } = session;
  const info = Buffer.concat([nonce, deviceNonce, collectorId, key.publicKey, signature]);
  const keys = Buffer.from(hkdfSync('sha256', key.agree(deviceKey), deviceKey, info, 48));
  return { aesKey: keys.subarray(0, AES_KEY_BYTES), macKey: keys.subarray(AES_KEY_BYTES) };
}

function unfold(bytes: Uint8Array): Uint8Array {
  try {
    return inflateSync(bytes, { maxOutputLength: LONGEST_PLAIN });
  } catch (error) {
    throw new ProtocolError('the response cannot be decompressed', { cause: error });
  }
}

/** Returns the redemption value: record `n` in the first object that has one. */
function redemptionValueOf(plain: Uint8Array): Uint8Array | undefined {
  for (const service of decodeMessage(plain).filter((record) => record.type === 'asv')) {
    for (const object of decodeMessage(service.payload)) {
      const value = object.type === 'i' ? undefined : numberIn(object.payload);
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

function numberIn(payload: Uint8Array): Uint8Array | undefined {
  const records = decodeMessage(payload);
  const recordPayload = records.find((record) => record.type === 'n' || record.id === 'n')?.payload;
  // Skips the first byte, which is the encoding of the rest.
  return recordPayload !== undefined && recordPayload.length > 1
    ? recordPayload.subarray(1)
    : undefined;
}

function nested(data: Uint8Array, type: string): readonly NdefRecord[] {
  const payload = findRecord(decodeMessage(data), type);
  if (payload === undefined) throw new ProtocolError(`the response has no ${type}`);
  return decodeMessage(payload);
}

function sequenceOf(records: readonly NdefRecord[], id: Uint8Array): number {
  const session = findRecord(records, 'ses');
  if (session?.length !== 10 || !Buffer.from(session.subarray(0, 8)).equals(id)) {
    throw new ProtocolError('the response belongs to another session');
  }
  if (session[9] !== STATUS_OK) throw new ProtocolError(`the phone refused: ${session[9]}`);
  return session[8] ?? 0;
}

function sessionRecord(session: Session, sequence: number): NdefRecord {
  return externalRecord('ses', session.id, Uint8Array.from([sequence & 0xff, STATUS_OK]));
}

function collectorRecord(session: Session): NdefRecord {
  return externalRecord('cld', BINARY, session.collectorId);
}

function unexpected(step: string, answer: Answer): ProtocolError {
  return new ProtocolError(`the phone answered ${step} with ${answer.status.toString(16)}`);
}
