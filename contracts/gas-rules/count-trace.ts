// Counts what a transaction accesses, changes and creates, from its opcode trace, and computes what
// it would cost at other prices. Everything that a price table does not name costs what it does
// today.

import { type Hex, hexToBytes, numberToHex } from 'viem';
import type { TestClient } from '../test/test-node.ts';
import { type Charge, OPCODES_TODAY, OSAKA, type Prices } from './prices.ts';

interface Step {
  readonly pc: number;
  readonly op: string;
  readonly gas: number;
  readonly gasCost: number;
  readonly depth: number;
  readonly stack: readonly Hex[];
}

export interface Counts {
  readonly coldAccounts: number;
  readonly warmAccounts: number;
  readonly coldSlots: number;
  readonly warmSlots: number;
  readonly newSlots: number;
  readonly changedSlots: number;
  readonly newAccounts: number;
  readonly codeBytes: number;
}

/** What happens at one step, so far as a price table can name it. */
type Event =
  | { readonly kind: 'account'; readonly isCold: boolean; readonly readsCode: boolean }
  | { readonly kind: 'slot'; readonly isCold: boolean; readonly write: Write | null }
  | { readonly kind: 'create'; readonly codeBytes: number }
  | { readonly kind: 'opcode'; readonly op: string };
/** `none`: the slot keeps its value, or was changed before in this transaction. */
type Write = 'new' | 'changed' | 'none';

export interface Counted {
  readonly counts: Counts;
  /** Today's refunds, which are in no number here. */
  readonly refunded: number;
  /** Gas at these prices, before refunds, because the limit must cover that. */
  used(prices: Prices): Charge;
  /** The least that the call data costs, whatever the transaction does. */
  floor(prices: Prices): number;
  /**
   * The gas limit that the transaction needs: what it uses, or, at a call that gets an exact amount
   * of gas, what was used before it and what `reserve` says that the contract requires there.
   */
  needed(prices: Prices, reserve?: (given: number) => number): number;
  /** The most gas that one call of another contract uses, with the access of its account. */
  largestCall(prices: Prices): number;
}

const CALLS = ['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'];
const CREATES = ['CREATE', 'CREATE2'];
const CODE_READS = ['EXTCODESIZE', 'EXTCODECOPY'];
const ACCOUNT_READS = ['BALANCE', 'EXTCODEHASH', ...CODE_READS];
const PRECOMPILES = [...Array(0x11).keys()].map((i) => i + 1).concat(0x100);
/** The code of an account that has delegated to another one (EIP-7702) begins with this. */
const DELEGATED = '0xef0100';

/** @param hash a mined transaction of a node that keeps traces (`--steps-tracing`). */
export async function countTrace(client: TestClient, hash: Hex): Promise<Counted> {
  const transaction = await client.getTransaction({ hash });
  const receipt = await client.getTransactionReceipt({ hash });
  const structLogs = await readSteps(client, hash);
  const top = (receipt.contractAddress ?? transaction.to ?? '0x').toLowerCase() as Hex;
  const state = createState(client, transaction.blockNumber - 1n);
  for (const one of [transaction.from, top, await coinbase(client, receipt.blockNumber)]) {
    state.accounts.add(one.toLowerCase());
  }
  const events = await eventsOf(structLogs, top, state);
  if (transaction.to === null) {
    events.push([structLogs.length, { kind: 'create', codeBytes: await state.codeBytes(top) }]);
  }
  const gas = Number(transaction.gas);
  const last = structLogs.at(-1);
  const isOwn = transaction.from.toLowerCase() === top;
  return assemble({
    events,
    gasUsed: Number(receipt.gasUsed),
    isCreation: transaction.to === null,
    intrinsic: { data: hexToBytes(transaction.input), isOwn },
    // The trace ends before the code of a creation is paid for.
    usedToday:
      last === undefined || transaction.to === null
        ? Number(receipt.gasUsed)
        : gas - (last.gas - last.gasCost),
    usedBefore: (index) => gas - (structLogs[index]?.gas ?? 0),
    exactCalls: structLogs.flatMap((step, index) => {
      if (step.depth !== 1 || step.op !== 'CALL') return [];
      const end = structLogs.findIndex((one, at) => at > index && one.depth === 1);
      return [{ index, end, given: Number(step.stack.at(-1)) }];
    }),
  });
}

/** Not through viem, which accepts no answer as long as the trace of a deployment. */
async function readSteps(client: TestClient, hash: Hex): Promise<Step[]> {
  const options = { disableStorage: true, enableMemory: false };
  const call = { jsonrpc: '2.0', id: 1, method: 'debug_traceTransaction', params: [hash, options] };
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(String(client.transport.url), {
    ...{ method: 'POST', headers },
    body: JSON.stringify(call),
  });
  const { result } = (await answer.json()) as { result: { structLogs: Step[] } };
  return result.structLogs;
}

async function coinbase(client: TestClient, blockNumber: bigint): Promise<Hex> {
  return (await client.getBlock({ blockNumber })).miner as Hex;
}

type State = ReturnType<typeof createState>;

function createState(client: TestClient, before: bigint) {
  const values = new Map<string, bigint>();
  const codes = new Map<string, Promise<Hex>>();
  const code = (address: Hex) => {
    const known =
      codes.get(address) ?? client.getCode({ address }).then((match) => match ?? ('0x' as const));
    codes.set(address, known);
    return known;
  };
  return {
    accounts: new Set(PRECOMPILES.map((one) => numberToHex(one, { size: 20 }) as string)),
    slots: new Set<string>(),
    values,
    original: async (address: Hex, slot: Hex) =>
      BigInt((await client.getStorageAt({ address, slot, blockNumber: before })) ?? 0),
    codeBytes: async (address: Hex) => ((await code(address)).length - 2) / 2,
    /** Returns the account to which this one has delegated, or null. */
    delegate: async (address: Hex): Promise<Hex | null> => {
      const match = await code(address);
      return match.startsWith(DELEGATED) ? `0x${match.slice(DELEGATED.length)}` : null;
    },
  };
}

function addressOf(word: Hex | undefined): Hex {
  return numberToHex(BigInt(word ?? 0) & (2n ** 160n - 1n), { size: 20 });
}

type Placed = [index: number, event: Event];

async function eventsOf(steps: readonly Step[], top: Hex, state: State): Promise<Placed[]> {
  const events: Placed[] = [];
  /** The account whose storage each frame uses, by depth. */
  const frames: Hex[] = [top, top];
  const touch = (address: Hex): boolean => {
    const isCold = !state.accounts.has(address);
    state.accounts.add(address);
    return isCold;
  };
  for (const [index, step] of steps.entries()) {
    const { op, depth, stack } = step;
    const own = frames[depth] ?? top;
    if (op === 'SLOAD' || op === 'SSTORE') {
      events.push([index, await slotEvent(state, own, step)]);
    } else if (ACCOUNT_READS.includes(op)) {
      const isCold = touch(addressOf(stack.at(-1)));
      events.push([index, { kind: 'account', isCold, readsCode: CODE_READS.includes(op) }]);
    } else if (CALLS.includes(op)) {
      const target = addressOf(stack.at(-2));
      events.push([index, { kind: 'account', isCold: touch(target), readsCode: false }]);
      const delegate = await state.delegate(target);
      if (delegate !== null) {
        events.push([index, { kind: 'account', isCold: touch(delegate), readsCode: false }]);
      }
      frames[depth + 1] = op === 'DELEGATECALL' || op === 'CALLCODE' ? own : target;
    } else if (CREATES.includes(op)) {
      const after = steps.findIndex((one, at) => at > index && one.depth <= depth);
      const created = addressOf(steps[after]?.stack.at(-1));
      touch(created);
      frames[depth + 1] = created;
      const isMade = BigInt(created) !== 0n;
      events.push([
        index,
        { kind: 'create', codeBytes: isMade ? await state.codeBytes(created) : 0 },
      ]);
    } else if (op in OPCODES_TODAY) {
      events.push([index, { kind: 'opcode', op }]);
    }
  }
  return events;
}

async function slotEvent(state: State, own: Hex, { op, stack }: Step): Promise<Event> {
  const slot = numberToHex(BigInt(stack.at(-1) ?? 0), { size: 32 });
  const name = `${own} ${slot}`;
  const isCold = !state.slots.has(name);
  state.slots.add(name);
  if (op === 'SLOAD') return { kind: 'slot', isCold, write: null };
  const original = await state.original(own, slot);
  const current = state.values.get(name) ?? original;
  const next = BigInt(stack.at(-2) ?? 0);
  state.values.set(name, next);
  const isFirst = original === current && current !== next;
  const write = !isFirst ? 'none' : original === 0n ? 'new' : 'changed';
  return { kind: 'slot', isCold, write };
}

function costOf(event: Event, prices: Prices): Charge {
  const regular = (gas: number) => ({ regular: gas, state: 0 });
  if (event.kind === 'opcode') {
    return regular(prices.opcodes[event.op] ?? OPCODES_TODAY[event.op] ?? 0);
  }
  if (event.kind === 'account') {
    const access = event.isCold ? prices.coldAccount : prices.warm;
    return regular(access + (event.readsCode ? prices.codeRead : 0));
  }
  if (event.kind === 'create') {
    const words = Math.ceil(event.codeBytes / 32);
    return {
      regular:
        prices.create.regular + event.codeBytes * prices.codeByte.regular + words * prices.codeWord,
      state: prices.create.state + event.codeBytes * prices.codeByte.state,
    };
  }
  return slotCost(event, prices);
}

function slotCost({ isCold, write }: Event & { kind: 'slot' }, prices: Prices): Charge {
  if (write === null) return { regular: isCold ? prices.coldSlot : prices.warm, state: 0 };
  const { cold, warm, unchanged, changed, set } = prices.write;
  const rest = { none: { regular: unchanged, state: 0 }, changed: { regular: changed, state: 0 } };
  const { regular, state } = write === 'new' ? set : rest[write];
  return { regular: (isCold ? cold : warm) + regular, state };
}

interface Traced {
  readonly events: readonly Placed[];
  readonly isCreation: boolean;
  readonly intrinsic: { readonly data: Uint8Array; readonly isOwn: boolean };
  /** Before refunds. */
  readonly usedToday: number;
  /** After refunds. */
  readonly gasUsed: number;
  readonly usedBefore: (index: number) => number;
  /** Calls of the called contract: where they begin and end, and the gas that they are given. */
  readonly exactCalls: readonly {
    readonly index: number;
    readonly end: number;
    readonly given: number;
  }[];
}

function assemble(traced: Traced): Counted {
  const { events, isCreation, intrinsic, exactCalls } = traced;
  const base = (prices: Prices): Charge => {
    // The event of the creation has its price of the opcode, which the transaction's own contains.
    const { regular, state } = prices.creation;
    if (isCreation) {
      return { regular: regular - prices.create.regular, state: state - prices.create.state };
    }
    return { regular: intrinsic.isOwn ? prices.ownCall : prices.call, state: 0 };
  };
  const difference = (prices: Prices, until = Number.POSITIVE_INFINITY): Charge => {
    const [now, then] = [base(OSAKA), base(prices)];
    let [more, state] = [then.regular - now.regular, then.state];
    for (const [index, event] of events) {
      if (index >= until) continue;
      const cost = costOf(event, prices);
      more += cost.regular - costOf(event, OSAKA).regular;
      state += cost.state;
    }
    return { regular: more, state };
  };
  const zeros = intrinsic.data.filter((byte) => byte === 0).length;
  const others = intrinsic.data.length - zeros;
  const floorOf = (prices: Prices) =>
    base(prices).regular + zeros * prices.floor.zero + others * prices.floor.other;
  const used = (prices: Prices): Charge => {
    const { regular, state } = difference(prices);
    return { regular: traced.usedToday + regular, state };
  };
  return {
    counts: countsOf(events),
    refunded: traced.usedToday - traced.gasUsed,
    used,
    floor: floorOf,
    needed: (prices, reserve = () => 0) => {
      const all = used(prices);
      const atCalls = exactCalls.map(({ index, given }) => {
        const { regular, state } = difference(prices, index);
        return traced.usedBefore(index) + regular + state + reserve(given);
      });
      return Math.max(all.regular + all.state, floorOf(prices), ...atCalls);
    },
    largestCall: (prices) => {
      const until = (index: number) => {
        const { regular, state } = difference(prices, index);
        return traced.usedBefore(index) + regular + state;
      };
      return Math.max(0, ...exactCalls.map(({ index, end }) => until(end) - until(index)));
    },
  };
}

function countsOf(events: readonly Placed[]): Counts {
  const count = (holds: (event: Event) => boolean) =>
    events.filter(([, event]) => holds(event)).length;
  return {
    coldAccounts: count((one) => one.kind === 'account' && one.isCold),
    warmAccounts: count((one) => one.kind === 'account' && !one.isCold),
    coldSlots: count((one) => one.kind === 'slot' && one.isCold),
    warmSlots: count((one) => one.kind === 'slot' && !one.isCold),
    newSlots: count((one) => one.kind === 'slot' && one.write === 'new'),
    changedSlots: count((one) => one.kind === 'slot' && one.write === 'changed'),
    newAccounts: count((one) => one.kind === 'create'),
    codeBytes: events.reduce(
      (sum, [, event]) => sum + (event.kind === 'create' ? event.codeBytes : 0),
      0,
    ),
  };
}
