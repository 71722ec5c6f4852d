// Finds every call that compiled code can make, and its target and function as far as they are
// known without running it. It interprets the code with unknown input: every value that depends on
// calldata, storage or the chain is "any", both directions of a branch on such a value are
// followed, and a value that differs between two paths becomes "any".

import type { Hex } from 'viem';

/** A number; an offset in memory that was allocated at `base`; the first word of calldata. */
type Value = bigint | Pointer | 'calldata' | 'any';

interface Pointer {
  readonly base: number;
  readonly offset: bigint;
  /** True if an unknown length was added, so that the address is this one or a higher one. */
  readonly isBehind: boolean;
}

interface State {
  readonly pc: number;
  readonly stack: readonly Value[];
  /** Known bytes, by base (or "") and offset. */
  readonly memory: ReadonlyMap<string, number>;
}

export interface CallSite {
  readonly pc: number;
  readonly op: 'call' | 'staticcall' | 'delegatecall' | 'callcode' | 'create' | 'selfdestruct';
  /** The called address, if it is the same for every input. */
  readonly target: bigint | 'any';
  /** The native coin sent with the call; 0 for a static call. */
  readonly value: bigint | 'any';
  /** The called function, if it is always the same. */
  readonly selector: Hex | 'any';
}

const WORD = 2n ** 256n;
const CALLS: Readonly<Record<number, CallSite['op']>> = {
  240: 'create',
  241: 'call',
  242: 'callcode',
  244: 'delegatecall',
  245: 'create',
  250: 'staticcall',
  255: 'selfdestruct',
};
const JUMPDEST = 0x5b;
const FREE_POINTER = 0x40n;
/** Memory below this address is reserved by Solidity: pointers never lead there. */
const FIRST_FREE = 0x80n;
/** Far more steps than any contract needs: reaching it means a mistake in the search. */
const MAX_STEPS = 2_000_000;

const COMPUTED: Readonly<Record<number, (a: bigint, b: bigint) => bigint>> = {
  1: (a, b) => a + b,
  2: (a, b) => a * b,
  3: (a, b) => a - b,
  4: (a, b) => (b === 0n ? 0n : a / b),
  6: (a, b) => (b === 0n ? 0n : a % b),
  16: (a, b) => BigInt(a < b),
  17: (a, b) => BigInt(a > b),
  20: (a, b) => BigInt(a === b),
  22: (a, b) => a & b,
  23: (a, b) => a | b,
  24: (a, b) => a ^ b,
  27: (a, b) => (a > 255n ? 0n : b << a),
  28: (a, b) => (a > 255n ? 0n : b >> a),
};

/**
 * The effects of the other instructions: how many stack items they take, how many they push, and
 * the opcodes.
 */
const EFFECTS: readonly (readonly [number, number, string])[] = [
  [0, 0, '5b'],
  [0, 1, '30 32 33 34 36 38 3a 3d 41 42 43 44 45 46 47 48 58 59 5a'],
  [1, 0, '50'],
  [1, 1, '19 31 3b 3f 54 5c'],
  [2, 0, '55 5d a0'],
  [2, 1, '05 07 0a 0b 12 13 1a 1d 20'],
  [3, 0, 'a1'],
  [3, 1, '08 09'],
  [4, 0, 'a2'],
  [5, 0, 'a3'],
  [6, 0, 'a4'],
];
const OTHERS = new Map(
  EFFECTS.flatMap(([taken, given, all]) =>
    all.split(' ').map((op) => [Number.parseInt(op, 16), { taken, given }] as const),
  ),
);
/** Instructions that copy to memory: the stack positions of their destination and length. */
const COPIES: Readonly<Record<number, readonly [number, number, number]>> = {
  55: [0, 2, 3],
  57: [0, 2, 3],
  62: [0, 2, 3],
  94: [0, 2, 3],
  60: [1, 3, 4],
};

/** Returns the positions of all call instructions in the code, reachable or not. */
export function callPlaces(code: Uint8Array): number[] {
  const results: number[] = [];
  for (let pc = 0; pc < code.length; pc += widthOf(code[pc] ?? 0)) {
    if (CALLS[code[pc] ?? 0] !== undefined) results.push(pc);
  }
  return results;
}

/** Returns every call that a transaction with this selector can reach. */
export function callSites(code: Uint8Array, selector: Hex): CallSite[] {
  const sites = new Map<number, CallSite>();
  const seen = new Map<string, State>();
  const open: State[] = [{ pc: 0, stack: [], memory: new Map() }];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const key = contextOf(code, state);
    const before = seen.get(key);
    const joined = before === undefined ? state : join(before, state);
    if (before !== undefined && isSame(before, joined)) continue;
    seen.set(key, joined);
    open.push(...runBlock(code, joined, { selector: BigInt(selector), found: () => {} }));
  }
  const found = (site: CallSite) => void sites.set(site.pc, merged(sites.get(site.pc), site));
  for (const state of seen.values()) {
    runBlock(code, state, { selector: BigInt(selector), found });
  }
  return [...sites.values()].sort((a, b) => a.pc - b.pc);
}

function widthOf(op: number): number {
  return op >= 0x60 && op <= 0x7f ? op - 0x5f + 1 : 1;
}

/**
 * Returns the return addresses on the stack, which distinguish the uses of an internal function.
 */
function contextOf(code: Uint8Array, { pc, stack }: State): string {
  const places = stack.map((value) =>
    typeof value === 'bigint' && code[Number(value)] === JUMPDEST ? value : '',
  );
  return `${pc}:${places.join()}`;
}

function isEqual(a: Value | undefined, b: Value | undefined): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return a.base === b.base && a.offset === b.offset && a.isBehind === b.isBehind;
}

function join(a: State, b: State): State {
  const memory = new Map([...a.memory].filter(([at, byte]) => b.memory.get(at) === byte));
  const stack = a.stack.map((value, index): Value => {
    return isEqual(value, b.stack[index]) ? value : 'any';
  });
  return { pc: a.pc, stack, memory };
}

function isSame(a: State, b: State): boolean {
  return a.memory.size === b.memory.size && a.stack.every((one, at) => isEqual(one, b.stack[at]));
}

function merged(before: CallSite | undefined, now: CallSite): CallSite {
  if (before === undefined) return now;
  return {
    ...now,
    target: before.target === now.target ? now.target : 'any',
    value: before.value === now.value ? now.value : 'any',
    selector: before.selector === now.selector ? now.selector : 'any',
  };
}

interface Run {
  readonly selector: bigint;
  readonly found: (site: CallSite) => void;
}

/** Runs up to the next branch. @returns the states in which it continues. */
function runBlock(code: Uint8Array, from: State, run: Run): State[] {
  const stack = [...from.stack];
  const memory = new Memory(from.memory);
  const next = (pc: number): State => ({ pc, stack: [...stack], memory: new Map(memory.known) });
  const pop = (): Value => {
    const value = stack.pop();
    if (value === undefined) throw new Error('the stack is empty: solc does not compile such code');
    return value;
  };
  for (let pc = from.pc, steps = 0; pc < code.length; steps++) {
    if (steps > MAX_STEPS) throw new Error(`no end from ${from.pc} on`);
    const op = code[pc] ?? 0;
    if (op === JUMPDEST && steps > 0) return [next(pc)];
    if (op === 0x00 || op === 0xf3 || op === 0xfd || op === 0xfe) return [];
    if (op === 0x56) return [next(targetOf(pop(), pc))];
    if (op === 0x57) {
      const target = pop();
      const condition = pop();
      if (condition === 0n) return [next(pc + 1)];
      const taken = next(targetOf(target, pc));
      return typeof condition === 'bigint' ? [taken] : [taken, next(pc + 1)];
    }
    if (CALLS[op] !== undefined) noteCall(pc, op, { stack, memory, pop, run });
    else execute(code, pc, { op, stack, memory, pop, run });
    if (op === 0xff) return [];
    pc += widthOf(op);
  }
  return [];
}

function targetOf(value: Value, pc: number): number {
  if (typeof value === 'bigint') return Number(value);
  throw new Error(`the jump at ${pc} leads to a destination that depends on the input`);
}

interface Machine {
  readonly stack: Value[];
  readonly memory: Memory;
  readonly pop: () => Value;
  readonly run: Run;
}

function noteCall(pc: number, op: number, { stack, memory, pop, run }: Machine): void {
  const name = CALLS[op] ?? 'call';
  if (name === 'create' || name === 'selfdestruct') {
    const [first] = Array.from({ length: op === 0xff ? 1 : op === 0xf0 ? 3 : 4 }, pop);
    const value = name === 'create' && typeof first === 'bigint' ? first : 'any';
    run.found({ pc, op: name, target: 'any', value, selector: 'any' });
    if (op !== 0xff) stack.push('any');
    return;
  }
  pop();
  const target = pop();
  const value = name === 'call' || name === 'callcode' ? pop() : 0n;
  const [input, , output, length] = [pop(), pop(), pop(), pop()];
  run.found({
    pc,
    op: name,
    target: typeof target === 'bigint' ? target : 'any',
    value: typeof value === 'bigint' ? value : 'any',
    selector: memory.selectorAt(input ?? 'any'),
  });
  memory.forget(output ?? 'any', length ?? 'any');
  stack.push('any');
}

function execute(code: Uint8Array, pc: number, machine: Machine & { readonly op: number }): void {
  const { op, stack, memory, pop } = machine;
  if (op === 0x52) memory.store(pop(), pop());
  else if (op === 0x53) storeByte(machine);
  else if (op >= 0x90 && op <= 0x9f) swap(stack, op - 0x8f);
  else if (COPIES[op] !== undefined) copy(COPIES[op], machine);
  else {
    const given = result(code, pc, machine);
    if (given !== null) stack.push(given);
  }
}

function storeByte({ memory, pop }: Machine): void {
  const at = pop();
  pop();
  memory.forget(at, 1n);
}

function copy([to, length, count]: readonly [number, number, number], machine: Machine): void {
  const taken = Array.from({ length: count }, machine.pop);
  machine.memory.forget(taken[to] ?? 'any', taken[length] ?? 'any');
}

/** Returns the value that an instruction pushes onto the stack. */
function result(
  code: Uint8Array,
  pc: number,
  { op, stack, memory, pop, run }: Machine & { readonly op: number },
): Value | null {
  if (op >= 0x5f && op <= 0x7f) return pushed(code, pc);
  if (op >= 0x80 && op <= 0x8f) return stack.at(-(op - 0x7f)) ?? 'any';
  if (op === 0x15) return negated(pop());
  if (op === 0x35) return pop() === 0n ? 'calldata' : 'any';
  if (op === 0x51) return memory.load(pop(), pc);
  if (COMPUTED[op] !== undefined) return computed(op, pop(), pop(), run);
  const effect = OTHERS.get(op);
  if (effect === undefined)
    throw new Error(`instruction 0x${op.toString(16)} at ${pc} is not supported`);
  for (let i = 0; i < effect.taken; i++) pop();
  return effect.given === 0 ? null : 'any';
}

function pushed(code: Uint8Array, pc: number): bigint {
  let value = 0n;
  for (let at = pc + 1; at < pc + widthOf(code[pc] ?? 0); at++) {
    value = (value << 8n) | BigInt(code[at] ?? 0);
  }
  return value;
}

function swap(stack: Value[], depth: number): void {
  const [top, other] = [stack.length - 1, stack.length - 1 - depth];
  [stack[top], stack[other]] = [stack[other] ?? 'any', stack[top] ?? 'any'];
}

function negated(value: Value): Value {
  return typeof value === 'bigint' ? BigInt(value === 0n) : 'any';
}

function computed(op: number, a: Value, b: Value, { selector }: Run): Value {
  if (op === 0x1c && a === 224n && b === 'calldata') return selector;
  const work = COMPUTED[op];
  if (typeof a === 'bigint' && typeof b === 'bigint' && work) {
    return ((work(a, b) % WORD) + WORD) % WORD;
  }
  if (op !== 0x01) return 'any';
  if (typeof a === 'object') return moved(a, b);
  return typeof b === 'object' ? moved(b, a) : 'any';
}

/** Adds a value to a pointer. An unknown value is a length, because solc adds nothing else. */
function moved({ base, offset, isBehind }: Pointer, by: Value): Value {
  if (typeof by !== 'bigint') return by === 'any' ? { base, offset, isBehind: true } : 'any';
  return { base, offset: offset + (by >= WORD / 2n ? by - WORD : by), isBehind };
}

/** The bytes of memory that are the same for every input. */
class Memory {
  readonly known: Map<string, number>;

  constructor(known: ReadonlyMap<string, number>) {
    this.known = new Map(known);
  }

  load(at: Value, pc: number): Value {
    let value = 0n;
    for (let i = 0n; i < 32n; i++) {
      const byte = this.byteAt(at, i);
      if (byte === undefined) {
        // Free memory begins at a base of its own; any other value that is read may be anything.
        return at === FREE_POINTER ? { base: pc, offset: 0n, isBehind: false } : 'any';
      }
      value = (value << 8n) | BigInt(byte);
    }
    return value;
  }

  store(at: Value, value: Value): void {
    this.forget(at, 32n);
    if (typeof value !== 'bigint' || !isPlace(at) || isBehind(at)) return;
    for (let i = 0n; i < 32n; i++) {
      this.known.set(keyOf(at, i), Number((value >> (8n * (31n - i))) & 0xffn));
    }
  }

  /** Forgets the bytes to which an unknown value was written. */
  forget(at: Value, length: Value): void {
    if (length === 0n) return;
    if (!isPlace(at)) {
      this.known.clear();
      return;
    }
    const [base, start] = placeOf(at);
    const end = typeof length === 'bigint' && !isBehind(at) ? start + length : null;
    for (const key of this.known.keys()) {
      const [otherBase = '', offset = '0'] = key.split('@');
      const position = BigInt(offset);
      const isOwn = otherBase === base && position >= start && (end === null || position < end);
      // Two pointers may be equal, but no pointer leads to the memory that Solidity reserves.
      const mayBe =
        otherBase !== base && !isOwnMemory(otherBase, position) && !isOwnMemory(base, start);
      if (isOwn || mayBe) this.known.delete(key);
    }
  }

  selectorAt(at: Value): Hex | 'any' {
    const bytes = [0n, 1n, 2n, 3n].map((i) => this.byteAt(at, i));
    if (bytes.includes(undefined)) return 'any';
    return `0x${bytes.map((byte) => (byte ?? 0).toString(16).padStart(2, '0')).join('')}`;
  }

  private byteAt(at: Value, index: bigint): number | undefined {
    return isPlace(at) && !isBehind(at) ? this.known.get(keyOf(at, index)) : undefined;
  }
}

type Place = Exclude<Value, string>;

function isPlace(value: Value): value is Place {
  return typeof value !== 'string';
}

function isBehind(at: Place): boolean {
  return typeof at === 'object' && at.isBehind;
}

function placeOf(at: Place): [string, bigint] {
  return typeof at === 'bigint' ? ['', at] : [String(at.base), at.offset];
}

function keyOf(at: Place, index: bigint): string {
  const [base, start] = placeOf(at);
  return `${base}@${start + index}`;
}

function isOwnMemory(base: string, position: bigint): boolean {
  return base === '' && position < FIRST_FREE;
}
