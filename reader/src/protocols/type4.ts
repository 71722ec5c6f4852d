import { type Answer, ProtocolError, SUCCESS, select, send, type Transceive } from './apdu.ts';
import { decodeMessage, findContent } from './ndef.ts';

/** An NFC Forum type 4 tag, through which a SUN card (NTAG 424 DNA) provides its URL. */

export const NDEF_AID: Uint8Array = Uint8Array.from(Buffer.from('d2760000850101', 'hex'));
const CAPABILITY_FILE = 0xe103;
/** Offset of the NDEF file's id in the capability container, after the two-byte TLV header. */
const NDEF_FILE_AT = 9;
/**
 * Limit: a card's URL is under 200 bytes. Larger messages are not ours, and reading them takes
 * time.
 */
const LONGEST_MESSAGE = 1024;
/** Bytes per read, for cards that state no maximum. */
const PORTION = 59;

/** Reads a tag. @returns its URL or text; `undefined` if there is none or the card is not a tag. */
export async function readTagContent(transceive: Transceive): Promise<string | undefined> {
  if ((await select(transceive, NDEF_AID)).status !== SUCCESS) return undefined;
  const capabilities = await readFile(transceive, CAPABILITY_FILE, 0, 15);
  const file = Buffer.from(capabilities).readUInt16BE(NDEF_FILE_AT);
  const length = Buffer.from(await readFile(transceive, file, 0, 2)).readUInt16BE();
  if (length === 0) return undefined;
  if (length > LONGEST_MESSAGE) throw new ProtocolError('the message is too long');
  const bytes: Uint8Array[] = [];
  for (let at = 0; at < length; at += PORTION) {
    bytes.push(await readBinary(transceive, 2 + at, Math.min(PORTION, length - at)));
  }
  return findContent(decodeMessage(Buffer.concat(bytes)));
}

async function readFile(transceive: Transceive, file: number, at: number, length: number) {
  const data = Uint8Array.from([file >> 8, file & 0xff]);
  const command = { cla: 0x00, ins: 0xa4, p1: 0x00, p2: 0x0c, data };
  succeeded(await send(transceive, command));
  return readBinary(transceive, at, length);
}

async function readBinary(transceive: Transceive, at: number, length: number) {
  const command = { cla: 0x00, ins: 0xb0, p1: at >> 8, p2: at & 0xff, le: length };
  const answer = succeeded(await send(transceive, command));
  if (answer.data.length !== length)
    throw new ProtocolError('the file is shorter than its length field');
  return answer.data;
}

function succeeded(answer: Answer): Answer {
  if (answer.status === SUCCESS) return answer;
  throw new ProtocolError(`the tag answered ${answer.status.toString(16)}`);
}
