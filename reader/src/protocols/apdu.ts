/**
 * Commands and responses of ISO/IEC 7816-4. A card is a function from command to response, so each
 * protocol here works with emulated and real cards alike.
 */

/** Sends one command to the card. Rejects with `CardGone` if the card was removed. */
export type Transceive = (command: Uint8Array) => Promise<Uint8Array>;

export interface Command {
  readonly cla: number;
  readonly ins: number;
  readonly p1: number;
  readonly p2: number;
  readonly data?: Uint8Array;
  /** Expected response length; 0 means all available bytes. */
  readonly le?: number;
}

export interface Answer {
  readonly data: Uint8Array;
  /** Both status bytes as one number: 0x9000 is success. */
  readonly status: number;
}

export const SUCCESS = 0x9000;

/** A short command has one length byte. No protocol here needs more. */
const LONGEST_DATA = 255;
/** A short response has at most 256 bytes and the status, but faulty readers may return more. */
const LONGEST_ANSWER = 65_538;

/** Thrown if the card left the field, or the reader was unplugged. */
export class CardGone extends Error {
  constructor(options?: ErrorOptions) {
    super('the card was removed', options);
    this.name = 'CardGone';
  }
}

/** Thrown if the card's response violates its protocol. */
export class ProtocolError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ProtocolError';
  }
}

export function encodeCommand(command: Command): Uint8Array {
  const { cla, ins, p1, p2, data = new Uint8Array(), le } = command;
  if (data.length > LONGEST_DATA) throw new RangeError('a command carries at most 255 bytes');
  return Uint8Array.from([
    cla,
    ins,
    p1,
    p2,
    ...(data.length === 0 ? [] : [data.length, ...data]),
    ...(le === undefined ? [] : [le]),
  ]);
}

export function decodeAnswer(bytes: Uint8Array): Answer {
  if (bytes.length < 2 || bytes.length > LONGEST_ANSWER) {
    throw new ProtocolError(`the response has ${bytes.length} bytes`);
  }
  const status = bytes.subarray(-2);
  return {
    data: bytes.subarray(0, -2),
    status: new DataView(status.buffer, status.byteOffset).getUint16(0),
  };
}

export async function send(transceive: Transceive, command: Command): Promise<Answer> {
  return decodeAnswer(await transceive(encodeCommand(command)));
}

export function select(transceive: Transceive, aid: Uint8Array): Promise<Answer> {
  return send(transceive, { cla: 0x00, ins: 0xa4, p1: 0x04, p2: 0x00, data: aid, le: 0 });
}

export interface Limited {
  readonly transceive: Transceive;
  /** Counted from now. */
  readonly extend: (longerMs: number) => void;
  readonly end: () => void;
}

/**
 * Limits the time that a card may take, so that a card that stops responding cannot block the till.
 */
export function withinTime(transceive: Transceive, ms: number): Limited {
  let timer: NodeJS.Timeout | undefined;
  let extend = (_longerMs: number) => {};
  const late = new Promise<never>((_, reject) => {
    extend = (longerMs) => {
      clearTimeout(timer);
      timer = setTimeout(() => reject(new ProtocolError('the card responds too slowly')), longerMs);
    };
    extend(ms);
  });
  // Marks the rejection as handled, because no command may be pending when it occurs.
  late.catch(() => undefined);
  return {
    transceive: (command) => Promise.race([transceive(command), late]),
    extend,
    end: () => clearTimeout(timer),
  };
}
