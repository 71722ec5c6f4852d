import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { CardGone, ProtocolError, SUCCESS, select, type Transceive, withinTime } from './apdu.ts';
import { isOriginal, NXP_KEY } from './chip-originality.ts';
import { cmac, decryptCbc, shortMac } from './cmac.ts';
import { encodeMessage, WELL_KNOWN } from './ndef.ts';
import {
  authenticate,
  chipNumber,
  FACTORY_KEY,
  FACTORY_VERSION,
  fileSettings,
  KEY_BYTES,
  makersSignature,
  NDEF_FILE,
  OTHER_KEYS,
  type SecureSession,
} from './ntag424.ts';
import { NDEF_AID, readTagContent } from './type4.ts';

/**
 * Turns a blank NTAG 424 DNA into a pass's SUN card. The master key is changed last: a card removed
 * before that can be written again, and afterwards the pass's keys are needed. No key is stored,
 * because all are derived from the pass's two keys.
 */

/** The network's one-time response for a new card. It contains secrets: never write it to disk. */
export interface CardSettings {
  readonly url_template: string;
  /** 16 bytes in hex. */
  readonly meta_read_key: string;
  /** 16 bytes in hex. */
  readonly file_read_key: string;
}

export type Written =
  /** The pass was written and read back. */
  | { readonly status: 'written'; readonly uid: string }
  /** The card already had this pass. It was read back; nothing changed. */
  | { readonly status: 'already_written'; readonly uid: string }
  /** The card has keys or content of another application. Nothing was changed. */
  | { readonly status: 'not_blank' }
  | { readonly status: 'not_a_chip_of_this_kind' }
  /**
   * The UID lacks NXP's signature: a counterfeit, whose keys others may know. Nothing was changed.
   */
  | { readonly status: 'counterfeit' }
  /** The card was removed too early and must be presented again. */
  | { readonly status: 'gone' }
  | { readonly status: 'failed'; readonly reason: string };

/** Time limit. About 30 commands take half a second on a good reader. */
export const LONGEST_WRITE_MS = 10_000;
const MASTER = 0;
const META_READ = 1;
const FILE_READ = 2;
const OUR_VERSION = 1;
/** Limit: one command writes the whole message. The file has 256 bytes. */
const LONGEST_MESSAGE = 240;
/** Number of bytes before the URL: message length, record header, URI prefix code. */
const ADDRESS_AT = 7;
const BEGINNINGS = [
  ['https://', 0x04],
  ['http://', 0x03],
] as const;
const PLACES = /^([^?]+)\?p=0{32}&c=0{16}$/;
const READ = /\?p=([0-9A-F]{32})&c=([0-9A-F]{16})$/;
/** Encrypted UID and counter; the UID has seven bytes. */
const PICC_TAG = 0xc7;

/**
 * Never rejects; failures are values, too.
 * @param maker The manufacturer's public key.
 * @throws RangeError if the settings are malformed.
 */
export async function writeCard(
  transceive: Transceive,
  settings: CardSettings,
  maker: Uint8Array = NXP_KEY,
): Promise<Written> {
  const pass = readSettings(settings);
  const limit = withinTime(transceive, LONGEST_WRITE_MS);
  try {
    return await write(limit.transceive, pass, maker);
  } catch (error) {
    if (error instanceof CardGone) return { status: 'gone' };
    const reason =
      error instanceof ProtocolError ? error.message : 'the response has an unknown format';
    return { status: 'failed', reason };
  } finally {
    limit.end();
  }
}

interface PassOfCard {
  /** The URL up to the part that changes with each tap. */
  readonly page: string;
  readonly message: Uint8Array;
  readonly fileSettings: Uint8Array;
  readonly metaRead: Uint8Array;
  readonly fileRead: Uint8Array;
}

/** Parses settings. @throws RangeError if these are not card settings. */
export function readSettings(settings: CardSettings): PassOfCard {
  const address = settings.url_template;
  const page = PLACES.exec(address)?.[1];
  const [beginning, code] = BEGINNINGS.find(([start]) => address.startsWith(start)) ?? [];
  if (page === undefined || beginning === undefined || code === undefined) {
    throw new RangeError('This is not a card URL.');
  }
  const rest = Buffer.from(address.slice(beginning.length), 'latin1');
  const payload = Buffer.concat([Uint8Array.from([code]), rest]);
  const record = encodeMessage({ tnf: WELL_KNOWN, type: 'U', id: '', payload });
  const message = Buffer.concat([Uint8Array.from([0, record.length]), record]);
  if (message.length > LONGEST_MESSAGE) throw new RangeError('The URL is too long for a card.');
  const placeOf = (text: string) => ADDRESS_AT + address.indexOf(text) + 3 - beginning.length;
  return {
    page,
    message,
    fileSettings: settingsOf({ piccData: placeOf('?p='), mac: placeOf('&c=') }),
    metaRead: keyOf(settings.meta_read_key),
    fileRead: keyOf(settings.file_read_key),
  };
}

function keyOf(text: string): Uint8Array {
  if (!/^[0-9a-f]{32}$/i.test(text)) throw new RangeError('A key must have 32 hex digits.');
  return Buffer.from(text, 'hex');
}

/**
 * Returns the file's settings: readable by anyone, writable with the master key only. UID and
 * counter are encrypted; the MAC covers no data.
 */
function settingsOf(at: { readonly piccData: number; readonly mac: number }): Uint8Array {
  const littleEndian = (offset: number) => [offset, 0, 0];
  const rights = [MASTER, 0xe0 | MASTER];
  const readRights = [0xff, (META_READ << 4) | FILE_READ];
  return Uint8Array.from([
    ...[0x40, ...rights, 0xc1, ...readRights],
    ...littleEndian(at.piccData),
    ...littleEndian(at.mac),
    ...littleEndian(at.mac),
  ]);
}

async function write(
  transceive: Transceive,
  pass: PassOfCard,
  maker: Uint8Array,
): Promise<Written> {
  if ((await select(transceive, NDEF_AID)).status !== SUCCESS) {
    return { status: 'not_a_chip_of_this_kind' };
  }
  const uid = await chipNumber(transceive);
  if (uid === null) return { status: 'not_a_chip_of_this_kind' };
  const signature = await makersSignature(transceive);
  if (signature === null || !isOriginal(Buffer.from(uid, 'hex'), signature, maker)) {
    return { status: 'counterfeit' };
  }
  const content = await contentOf(transceive);
  const isOurs = content?.startsWith(`${pass.page}?`) ?? false;
  if (content !== undefined && !isOurs) return { status: 'not_blank' };
  const master = derivedKey(pass, { uid, number: MASTER });
  const factory = await authenticate(transceive, { number: MASTER, key: FACTORY_KEY });
  if (factory === null) {
    const own = isOurs ? await authenticate(transceive, { number: MASTER, key: master }) : null;
    if (own === null) return { status: 'not_blank' };
    await readBack(transceive, pass, uid);
    return { status: 'already_written', uid };
  }
  const kept = await keysThatAreSet(factory);
  // Another program has set keys, and the content is not that of our pass.
  if (kept.length > 0 && !isOurs) return { status: 'not_blank' };
  await factory.writeData(NDEF_FILE, pass.message);
  for (const number of OTHER_KEYS.filter((other) => !kept.includes(other))) {
    const to = keyNumber(pass, uid, number);
    await factory.changeKey(number, { from: FACTORY_KEY, to, version: OUR_VERSION });
  }
  await factory.changeFileSettings(NDEF_FILE, pass.fileSettings);
  await readBack(transceive, pass, uid);
  await lock(transceive, master);
  return { status: 'written', uid };
}

async function contentOf(transceive: Transceive): Promise<string | undefined> {
  try {
    return await readTagContent(transceive);
  } catch (error) {
    // The content is not an NDEF message.
    if (error instanceof ProtocolError) return '';
    throw error;
  }
}

async function keysThatAreSet(session: SecureSession): Promise<readonly number[]> {
  const set: number[] = [];
  for (const number of OTHER_KEYS) {
    if ((await session.keyVersion(number)) !== FACTORY_VERSION) set.push(number);
  }
  return set;
}

/** Completes the card: sets the master key and verifies that the chip accepted it. */
async function lock(transceive: Transceive, key: Uint8Array): Promise<void> {
  const session = await authenticate(transceive, { number: MASTER, key: FACTORY_KEY });
  if (session === null) throw new ProtocolError('the chip no longer accepts its key');
  await session.changeOwnKey(MASTER, { to: key, version: OUR_VERSION });
  if ((await authenticate(transceive, { number: MASTER, key })) === null) {
    throw new ProtocolError('the chip did not accept its key');
  }
}

function keyNumber(pass: PassOfCard, uid: string, number: number): Uint8Array {
  if (number === META_READ) return pass.metaRead;
  if (number === FILE_READ) return pass.fileRead;
  return derivedKey(pass, { uid, number });
}

/** Derives a key from the pass's keys and the chip, so that it need not be stored. */
function derivedKey(pass: PassOfCard, chip: { readonly uid: string; readonly number: number }) {
  const secret = Buffer.concat([pass.metaRead, pass.fileRead]);
  const label = `tapline card key ${chip.number}`;
  return new Uint8Array(hkdfSync('sha256', secret, Buffer.from(chip.uid, 'hex'), label, KEY_BYTES));
}

/** Reads the card as a till does. @throws ProtocolError if its output is wrong. */
async function readBack(transceive: Transceive, pass: PassOfCard, uid: string): Promise<void> {
  const content = (await readTagContent(transceive)) ?? '';
  const [, piccData = '', mac = ''] = READ.exec(content) ?? [];
  if (!content.startsWith(`${pass.page}?`) || piccData === '') {
    throw new ProtocolError('the URL read back differs from the one written');
  }
  const plain = decryptCbc(pass.metaRead, Buffer.from(piccData, 'hex'));
  const identity = plain.subarray(1, 11);
  const session = cmac(
    pass.fileRead,
    Buffer.concat([Buffer.from('3cc300010080', 'hex'), identity]),
  );
  const isSigned = timingSafeEqual(shortMac(session, new Uint8Array()), Buffer.from(mac, 'hex'));
  const isItself = identity.subarray(0, 7).toString('hex').toUpperCase() === uid;
  if (plain[0] !== PICC_TAG || !isSigned || !isItself) {
    throw new ProtocolError("the card's signature does not match the keys written");
  }
  const stated = await fileSettings(transceive, NDEF_FILE);
  const expected = Buffer.from(pass.fileSettings);
  // Skips the file's type and size, which cannot be changed.
  const isSet = Buffer.concat([stated.subarray(1, 4), stated.subarray(7)]).equals(expected);
  if (!isSet) throw new ProtocolError('the file settings read back differ from those written');
}
