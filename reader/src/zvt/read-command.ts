import { type Charset, UTF8_TAG_VALUE } from './charset.ts';
import {
  EUR,
  fromRegister,
  isCurrency,
  type Money,
  type Scales,
  scaleOf,
} from './price-of-amount.ts';
import { type Fields, type Frame, fromBcd, type Refused, readFields } from './zvt-frames.ts';

export type Command =
  | (Protected & {
      readonly type: 'registration';
      readonly register: Register;
      readonly known: boolean;
    })
  | { readonly type: 'authorization'; readonly ask: Ask }
  | (Protected & {
      readonly type: 'reversal';
      readonly receipt: number | null;
      readonly amount: number | null;
    })
  | (Protected & {
      readonly type: 'refund';
      readonly receipt: number | null;
      readonly money: Money | null;
    })
  | { readonly type: 'log_off' | 'end_of_day' | 'repeat_receipt' | 'diagnosis' }
  | { readonly type: 'initialisation' | 'status_enquiry' | 'abort' | 'acknowledged' }
  | { readonly type: 'not_acknowledged'; readonly code: number }
  /** A currency whose amounts registers send in different scales. */
  | { readonly type: 'unscaled'; readonly currency: number }
  | { readonly type: 'unknown' }
  | { readonly type: 'malformed'; readonly reason: string };

interface Protected {
  /** The command's first three bytes, in hex. */
  readonly password: string;
}

/** The preferences that a cash register states when it registers. */
export interface Register {
  /** The number of its currency. */
  readonly currency: number;
  /** The register prints receipts of payments, so they are sent to it as text. */
  readonly printsReceipts: boolean;
  /** The register prints reports, such as the end of day, so they are sent to it as text. */
  readonly printsReports: boolean;
  readonly wantsStatus: boolean;
  /** The register takes a receipt as one block of text instead of line by line. */
  readonly takesBlocks: boolean;
  /** Characters per line of its printer. */
  readonly width: 32 | 48;
  readonly charset: Charset;
  /** Bytes of the longest frame that it takes. */
  readonly longestFrame: number;
}

/** What the lines of a register's printer can hold. */
export type Paper = Pick<Register, 'width' | 'charset'>;

export interface Ask {
  readonly amount: number;
  /** `null` for the register's own currency. */
  readonly currency: number | null;
  /** The register's own number of the sale in hex, if it sends one. */
  readonly number: string | null;
  /** Numbers that may be a currency behind a field that this terminal does not know. */
  readonly mayName: readonly number[];
}

export const UNREGISTERED: Register = {
  currency: EUR,
  printsReceipts: false,
  printsReports: false,
  wantsStatus: false,
  takesBlocks: false,
  width: 32,
  charset: 'cp437',
  longestFrame: 1_024,
};

export const CONTROL = {
  acknowledged: 0x8000,
  statusInformation: 0x040f,
  intermediateStatus: 0x04ff,
  completion: 0x060f,
  abort: 0x061e,
  printLine: 0x06d1,
  textBlock: 0x06d3,
} as const;

/** Fields by their numbers. */
export const FIELD = {
  amount: 0x04,
  container: 0x06,
  trace: 0x0b,
  time: 0x0c,
  date: 0x0d,
  status: 0x19,
  result: 0x27,
  terminal: 0x29,
  originalTrace: 0x37,
  additionalText: 0x3c,
  currency: 0x49,
  totals: 0x60,
  receipt: 0x87,
  turnover: 0x88,
  cardName: 0x8b,
} as const;

export const TAG = {
  textLine: 0x07,
  lineAttribute: 0x09,
  command: 0x0a,
  printerWidth: 0x12,
  charset: 0x14,
  longestFrame: 0x1a,
  printTexts: 0x25,
  registerNumber: 0xc4,
  receiptType: 0x1f07,
} as const;

const PASSWORD_BYTES = 3;
const CURRENCY_BYTES = 2;
const WIDE_PAPER = 48;
/** Bits of the configuration byte. */
const CONFIG = { receipts: 0x02, reports: 0x04, status: 0x08, printLines: 0x80 } as const;

/**
 * The commands in the documentation. The reader refuses those that it lacks with code 83. A browser
 * can begin a connection with none of them: it sends an HTTP method, TLS (16 03) or STUN (00 01).
 */
const PUBLISHED: ReadonlySet<number> = new Set(
  (
    [
      [0x05, [0x01]],
      [0x06, [0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x09, 0x0a, 0x0c, 0x10, 0x12, 0x18, 0x1a]],
      [0x06, [0x1b, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x30, 0x31, 0x50, 0x51, 0x70, 0x79]],
      [0x06, [0x82, 0x85, 0x86, 0x87, 0x88, 0x91, 0x93, 0x95, 0xb0, 0xc0, 0xc5, 0xc6, 0xce]],
      [0x06, [0xd1, 0xd3, 0xd8, 0xd9, 0xda, 0xdb, 0xe0, 0xe1, 0xe2, 0xe3, 0xe5, 0xe6, 0xe7]],
      [0x06, [0xe8]],
      [0x08, [0x01, 0x02, 0x10, 0x11, 0x12, 0x13, 0x14, 0x20, 0x21, 0x22, 0x23, 0x24, 0x30]],
      [0x08, [0x40, 0x50]],
    ] as const
  ).flatMap(([group, instructions]) => instructions.map((one) => group * 256 + one)),
);

/** True if a connection that begins with these bytes may be a register's. */
export function beginsCommand(bytes: Uint8Array): boolean {
  const [group = 0, instruction] = bytes;
  if (instruction === undefined) return bytes.length === 0 || [0x05, 0x06, 0x08].includes(group);
  return PUBLISHED.has(group * 256 + instruction);
}

/** Never throws: other frames become `unknown` or `malformed`. */
export function readCommand({ control, data }: Frame): Command {
  switch (control) {
    case CONTROL.acknowledged:
    case 0x8400:
      return { type: 'acknowledged' };
    case 0x0501:
      return { type: 'status_enquiry' };
    case 0x0600:
      return readRegistration(data);
    case 0x0601:
      return readAuthorization(data);
    case 0x0602:
      return { type: 'log_off' };
    case 0x0620:
      return { type: 'repeat_receipt' };
    case 0x0630:
      return readReversal(data);
    case 0x0631:
      return readRefund(data);
    case 0x0650:
      return { type: 'end_of_day' };
    case 0x0670:
      return { type: 'diagnosis' };
    case 0x0693:
      return { type: 'initialisation' };
    case 0x06b0:
      return readAbort(data);
    default:
      if (control >> 8 === 0x84) return { type: 'not_acknowledged', code: control & 0xff };
      return { type: 'unknown' };
  }
}

function malformed(reason: string): Command {
  return { type: 'malformed', reason };
}

/** An abort has no data but a container. Anything else is a damaged frame, which ends no sale. */
function readAbort(data: Uint8Array): Command {
  const fields = readFields(data);
  const isAbort = fields.status === 'read' && [...fields.values.keys()].every(isContainer);
  return isAbort ? { type: 'abort' } : malformed('an abort has no fields');
}

function isContainer(field: number): boolean {
  return field === FIELD.container;
}

function readRegistration(data: Uint8Array): Command {
  const config = data[PASSWORD_BYTES];
  if (config === undefined) return malformed('a registration has a configuration byte');
  const at = PASSWORD_BYTES + 1;
  const named = data.subarray(at, at + CURRENCY_BYTES);
  const startsFields = named[0] === 0x03 || named[0] === FIELD.container;
  const number = named.length === CURRENCY_BYTES ? fromBcd(named) : null;
  const isNamed = number !== null && (isCurrency(number) || !startsFields);
  const fields = readFields(data, isNamed ? at + CURRENCY_BYTES : at);
  if (fields.status === 'refused') return malformed(fields.reason);
  const printsLines = (config & CONFIG.printLines) !== 0;
  return {
    type: 'registration',
    password: passwordIn(data),
    known: !isNamed || isCurrency(number),
    register: {
      currency: isNamed && isCurrency(number) ? number : EUR,
      printsReceipts: printsLines && (config & CONFIG.receipts) !== 0,
      printsReports: printsLines && (config & CONFIG.reports) !== 0,
      wantsStatus: (config & CONFIG.status) !== 0,
      ...printerOf(fields),
    },
  };
}

/** Every register takes this much, and a payment's result is shorter. */
const LEAST_FRAME = 256;

type Printer = Pick<Register, 'takesBlocks' | 'width' | 'charset' | 'longestFrame'>;

function printerOf({ tlv }: Fields): Printer {
  const longest = tlv.find(({ tag }) => tag === TAG.longestFrame)?.value ?? NOTHING;
  const bytes = longest.reduce((sum, byte) => sum * 256 + byte, 0);
  const width = fromBcd(tlv.find(({ tag }) => tag === TAG.printerWidth)?.value ?? NOTHING);
  return {
    takesBlocks: tlv.some(
      ({ tag, value }) => tag === TAG.command && value[0] === 0x06 && value[1] === 0xd3,
    ),
    width: width !== null && width >= WIDE_PAPER ? 48 : 32,
    charset: tlv.some(({ tag, value }) => tag === TAG.charset && value[0] === UTF8_TAG_VALUE)
      ? 'utf8'
      : 'cp437',
    longestFrame: longest.length === 0 ? UNREGISTERED.longestFrame : Math.max(bytes, LEAST_FRAME),
  };
}

const NOTHING = new Uint8Array();
const NO_DIGITS = 'a number is not in packed decimal digits';

function readAuthorization(data: Uint8Array): Command {
  const fields = readFields(data);
  if (fields.status === 'refused') return readPartOf(data, fields);
  const amount = numberIn(fields, FIELD.amount);
  if (amount === null || amount === 'malformed' || amount === 0) {
    return malformed('an authorization has an amount above 0');
  }
  const currency = numberIn(fields, FIELD.currency);
  if (currency === 'malformed') return malformed(NO_DIGITS);
  const number = fields.tlv.find(({ tag }) => tag === TAG.registerNumber)?.value;
  const isNumbered = number !== undefined && number.length > 0;
  return {
    type: 'authorization',
    ask: {
      ...{ amount, currency, mayName: [] },
      number: isNumbered ? Buffer.from(number).toString('hex') : null,
    },
  };
}

/**
 * Reads an authorization up to a field that this terminal does not know, whose length it does not
 * know either. The bytes behind it may be fields of this sale, too.
 */
function readPartOf(data: Uint8Array, { reason, unknownAt }: Refused): Command {
  const command = unknownAt === null ? null : readAuthorization(data.subarray(0, unknownAt));
  if (unknownAt === null || command?.type !== 'authorization') return malformed(reason);
  const rest = data.subarray(unknownAt);
  const mayName = Array.from(rest.keys())
    .filter((at) => rest[at] === FIELD.currency)
    .map((at) => rest.subarray(at + 1, at + 1 + CURRENCY_BYTES))
    .flatMap((bytes) => (bytes.length === CURRENCY_BYTES ? (fromBcd(bytes) ?? []) : []));
  return { ...command, ask: { ...command.ask, mayName } };
}

function numberIn({ values }: Fields, field: number): number | null | 'malformed' {
  const value = values.get(field);
  if (value === undefined) return null;
  return fromBcd(value) ?? 'malformed';
}

function receiptIn(fields: Fields): number | null | 'malformed' {
  const value = fields.values.get(FIELD.receipt);
  // FFFF means the last receipt. 0000 and 9999 are numbers: the last digits of receipts 10000 and
  // 9999.
  if (value?.every((byte) => byte === 0xff)) return null;
  return numberIn(fields, FIELD.receipt);
}

function readReversal(data: Uint8Array): Command {
  const fields = readFields(data, PASSWORD_BYTES);
  if (fields.status === 'refused') return malformed(fields.reason);
  const receipt = receiptIn(fields);
  const amount = numberIn(fields, FIELD.amount);
  if (receipt === 'malformed' || amount === 'malformed') return malformed(NO_DIGITS);
  return { type: 'reversal', password: passwordIn(data), receipt, amount };
}

function readRefund(data: Uint8Array): Command {
  const fields = readFields(data, PASSWORD_BYTES);
  if (fields.status === 'refused') return malformed(fields.reason);
  const receipt = receiptIn(fields);
  const amount = numberIn(fields, FIELD.amount);
  const currency = numberIn(fields, FIELD.currency);
  if (receipt === 'malformed' || amount === 'malformed' || currency === 'malformed') {
    return malformed(NO_DIGITS);
  }
  if (amount === 0) return malformed('a refund has an amount above 0');
  // Without a currency, a refund is in the sale's currency.
  const money = amount === null ? null : { amount, currency: currency ?? 0 };
  return { type: 'refund', password: passwordIn(data), receipt, money };
}

function passwordIn(data: Uint8Array): string {
  return Buffer.from(data.subarray(0, PASSWORD_BYTES)).toString('hex');
}

export function inMinorUnits(command: Command, { currency }: Register, scales: Scales): Command {
  switch (command.type) {
    case 'authorization': {
      const { ask } = command;
      const money = { amount: ask.amount, currency: ask.currency ?? currency };
      const amount = fromRegister(money, scales);
      return amount === null ? unscaled(money, scales) : { ...command, ask: { ...ask, amount } };
    }
    case 'reversal': {
      if (command.amount === null) return command;
      const money = { amount: command.amount, currency };
      const amount = fromRegister(money, scales);
      return amount === null ? unscaled(money, scales) : { ...command, amount };
    }
    case 'refund': {
      if (command.money === null) return command;
      const money = { ...command.money, currency: command.money.currency || currency };
      const amount = fromRegister(money, scales);
      if (amount === null) return unscaled(money, scales);
      return { ...command, money: { ...command.money, amount } };
    }
    default:
      return command;
  }
}

function unscaled({ currency }: Money, scales: Scales): Command {
  if (scaleOf(currency, scales) === null) return { type: 'unscaled', currency };
  return malformed('an amount is not a whole number of minor units');
}
