import { type Charset, encodeText, UTF8_TAG_VALUE } from './charset.ts';
import { codeOf, type Money, moneyText, type Scales, toRegister } from './price-of-amount.ts';
import { CONTROL, FIELD, type Register, TAG } from './read-command.ts';
import {
  type Closed,
  type EarlierSale,
  RESULT,
  type Refund,
  type Sale,
  type Stored,
} from './stored-results.ts';
import { type Frame, fieldBytes, frameBytes, type Tlv, tlvBytes, toBcd } from './zvt-frames.ts';

/** The frames that this terminal sends to a register. */

/** Codes of the intermediate status. "Insert card" is shown while the customer may pay. */
export const SHOWN = {
  waiting: 0x0a,
  processing: 0x04,
  pleaseWait: 0x0e,
  reversing: 0x05,
} as const;

/** The card's name on a receipt; here no card was read. */
const NAME = 'Tapline';
const RECEIPT_TYPE = { customer: 0x02, report: 0x03 } as const;
const LAST_LINE = 0x81;
const MOST_COUNTED = 0xff;
/** Characters of an additional text. */
const MOST_TEXT = 99;

export const ACKNOWLEDGED: Frame = frame(CONTROL.acknowledged);
export const READY: Frame = frame(CONTROL.completion, [RESULT.ok]);
export const COMPLETED: Frame = frame(CONTROL.completion);

function frame(control: number, data: readonly number[] = []): Frame {
  return { control, data: Uint8Array.from(data) };
}

export function notAcknowledged(code: number): Frame {
  return frame(0x8400 + code);
}

export function abort(code: number, fields: readonly number[] = []): Frame {
  return frame(CONTROL.abort, [code, ...fields]);
}

/** Returns the refusal of a currency, which names the register's own currency. */
export function wrongCurrency({ currency }: Register): Frame {
  return abort(RESULT.wrongCurrency, [...fieldBytes(FIELD.currency, toBcd(currency, 2))]);
}

export function intermediateStatus(code: number): Frame {
  return frame(CONTROL.intermediateStatus, [code]);
}

/** Answers a registration. @param terminal The eight digits of this terminal. */
export function registered({ currency }: Register, terminal: number): Frame {
  return frame(CONTROL.completion, [
    ...fieldBytes(FIELD.status, Uint8Array.of(0)),
    ...fieldBytes(FIELD.terminal, toBcd(terminal, 4)),
    ...fieldBytes(FIELD.currency, toBcd(currency, 2)),
  ]);
}

export interface Terminal {
  /** The eight digits of this terminal. */
  readonly terminal: number;
  readonly scales: Scales;
}

interface Result {
  readonly code: number;
  readonly trace: number;
  readonly originalTrace?: number | null;
  readonly money: Money | null;
  readonly at: string | null;
  readonly receipt: number | null;
  readonly text: string;
  readonly totals?: Uint8Array;
}

function statusInformation(result: Result, { terminal, scales }: Terminal): Frame {
  const { money, at, receipt, originalTrace, totals } = result;
  const isDone = result.code === RESULT.ok;
  return frame(CONTROL.statusInformation, [
    ...fieldBytes(FIELD.result, Uint8Array.of(result.code)),
    ...(money === null ? [] : fieldBytes(FIELD.amount, toBcd(toRegister(money, scales), 6))),
    ...fieldBytes(FIELD.trace, toBcd(result.trace, 3)),
    ...(originalTrace ? fieldBytes(FIELD.originalTrace, toBcd(originalTrace, 3)) : []),
    ...(at === null ? [] : timeFields(new Date(at))),
    ...fieldBytes(FIELD.terminal, toBcd(terminal, 4)),
    ...(money === null ? [] : fieldBytes(FIELD.currency, toBcd(money.currency, 2))),
    ...(receipt === null ? [] : fieldBytes(FIELD.receipt, toBcd(receipt, 2))),
    ...(isDone ? fieldBytes(FIELD.turnover, toBcd(result.trace, 3)) : []),
    ...(isDone && totals === undefined
      ? fieldBytes(FIELD.cardName, Buffer.from(`${NAME}\0`, 'latin1'))
      : []),
    ...(totals === undefined ? [] : fieldBytes(FIELD.totals, totals)),
    ...(result.text === '' ? [] : textField(result.text)),
  ]);
}

/** Uses local time, because the register's clock shows the shop's time. */
function timeFields(at: Date): readonly number[] {
  const time = at.getHours() * 10_000 + at.getMinutes() * 100 + at.getSeconds();
  const date = (at.getMonth() + 1) * 100 + at.getDate();
  return [...fieldBytes(FIELD.time, toBcd(time, 3)), ...fieldBytes(FIELD.date, toBcd(date, 2))];
}

function textField(text: string): Uint8Array {
  return fieldBytes(FIELD.additionalText, encodeText(text.slice(0, MOST_TEXT), 'cp437'));
}

/** Reports that nothing was paid, with a text for the cashier. */
export function refusedSale(
  refusal: Pick<Result, 'code' | 'trace' | 'text'>,
  terminal: Terminal,
): Frame {
  return statusInformation({ ...refusal, money: null, at: null, receipt: null }, terminal);
}

/** Refuses a currency whose scale is not set. */
export function unscaled(
  { currency }: { readonly currency: number },
  { stored: { register, trace }, ...settings }: Terminal & { readonly stored: Stored },
): readonly Frame[] {
  const text = `${codeOf(currency).toUpperCase()}: set --zvt-scale at the reader`;
  const refusal = { code: RESULT.wrongCurrency, trace, text };
  return [refusedSale(refusal, settings), wrongCurrency(register)];
}

/** Returns the text that names an earlier sale, in the shop's time, within {@link MOST_TEXT}. */
export function paidBeforeText(
  { paid_at, receipt }: EarlierSale,
  { now, isLast }: { readonly now: Date; readonly isLast: boolean },
): string {
  const at = new Date(paid_at);
  const two = (part: number) => String(part).padStart(2, '0');
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  const isToday = at.toDateString() === now.toDateString();
  const day = isToday ? '' : `${two(at.getMonth() + 1)}-${two(at.getDate())} `;
  const number = String(receipt).padStart(4, '0');
  const copy = isLast ? 'repeat the receipt for a copy, or ' : '';
  return `paid at ${day}${time}, receipt ${number}; ${copy}start again for a new sale`;
}

/** Reports a sale whose result is known. */
export function saleResult(
  sale: Sale & { status: 'paid' | 'not_paid' },
  terminal: Terminal,
): Frame {
  const { trace } = sale;
  if (sale.status === 'not_paid') {
    return refusedSale({ code: sale.code, trace, text: '' }, terminal);
  }
  const { at, receipt, text } = sale.paid;
  const money = { amount: sale.amount, currency: sale.currency };
  return statusInformation({ code: RESULT.ok, trace, money, at, receipt, text }, terminal);
}

/** Reports a reversal or refund whose result is known. */
export function refundResult(
  refund: Refund & { status: 'done' | 'refused' },
  terminal: Terminal,
): Frame {
  const { trace, original_trace: originalTrace } = refund;
  if (refund.status === 'refused') {
    return refusedSale({ code: refund.code, trace, text: '' }, terminal);
  }
  const { money, at, receipt } = refund.done;
  const { ok } = RESULT;
  const done = { code: ok, trace, originalTrace, money, at, receipt };
  return statusInformation({ ...done, text: '' }, terminal);
}

/** The sales since the last end of day, as sent to the register. */
export interface Totals {
  readonly closes: Closed;
  readonly count: number;
  /** The sum in the register's currency. */
  readonly money: Money;
  readonly firstReceipt: number;
  readonly lastReceipt: number;
  /** The report for the printer, one entry per line. */
  readonly lines: readonly string[];
}

/** Reports the end of day. All sales count as the documentation's kind "other cards". */
export function totalsResult(totals: Totals, trace: number, terminal: Terminal): Frame {
  const none = [0, ...toBcd(0, 6)];
  const sum = toRegister(totals.money, terminal.scales);
  const others = [Math.min(totals.count, MOST_COUNTED), ...toBcd(sum, 6)];
  const numbers = [...toBcd(totals.firstReceipt, 2), ...toBcd(totals.lastReceipt, 2)];
  const kinds = [...none, ...none, ...none, ...none, ...none, ...none, ...others];
  const result = {
    code: RESULT.ok,
    trace,
    money: totals.money,
    at: totals.closes.at,
    receipt: null,
    text: moneyText(totals.money),
    totals: Uint8Array.from([...numbers, ...kinds]),
  };
  return statusInformation(result, terminal);
}

/** Returns frames that make the register print: text blocks, or one frame per line. */
export function printFrames(
  lines: readonly string[],
  { register, kind }: { readonly register: Register; readonly kind: 'customer' | 'report' },
): readonly Frame[] {
  const texts = lines.map((line) => encodeText(line === '' ? ' ' : line, register.charset));
  if (register.takesBlocks) return textBlocks(texts, RECEIPT_TYPE[kind], register);
  return texts.map((text, index) => {
    const attribute = index === texts.length - 1 ? LAST_LINE : 0;
    return frame(CONTROL.printLine, [attribute, ...text]);
  });
}

/** Splits a receipt into blocks that the register takes. Only the last one ends the receipt. */
function textBlocks(
  texts: readonly Uint8Array[],
  type: number,
  { charset, longestFrame }: Register,
): readonly Frame[] {
  const block = (lines: readonly Uint8Array[], isLast: boolean) =>
    textBlock(lines, { type, charset, isLast });
  const full: Frame[] = [];
  let lines: readonly Uint8Array[] = [];
  for (const text of texts) {
    const more = [...lines, text];
    const isTooLong = frameBytes(block(more, true)).length > longestFrame && lines.length > 0;
    if (isTooLong) full.push(block(lines, false));
    lines = isTooLong ? [text] : more;
  }
  return [...full, block(lines, true)];
}

interface Block {
  readonly type: number;
  readonly charset: Charset;
  readonly isLast: boolean;
}

function textBlock(texts: readonly Uint8Array[], { type, charset, isLast }: Block): Frame {
  const end: Tlv = { tag: TAG.lineAttribute, value: Uint8Array.of(LAST_LINE) };
  const lines = [...texts.map((value) => ({ tag: TAG.textLine, value })), ...(isLast ? [end] : [])];
  const isUtf8 = charset === 'utf8';
  const utf8: Tlv = { tag: TAG.charset, value: Uint8Array.of(UTF8_TAG_VALUE) };
  const objects: Tlv[] = [
    ...(isUtf8 ? [utf8] : []),
    { tag: TAG.receiptType, value: Uint8Array.of(type) },
    { tag: TAG.printTexts, value: Uint8Array.from(lines.flatMap((line) => [...tlvBytes(line)])) },
  ];
  const container = Uint8Array.from(objects.flatMap((object) => [...tlvBytes(object)]));
  return frame(CONTROL.textBlock, [...fieldBytes(FIELD.container, container)]);
}
