import assert from 'node:assert/strict';
import { present } from '../../src/core/assert.ts';
import { type Charset, encodeText } from '../src/zvt/charset.ts';
import { newConversation, step } from '../src/zvt/conversation.ts';
import type { Conversation, Effect, Observation, Settings } from '../src/zvt/conversation-state.ts';
import { UNREGISTERED } from '../src/zvt/read-command.ts';
import {
  NOTHING_STORED,
  type Refund,
  type RefundNews,
  type SaleNews,
  type Stored,
} from '../src/zvt/stored-results.ts';
import { type Frame, frameBytes, readFrame } from '../src/zvt/zvt-frames.ts';

/** Frames that a register sends. */
export const ASK = {
  acknowledge: '800000',
  repeatResult: '849c00',
  goodsNotIssued: '846600',
  register: '0600060000008e0978',
  registerPlain: '060006000000000978',
  abort: '06b000',
  repeatReceipt: '062003000000',
  endOfDay: '065003000000',
  statusEnquiry: '050100',
  diagnosis: '067000',
  logOff: '060200',
  reverseLast: '06300600000087ffff',
} as const;

/** Frames and results that a register gets. */
export const ACK = '800000';
export const COMPLETED = '060f00';
export const SYSTEM_ERROR = '061e01ff';
export const ABORTED = '061e016c';
export const NOT_POSSIBLE = '061e0183';
export const BUSY = '849c00';
export const NOT_REGISTERED = '846b00';
/** The command to return 5.00 of the sale with receipt 1042. */
export const REFUND = '06310d0000000400000000050087' + '1042';
/** The beginning of a result: paid, or aborted. */
export const PAID_RESULT = /^040f..270004000000001250/;
export const ABORTED_RESULT = /^040f..276c/;
/** A refusal with a text, because only the cashier knows whether this is a new sale. */
export const DOUBT = /^040f..2783.*3cf/;

/** Returns a request for a payment. @param number The register's own number, in hex. */
export function authorization(cents: number, number?: string): string {
  const amount = `04${String(cents).padStart(12, '0')}`;
  const own = number === undefined ? '' : `06${hex(number.length / 2 + 2)}c4${lengthOf(number)}`;
  const data = `${amount}${own}`;
  return `0601${lengthOf(data)}`;
}

function lengthOf(data: string): string {
  return `${hex(data.length / 2)}${data}`;
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

export function frameOf(text: string): Frame {
  return present(readFrame(Uint8Array.from(Buffer.from(text, 'hex'))), text).frame;
}

const LETTERS = new Map<number, string>();
for (let point = 0x20; point < 0x3000; point++) {
  const letter = String.fromCodePoint(point);
  const codes = encodeText(letter, 'cp437');
  const [code = 0] = codes;
  if (codes.length === 1 && !LETTERS.has(code)) LETTERS.set(code, letter);
}

/** Decodes a terminal's text without its control characters. */
export function decodeText(bytes: Uint8Array, charset: Charset): string {
  if (charset === 'utf8') return Buffer.from(bytes).toString('utf8');
  const read = Array.from(bytes, (code) => (code === 0x3f ? '?' : (LETTERS.get(code) ?? '')));
  return read.join('');
}

export const PAID: SaleNews = {
  status: 'paid',
  paid: {
    ...{ payment: 'pay_1', receipt: 17, receipt_url: 'https://pay.example.com/receipts/x' },
    ...{ at: '2026-11-28T12:00:00.000Z', text: '12.50 USDC' },
    reversed: false,
  },
};

export const RETURNED: RefundNews = {
  status: 'done',
  done: {
    ...{ money: { amount: 1250, currency: 978 }, receipt: 3, receipt_url: null },
    ...{ at: '2026-11-28T12:01:00.000Z', whole: true },
  },
};

export const REQUESTED: RefundNews = {
  status: 'requested',
  request: {
    ...{ body: { payment: 'pay_1' }, receipt_number: 'RX7QM-17' },
    ...{ paid: 13_500_000, before: 0, at: 1_000_000 },
  },
};

export const ACCEPTED: RefundNews = {
  status: 'accepted',
  made: {
    ...{ status: 'pending', amount: 5_400_000, presentment: { currency: 'eur', amount: 500 } },
    ...{ receipt_number: null, receipt_url: null, updated: '2026-11-28T12:01:00.000Z' },
  },
};

/** A conversation without a network. The test supplies each observation. */
export class Talk {
  now = 1_000_000;
  state: Conversation;
  /** All effects so far, and those of the last step. */
  readonly effects: Effect[] = [];
  last: readonly Effect[] = [];
  #ids = 0;
  /** The peer of a new connection, until its first frame. */
  #peer: string | null = null;

  constructor(
    stored: Stored = NOTHING_STORED(UNREGISTERED),
    { timeoutMs = 180_000, password = null, scales = {} }: Partial<Settings> = {},
  ) {
    const begun = newConversation(stored, {
      ...{ terminal: 12_345_678, timeoutMs },
      ...{ password, scales },
    });
    this.state = begun.next;
    this.#took(begun.effects);
  }

  #took(effects: readonly Effect[]): void {
    this.last = effects;
    this.effects.push(...effects);
  }

  observe(observation: Observation): this {
    const given = { now: this.now, id: `id${this.#ids++}` };
    const { next, effects } = step(this.state, observation, given);
    this.state = next;
    this.#took(effects);
    return this;
  }

  /** Opens a connection, on which the next frame arrives. */
  connect(peer = '127.0.0.1'): this {
    this.#peer = peer;
    return this;
  }

  /** The register sends this frame. @returns the terminal's frames, in hex. */
  says(text: string): string[] {
    return this.frame(frameOf(text)).sent();
  }

  frame(frame: Frame): this {
    const peer = this.#peer;
    this.#peer = null;
    if (peer === null) return this.observe({ type: 'frame', frame });
    return this.observe({ type: 'connected', peer, frame });
  }

  acknowledges(): string[] {
    return this.says(ASK.acknowledge);
  }

  /** The register acknowledges a result, and the completion that follows it. */
  acknowledgesTwice(): void {
    this.acknowledges();
    this.acknowledges();
  }

  news(news: SaleNews): string[] {
    const { sale } = this.state.stored;
    assert.ok(sale !== null);
    this.observe({ type: 'sale', key: sale.key, news });
    return this.sent();
  }

  returned(news: RefundNews): string[] {
    const { refund } = this.state.stored;
    assert.ok(refund !== null);
    this.observe({ type: 'refund', key: refund.key, news });
    return this.sent();
  }

  after(ms: number): string[] {
    this.now += ms;
    this.observe({ type: 'tick' });
    return this.sent();
  }

  sent(): string[] {
    return this.last.flatMap((effect) =>
      'frame' in effect ? [Buffer.from(frameBytes(effect.frame)).toString('hex')] : [],
    );
  }

  get lastTypes(): readonly Effect['type'][] {
    return this.last.map(({ type }) => type);
  }

  /** The keys of the sales that were started. */
  get sold(): readonly string[] {
    return this.effects.flatMap((effect) => (effect.type === 'sell' ? [effect.sale.key] : []));
  }

  /** The refunds that were started or continued. */
  get refunds(): readonly Refund[] {
    return this.effects.flatMap((effect) => (effect.type === 'refund' ? [effect.refund] : []));
  }

  did(type: Effect['type']): number {
    return this.effects.filter((effect) => effect.type === type).length;
  }
}

/** Registers on a first connection. */
export function registered(stored?: Stored, ask: string = ASK.registerPlain): Talk {
  const talk = new Talk(stored).connect();
  assert.deepEqual(talk.says(ask)[0], ACK);
  assert.deepEqual(talk.acknowledges(), []);
  return talk;
}

/** Starts a sale of 12.50 EUR, which a customer can pay. */
export function selling(ask: string = ASK.registerPlain): Talk {
  const talk = registered(undefined, ask);
  assert.deepEqual(talk.says(authorization(1250)), [ACK]);
  talk.news({ status: 'open', intent: 'pi_1' });
  talk.news({ status: 'waiting' });
  return talk;
}
