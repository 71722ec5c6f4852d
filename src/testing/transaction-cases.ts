import { isDeepStrictEqual } from 'node:util';
import type { Receipt } from '#settlement/chain/chain.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { step } from '#settlement/relayer/state-machine/decide-transaction-step.ts';
import type {
  Attempt,
  Effect,
  Now,
  Observation,
  OpenRequest,
  Transaction,
} from '#settlement/relayer/state-machine/transaction.ts';

// Transactions in every phase, and observations of every kind. The tests of the relayer's state
// machine use them in a table and in random sequences.

/** Returns all kinds. The type checker makes sure that none is missing. */
const all = <Kind extends string>(kinds: Readonly<Record<Kind, true>>) =>
  Object.keys(kinds) as Kind[];

export const PHASES = all<Transaction['phase']>({
  unsigned: true,
  signed: true,
  broadcast: true,
  stuck: true,
  nonce_taken: true,
  included: true,
  confirming: true,
  done: true,
});
export const OBSERVATIONS = all<Observation['kind']>({
  sent: true,
  refused: true,
  early_receipt: true,
  blocks_skipped: true,
  head: true,
  receipt_asked: true,
  receipt: true,
  no_receipt: true,
  receipt_unanswered: true,
  result_read: true,
  result_unreadable: true,
  reorganized: true,
  ask_again: true,
  nonce_used: true,
  nonce_unused: true,
  attempt_stored: true,
  offer_stored: true,
  signature_stored: true,
  result_written: true,
  foreign: true,
});
export const EFFECTS = all<Effect['kind']>({
  broadcast: true,
  ask_signer: true,
  replace: true,
  cancel: true,
  read_result: true,
  apply_result: true,
  mark_included: true,
  clear_included: true,
  inspect_nonce: true,
  alert: true,
  drop: true,
});

const fees = (gwei: bigint) => ({
  maxFeePerGas: gwei * 1_000_000_000n,
  maxPriorityFeePerGas: gwei * 1_000_000n,
});
const attempt = (hash: Hex, gwei: bigint, cancels = false): Attempt => {
  return { hash, raw: hash, cancels, fees: fees(gwei) };
};

const CALL = attempt('0xca', 10n);
const HIGHER = attempt('0xcb', 20n);
const CANCEL = attempt('0xdd', 30n, true);
const OFFER = { cancels: false, fees: fees(20n) };
const CANCEL_OFFER = { cancels: true, fees: fees(30n) };

const JOB: OpenRequest = {
  id: 1n,
  kind: 'payment',
  subjectId: 'pi_1',
  number: 1n,
  payload: {},
  tries: 0,
  created: new Date(0),
  owed: false,
  deadline: null,
  settleWithinS: null,
};

const HEAD = { number: 10n, time: new Date(10_000), baseFeePerGas: 1n };
export const NOW: Now = {
  ms: 1_000,
  head: HEAD,
  fees: fees(10n),
  feeCeiling: 10n ** 15n,
  finality: { safe: 0n, finalized: 0n },
  depth: { blocks: 1n, ms: 0 },
  timeouts: { overdueBlocks: 2n, foreignHeads: 5, unreadablePolls: 3 },
};

const FACTS = {
  id: 7n,
  nonce: 3n,
  kind: 'payment',
  target: '0x01',
  input: '0x02',
  gasLimit: 100_000n,
  validUntil: new Date(20_000),
  signedAtMs: null,
  attempts: [CALL],
  wanted: null,
  requests: [JOB],
} as const;

const receiptIn = (blockNumber: bigint): Receipt => ({
  txHash: CALL.hash,
  succeeded: true,
  blockNumber,
  blockHash: '0xb1',
  from: '0x01',
  gasUsed: 1n,
  logs: [],
  host: 'node',
});
const EARLY = { receipt: receiptIn(10n), second: Promise.resolve(null) };
const BLOCK = { hash: '0xb0', number: 8n, sinceMs: 0 } as const;
const UNREAD = { polls: 0, isAlerted: false };
const RULE = { from: 0n, waitsFor: 'time', ms: 5_000 } as const;
const SENT = { sentAtBlock: 8n, seenAtBlock: 8n, early: null };
const NEW = { wanted: null, overdue: 0, query: 'if_listed' } as const;

/** Example transactions: at least one for each phase, and for each variant of a phase. */
export const SITUATIONS = {
  unsigned: {
    ...FACTS,
    ...{ attempts: [], phase: 'unsigned', wanted: OFFER, query: 'if_listed' },
  },
  'unsigned, a cancellation': {
    ...FACTS,
    ...{ requests: [], phase: 'unsigned', wanted: CANCEL_OFFER, query: 'if_listed' },
  },
  signed: { ...FACTS, phase: 'signed', ...NEW },
  'signed, the signer owes more': { ...FACTS, phase: 'signed', ...NEW, wanted: OFFER },
  broadcast: { ...FACTS, phase: 'broadcast', ...NEW, ...SENT },
  'broadcast, a height ahead': {
    ...FACTS,
    ...{ phase: 'broadcast', ...NEW, ...SENT, sentAtBlock: 20n, seenAtBlock: null },
  },
  'broadcast, overdue before': { ...FACTS, phase: 'broadcast', ...NEW, ...SENT, overdue: 1 },
  'broadcast, an early receipt': {
    ...FACTS,
    ...{ phase: 'broadcast', ...NEW, ...SENT, early: EARLY },
  },
  'broadcast, not answered': {
    ...FACTS,
    ...{ phase: 'broadcast', ...NEW, ...SENT, query: 'unanswered' },
  },
  'broadcast, a cancellation': {
    ...FACTS,
    ...{ requests: [], attempts: [CALL, CANCEL], phase: 'broadcast', ...NEW, ...SENT },
  },
  'stuck, no node takes it': {
    ...FACTS,
    ...{ phase: 'stuck', wanted: null, why: 'no_node_takes_it', query: 'if_listed' },
  },
  'stuck, must not be sent': {
    ...FACTS,
    ...{ phase: 'stuck', wanted: null, why: 'must_not_be_sent', query: 'if_listed' },
  },
  nonce_taken: { ...FACTS, phase: 'nonce_taken', wanted: null, isBarred: false, heads: 4 },
  'nonce_taken, barred': {
    ...FACTS,
    ...{ phase: 'nonce_taken', wanted: null, isBarred: true, heads: 1 },
  },
  included: {
    ...FACTS,
    ...{ phase: 'included', wanted: null, isBarred: false, block: BLOCK, unread: UNREAD },
  },
  'included, barred': {
    ...FACTS,
    ...{ phase: 'included', wanted: null, isBarred: true, block: BLOCK, unread: UNREAD },
  },
  'included, unreadable twice': {
    ...FACTS,
    ...{ phase: 'included', wanted: null, isBarred: false, block: BLOCK },
    unread: { polls: 2, isAlerted: false },
  },
  confirming: {
    ...FACTS,
    ...{ phase: 'confirming', wanted: null, isBarred: false, block: BLOCK, unread: UNREAD },
    rule: RULE,
  },
  'nonce_taken, a cancellation owed': {
    ...FACTS,
    ...{ phase: 'nonce_taken', wanted: CANCEL_OFFER, isBarred: false, heads: 1 },
  },
  'included, a cancellation owed': {
    ...FACTS,
    ...{ phase: 'included', wanted: CANCEL_OFFER, isBarred: false, block: BLOCK, unread: UNREAD },
  },
  'confirming, barred': {
    ...FACTS,
    ...{ phase: 'confirming', wanted: null, isBarred: true, block: BLOCK, unread: UNREAD },
    rule: RULE,
  },
  'confirming, a cancellation owed': {
    ...FACTS,
    ...{ phase: 'confirming', wanted: CANCEL_OFFER, isBarred: false, block: BLOCK, unread: UNREAD },
    rule: RULE,
  },
  done: { ...FACTS, phase: 'done', end: 'result_written' },
} as const satisfies Record<string, Transaction>;
export type Situation = keyof typeof SITUATIONS;

export interface Case {
  readonly observation: Observation;
  readonly now?: Partial<Now>;
}

const unused = (isNext: boolean, isOverdue: boolean): Observation => {
  return { kind: 'nonce_unused', isNext, isOverdue };
};

export const CASES = {
  sent: { observation: { kind: 'sent', atBlock: 10n } },
  'refused as underpriced': {
    observation: { kind: 'refused', hash: CALL.hash, verdict: 'underpriced' },
  },
  'refused as unfunded': {
    observation: { kind: 'refused', hash: CALL.hash, verdict: 'unfunded' },
  },
  'refused for ever': {
    observation: { kind: 'refused', hash: CALL.hash, verdict: 'unsendable' },
  },
  'cancellation refused for ever': {
    observation: { kind: 'refused', hash: CANCEL.hash, verdict: 'unsendable' },
  },
  'early receipt': { observation: { kind: 'early_receipt', early: EARLY } },
  'a block skipped': { observation: { kind: 'blocks_skipped', number: 9n } },
  'blocks skipped': { observation: { kind: 'blocks_skipped', number: 12n } },
  head: { observation: { kind: 'head', number: 11n } },
  'receipt asked': { observation: { kind: 'receipt_asked' } },
  'receipt in the head': { observation: { kind: 'receipt', receipt: receiptIn(10n) } },
  'receipt below the head': { observation: { kind: 'receipt', receipt: receiptIn(9n) } },
  'no receipt': { observation: { kind: 'no_receipt', isListed: false } },
  'no receipt, listed': { observation: { kind: 'no_receipt', isListed: true } },
  'receipt not answered': { observation: { kind: 'receipt_unanswered' } },
  'result read': { observation: { kind: 'result_read', rule: null } },
  'result read, waits': { observation: { kind: 'result_read', rule: RULE } },
  'result read, waited': { observation: { kind: 'result_read', rule: RULE }, now: { ms: 5_000 } },
  'result unreadable': { observation: { kind: 'result_unreadable' } },
  reorganized: { observation: { kind: 'reorganized' } },
  'ask again': { observation: { kind: 'ask_again' } },
  'nonce used': { observation: { kind: 'nonce_used' } },
  'nonce next, overdue': { observation: unused(true, true) },
  'nonce next, too cheap': {
    observation: unused(true, true),
    now: { head: { ...HEAD, baseFeePerGas: fees(50n).maxFeePerGas } },
  },
  'nonce next, at the ceiling': {
    observation: unused(true, true),
    now: { feeCeiling: fees(10n).maxFeePerGas },
  },
  'nonce later, overdue': { observation: unused(false, true) },
  'nonce next, on its way': { observation: unused(true, false) },
  'nonce unused, expired': {
    observation: unused(false, false),
    now: { head: { ...HEAD, time: new Date(21_000) } },
  },
  'higher offer signed': {
    observation: { kind: 'attempt_stored', attempt: HIGHER, isRequeued: false },
  },
  'cancellation signed': {
    observation: { kind: 'attempt_stored', attempt: CANCEL, isRequeued: true },
  },
  'higher offer asked': {
    observation: { kind: 'offer_stored', offer: OFFER, isRequeued: false },
  },
  'cancellation asked': {
    observation: { kind: 'offer_stored', offer: CANCEL_OFFER, isRequeued: true },
  },
  'signature given': {
    observation: { kind: 'signature_stored', attempt: HIGHER, offer: OFFER },
  },
  'cancellation given': {
    observation: { kind: 'signature_stored', attempt: CANCEL, offer: CANCEL_OFFER },
  },
  'result written': { observation: { kind: 'result_written' } },
  foreign: { observation: { kind: 'foreign' } },
} as const satisfies Record<string, Case>;
export type CaseName = keyof typeof CASES;

/** Returns the pairs of transaction and observation for which two step functions differ. */
export function differsFrom(right: typeof step, other: typeof step): string[] {
  const situations = Object.entries<Transaction>(SITUATIONS).filter(([name]) => name !== 'done');
  return situations.flatMap(([situation, transaction]) =>
    Object.entries<Case>(CASES).flatMap(([name, { observation, now }]) => {
      const results = [right, other].map((one) => {
        try {
          return one(transaction, observation, { ...NOW, ...now });
        } catch {
          return null;
        }
      });
      return isDeepStrictEqual(results[0], results[1]) ? [] : [`${situation}, ${name}`];
    }),
  );
}
