import { signed, type Term, Terms, wrapped } from './expressions.ts';

/** A path through a call that returns a word. */
export interface Path {
  /** The conditions on the arguments under which the call takes this path. */
  readonly conditions: readonly Term[];
  readonly returned: Term;
}

export interface AllPaths {
  readonly terms: Terms;
  readonly paths: readonly Path[];
}

interface Machine {
  pc: number;
  readonly stack: Term[];
  /** Words of memory, by the offset of their first byte. */
  readonly memory: Map<bigint, Term>;
  readonly conditions: Term[];
}

interface Call {
  readonly code: Uint8Array;
  readonly selector: bigint;
  /** The number of bits of each argument. */
  readonly widths: readonly number[];
  readonly terms: Terms;
}

const WORD_BYTES = 32;
const SELECTOR_BYTES = 4;
/** Claims have no loops, so more paths than this indicate a mistake. */
const MOST_PATHS = 4_096;

const PUSH0 = 0x5f;
const DUP1 = 0x80;
const SWAP1 = 0x90;
const LOG0 = 0xa0;

/**
 * Opcodes that revert (REVERT, INVALID). A claim says nothing about a path that ends in one of
 * them.
 */
const REVERTS: ReadonlySet<number> = new Set([0xfd, 0xfe]);

/**
 * Runs a pure function's compiled code with symbolic arguments along all paths. @throws Error if
 * the code uses an opcode that no claim should need.
 */
export function runAllPaths(call: Omit<Call, 'terms'>): AllPaths {
  const terms = new Terms(call.widths);
  const open: Machine[] = [{ pc: 0, stack: [], memory: new Map(), conditions: [] }];
  const paths: Path[] = [];
  let tried = 0;
  for (let machine = open.pop(); machine !== undefined; machine = open.pop()) {
    if (++tried > MOST_PATHS) throw new Error('a claim has too many paths');
    const returned = run({ ...call, terms }, machine, (other) => open.push(other));
    if (returned !== null) paths.push({ conditions: machine.conditions, returned });
  }
  return { terms, paths };
}

/** Runs one path to its end. @returns null if the path reverts. */
function run(call: Call, machine: Machine, fork: (other: Machine) => void): Term | null {
  for (;;) {
    const opcode = call.code[machine.pc] ?? 0;
    machine.pc++;
    if (REVERTS.has(opcode)) return null;
    if (opcode === 0xf3) return read(machine, concrete(pop(machine)));
    if (opcode === 0x56) jump(call, machine, pop(machine));
    else if (opcode === 0x57) branch(call, machine, fork);
    else step(call, machine, opcode);
  }
}

function pop({ stack }: Machine): Term {
  const term = stack.pop();
  if (term === undefined) throw new Error('the stack is empty');
  return term;
}

function concrete({ value }: Term): bigint {
  if (value === null) throw new Error('a memory offset depends on the arguments');
  return value;
}

function read({ memory }: Machine, offset: bigint): Term {
  const word = memory.get(offset);
  if (word === undefined) throw new Error(`nothing was written to memory at ${offset}`);
  return word;
}

function jump({ code }: Call, machine: Machine, target: Term): void {
  machine.pc = Number(concrete(target));
  if (code[machine.pc] !== 0x5b) throw new Error('a jump to an invalid destination');
}

function branch(call: Call, machine: Machine, fork: (other: Machine) => void): void {
  const target = pop(machine);
  const word = pop(machine);
  if (word.value !== null) {
    if (word.value !== 0n) jump(call, machine, target);
    return;
  }
  const taken = call.terms.isNotZero(word);
  const other: Machine = {
    pc: machine.pc,
    stack: [...machine.stack],
    memory: new Map(machine.memory),
    conditions: [...machine.conditions, call.terms.not(taken)],
  };
  fork(other);
  machine.conditions.push(taken);
  jump(call, machine, target);
}

function step(call: Call, machine: Machine, opcode: number): void {
  const { stack } = machine;
  const operation = OPERATIONS[opcode];
  if (operation !== undefined) operation(machine, call);
  else if (opcode >= PUSH0 && opcode < DUP1) pushBytes(call, machine, opcode - PUSH0);
  else if (opcode >= DUP1 && opcode < SWAP1) duplicate(stack, opcode - DUP1 + 1);
  else if (opcode >= SWAP1 && opcode < LOG0) swap(stack, opcode - SWAP1 + 1);
  else throw new Error(`the opcode 0x${opcode.toString(16)} is not supported`);
}

function duplicate(stack: Term[], depth: number): void {
  const term = stack.at(-depth);
  if (term === undefined) throw new Error('the stack is too short');
  stack.push(term);
}

function pushBytes({ code, terms }: Call, machine: Machine, count: number): void {
  let value = 0n;
  for (let i = 0; i < count; i++) value = (value << 8n) | BigInt(code[machine.pc + i] ?? 0);
  machine.pc += count;
  machine.stack.push(terms.constant(value));
}

function swap(stack: Term[], depth: number): void {
  const [top, other] = [stack.length - 1, stack.length - 1 - depth];
  const [a, b] = [stack[top], stack[other]];
  if (a === undefined || b === undefined) throw new Error('the stack is too short');
  stack[top] = b;
  stack[other] = a;
}

type Operation = (machine: Machine, call: Call) => void;

const binary =
  (make: (terms: Terms, a: Term, b: Term) => Term): Operation =>
  (machine, { terms }) => {
    const a = pop(machine);
    machine.stack.push(make(terms, a, pop(machine)));
  };

const combined = (operator: string, folded: (a: bigint, b: bigint) => bigint) =>
  binary((terms, a, b) => terms.combine(a, b, operator, (x, y) => wrapped(folded(x, y))));

const compared = (operator: string, folded: (a: bigint, b: bigint) => boolean) =>
  binary((terms, a, b) => terms.compare(a, b, operator, folded));

const OPERATIONS: Readonly<Record<number, Operation>> = {
  1: combined('bvadd', (a, b) => a + b),
  2: combined('bvmul', (a, b) => a * b),
  3: combined('bvsub', (a, b) => a - b),
  4: binary((terms, a, b) => terms.divide(a, b)),
  16: compared('bvult', (a, b) => a < b),
  17: compared('bvugt', (a, b) => a > b),
  18: compared('bvslt', (a, b) => signed(a) < signed(b)),
  19: compared('bvsgt', (a, b) => signed(a) > signed(b)),
  20: compared('=', (a, b) => a === b),
  21: (machine, { terms }) => machine.stack.push(terms.isZero(pop(machine))),
  22: combined('bvand', (a, b) => a & b),
  23: combined('bvor', (a, b) => a | b),
  24: combined('bvxor', (a, b) => a ^ b),
  25: (machine, { terms }) => {
    const a = pop(machine);
    const all = terms.constant(-1n);
    machine.stack.push(terms.combine(a, all, 'bvxor', (x, y) => x ^ y));
  },
  27: binary((terms, places, value) => terms.shiftLeft(value, places)),
  28: binary((terms, places, value) => terms.shiftRight(value, places)),
  // CALLVALUE: the call sends no native currency.
  52: (machine, { terms }) => machine.stack.push(terms.constant(0n)),
  53: loadArgument,
  54: (machine, { terms, widths }) => {
    const size = SELECTOR_BYTES + WORD_BYTES * widths.length;
    machine.stack.push(terms.constant(BigInt(size)));
  },
  80: (machine) => void pop(machine),
  81: (machine) => machine.stack.push(read(machine, concrete(pop(machine)))),
  82: (machine) => {
    const offset = concrete(pop(machine));
    machine.memory.set(offset, pop(machine));
  },
  91: () => {},
};

function loadArgument(machine: Machine, { terms, selector }: Call): void {
  const offset = Number(concrete(pop(machine)));
  const index = (offset - SELECTOR_BYTES) / WORD_BYTES;
  if (offset !== 0 && !Number.isInteger(index)) throw new Error('between two arguments');
  machine.stack.push(offset === 0 ? terms.beginning(selector) : terms.argument(index));
}
