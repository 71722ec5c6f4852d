import { present } from '#core/assert.ts';
import { step } from '#settlement/relayer/state-machine/decide-transaction-step.ts';
import { EFFECTS, OBSERVATIONS, PHASES } from '#testkit/fixtures/settlement/transaction-cases.ts';
import { requireProgress } from '#testkit/simulation/relayer-model/calm.ts';
import { chainMoves } from '#testkit/simulation/relayer-model/chain-moves.ts';
import { carryOut, earlyAnswers } from '#testkit/simulation/relayer-model/effect-moves.ts';
import { poll, tend } from '#testkit/simulation/relayer-model/follower-moves.ts';
import {
  requireMemory,
  requireSoundRows,
  requireStored,
} from '#testkit/simulation/relayer-model/invariants.ts';
import {
  crash,
  flush,
  type Machine,
  NOBODY,
  type Scene,
  takeUp,
  Violation,
} from '#testkit/simulation/relayer-model/worker-moves.ts';
import type { Bounds, ChainState, Rows, Worker } from '#testkit/simulation/relayer-model/world.ts';

export interface Exploration {
  readonly states: number;
  /** Number of moves from the first state to the most distant one. */
  readonly depth: number;
  /** The violated invariant, and the moves that led to the violation; `null` if there is none. */
  readonly violation: { readonly what: string; readonly path: readonly string[] } | null;
}

/** The coverage of a run's explorations. */
export interface Met {
  readonly observations: Set<string>;
  readonly effects: Set<string>;
  /** Transitions between transaction phases, as `from → to`. */
  readonly passages: Set<string>;
}

export function nothingMet(): Met {
  return { observations: new Set(), effects: new Set(), passages: new Set() };
}

export const ALL = { observations: OBSERVATIONS, effects: EFFECTS, phases: PHASES };

/**
 * Assigns a number to each value. Equal values get equal numbers, so that a few numbers identify a
 * state. The text that identifies a value contains the numbers of its parts, because most moves
 * change only a few parts; known parts are recognized by identity.
 */
class Numbers<T extends object> {
  readonly #known = new WeakMap<object, number>();
  readonly #byText = new Map<string, number>();
  readonly #values: object[] = [];

  of(value: object): number {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const text = writtenOut(value, this.#partOf);
    let number = this.#byText.get(text);
    if (number === undefined) {
      number = this.#values.length;
      this.#byText.set(text, number);
      this.#values.push(value);
    }
    this.#known.set(value, number);
    return number;
  }

  // Writes lists and times in full. They are rarely the same object as before, so numbering them
  // would not pay off.
  readonly #partOf = (value: unknown): string => {
    if (typeof value !== 'object' || value === null) return String(value);
    const isInline = Array.isArray(value) || value instanceof Date;
    return isInline ? writtenOut(value, this.#partOf) : `#${this.of(value)}`;
  };

  at(number: number): T {
    return present(this.#values[number], 'numbered value') as T;
  }
}

/** Returns the same text for equal values, whatever the order of their fields. */
function writtenOut(value: object, partOf: (part: unknown) => string): string {
  if (value instanceof Date) return `@${value.getTime()}`;
  let text = '';
  if (Array.isArray(value)) {
    for (const one of value) text += `${partOf(one)},`;
    return `[${text}]`;
  }
  for (const name of Object.keys(value).sort()) {
    text += `${name}:${partOf(value[name as keyof typeof value])},`;
  }
  return `{${text}}`;
}

/** Formats a value for the path to a violation, which a developer reads. */
const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? writtenOut(value, textOf) : String(value);

type State = readonly [chain: number, rows: number, first: number, second: number];
type Moves = readonly (readonly [name: string, chain: number, rows: number, worker: number])[];

/**
 * Options of one exploration. Several explorations may collect what they cover in the same `met`.
 */
export interface ExploreOptions {
  readonly step?: typeof step;
  readonly met?: Met;
  /** Maximum number of states, for runs with little time. Default: all states within the bounds. */
  readonly mostStates?: number;
  /** In one of this many states, continues without faults and checks that everything settles. */
  readonly calmEach?: number;
}

export function explore(bounds: Bounds, options: ExploreOptions = {}): Exploration {
  const explorer = createExplorer(bounds, options);
  const states = new States();
  states.add(explorer.first, 0, '');
  const most = options.mostStates ?? Number.POSITIVE_INFINITY;
  let next = 0;
  for (let depth = 0; depth <= bounds.steps; depth++) {
    for (const end = states.size; next < end; next++) {
      let made: string | null = null;
      try {
        for (const [move, to] of explorer.movesOf(states.at(next))) {
          if (!states.add(to, next, move)) continue;
          made = move;
          explorer.check(to);
          made = null;
        }
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        const path = [...states.pathTo(next), made ?? explorer.moving()];
        const kind = error instanceof Violation ? '' : `${error.name}: `;
        return { states: states.size, depth, violation: { what: kind + error.message, path } };
      }
      if (states.size >= most) return { states: states.size, depth, violation: null };
    }
    if (next === states.size) return { states: states.size, depth, violation: null };
  }
  return { states: states.size, depth: bounds.steps, violation: null };
}

/** Initial capacity. It doubles when full. */
const STATES_AT_FIRST = 4_096;

/**
 * The states found so far, in the order of their discovery, each with the move that led to it. Most
 * moves lead to a known state, so this is a hash table with open addressing over plain numbers. A
 * `Map` keyed by text was slower and took several times the memory.
 */
class States {
  size = 0;
  /** Four numbers for each state. */
  #parts = new Int32Array(4 * STATES_AT_FIRST);
  /** For each state, the index of the state from which it was first reached. */
  #origins = new Int32Array(STATES_AT_FIRST);
  readonly #moves: string[] = [];
  /**
   * The hash table. A slot contains the index of a state plus one, or 0 if it is free. At most half
   * of the slots are used.
   */
  #places = new Int32Array(2 * STATES_AT_FIRST);

  at(index: number): State {
    const at = 4 * index;
    const [chain = 0, rows = 0, first = 0, second = 0] = this.#parts.subarray(at, at + 4);
    return [chain, rows, first, second];
  }

  /**
   * Adds a state if it is unknown.
   * @returns true if it was unknown
   */
  add(state: State, from: number, move: string): boolean {
    const position = this.#placeOf(state);
    if (this.#places[position] !== 0) return false;
    if (this.size === this.#origins.length) {
      this.#grow();
      return this.add(state, from, move);
    }
    this.#parts.set(state, 4 * this.size);
    this.#origins[this.size] = from;
    this.#moves.push(move);
    this.size++;
    this.#places[position] = this.size;
    return true;
  }

  /** Returns the moves from the first state to this one. */
  pathTo(index: number): string[] {
    const path: string[] = [];
    for (let at = index; at > 0; at = present(this.#origins[at], 'origin')) {
      path.unshift(present(this.#moves[at], 'move'));
    }
    return path;
  }

  /** Returns the slot of a state. For an unknown state, that is a free slot. */
  #placeOf([chain, rows, first, second]: State): number {
    const mask = this.#places.length - 1;
    let hash = Math.imul(chain, 0x9e3779b1) ^ Math.imul(rows, 0x85ebca6b);
    hash ^= Math.imul(first, 0xc2b2ae35) ^ Math.imul(second, 0x27d4eb2f);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    const parts = this.#parts;
    for (let position = (hash ^ (hash >>> 13)) & mask; ; position = (position + 1) & mask) {
      const result = this.#places[position];
      if (result === undefined || result === 0) return position;
      const at = 4 * (result - 1);
      if (parts[at] !== chain || parts[at + 1] !== rows) continue;
      if (parts[at + 2] === first && parts[at + 3] === second) return position;
    }
  }

  #grow(): void {
    const [parts, origins] = [this.#parts, this.#origins];
    this.#parts = new Int32Array(2 * parts.length);
    this.#parts.set(parts);
    this.#origins = new Int32Array(2 * origins.length);
    this.#origins.set(origins);
    this.#places = new Int32Array(2 * this.#places.length);
    for (let index = 0; index < this.size; index++) {
      this.#places[this.#placeOf(this.at(index))] = index + 1;
    }
  }
}

/** High, so that few states are continued: each continuation takes hundreds of steps. */
const CALM_EACH = 499;

const MOVES = { 'carry out': carryOut, poll, tend, flush, 'take up': takeUp, early: earlyAnswers };

function createExplorer(
  bounds: Bounds,
  { step: request = step, met = nothingMet(), calmEach = CALM_EACH }: ExploreOptions,
) {
  const chains = new Numbers<ChainState>();
  const allRows = new Numbers<Rows>();
  const workers = new Numbers<Worker>();
  const all = { chains, allRows, workers };
  const moving = { name: '' };
  const checked = { states: 0 };
  const noting: typeof step = (transaction, observation, now) => {
    const after = request(transaction, observation, now);
    met.observations.add(observation.kind);
    for (const { kind } of after.effects) met.effects.add(kind);
    met.passages.add(`${transaction.phase} → ${after.transaction.phase}`);
    return after;
  };
  const chainsAfter = remember((chain: number) =>
    chainMoves(chains.at(chain), bounds).map((one) => chains.of(one)),
  );
  const leasesAfter = remember((rows: number) =>
    leaseMoves(allRows.at(rows), bounds).map((one) => allRows.of(one)),
  );
  const remembered = [0, 1].map((self) =>
    rememberThree((chain, rows, worker) =>
      movesOfWorker(all, { step: noting, bounds, self }, moving, { chain, rows, worker }),
    ),
  );
  const [ofFirst, ofSecond] = [present(remembered[0], 'first'), present(remembered[1], 'second')];
  const requireSound = createRequirements(all, bounds);
  return {
    first: [
      chains.of(firstChain(bounds)),
      allRows.of(firstRows(bounds)),
      workers.of(NOBODY),
      workers.of(NOBODY),
    ] as State,
    moving: () => moving.name,
    *movesOf([chain, rows, one, two]: State): Generator<readonly [string, State]> {
      for (const next of chainsAfter(chain)) yield ['the chain moves', [next, rows, one, two]];
      for (const next of leasesAfter(rows)) yield ['a lease moves', [chain, next, one, two]];
      for (const [name, c, r, w] of ofFirst(chain, rows, one)) yield [name, [c, r, w, two]];
      if (bounds.workers < 2) return;
      for (const [name, c, r, w] of ofSecond(chain, rows, two)) yield [name, [c, r, one, w]];
    },
    check: (state: State) => {
      requireSound(state);
      checked.states++;
      if (checked.states % calmEach !== 0) return;
      const [chain, rows, one, two] = state;
      const both = [workers.at(one), workers.at(two)];
      const situation = { chain: chains.at(chain), rows: allRows.at(rows), workers: both };
      requireProgress(situation, request, bounds);
    },
  };
}

/**
 * Checks each combination of parts only once. Most states consist of combinations that were checked
 * before.
 */
function createRequirements({ chains, allRows, workers }: Numbered, bounds: Bounds) {
  const rowsHold = remember((rows: number) => {
    requireSoundRows(allRows.at(rows), bounds);
    return true;
  });
  const storedHolds = oncePerPair((chain, rows) =>
    requireStored(chains.at(chain), allRows.at(rows)),
  );
  const [firstHolds, secondHolds] = ([0, 1] as const).map((self) =>
    oncePerPair((rows, worker) =>
      requireMemory(workers.at(worker), allRows.at(rows), bounds, self),
    ),
  );
  return ([chain, rows, first, second]: State) => {
    rowsHold(rows);
    storedHolds(chain, rows);
    firstHolds?.(rows, first);
    secondHolds?.(rows, second);
  };
}

interface Numbered {
  readonly chains: Numbers<ChainState>;
  readonly allRows: Numbers<Rows>;
  readonly workers: Numbers<Worker>;
}

function movesOfWorker(
  { chains, allRows, workers }: Numbered,
  machine: Machine,
  /** The current move, shown in the path to a violation. */
  moving: { name: string },
  at: { readonly chain: number; readonly rows: number; readonly worker: number },
): Moves {
  const worker = workers.at(at.worker);
  const scene: Scene = { worker, rows: allRows.at(at.rows), chain: chains.at(at.chain) };
  const made: [string, number, number, number][] = [];
  const [task] = worker.tasks;
  const about = task === undefined ? '' : textOf(task);
  for (const [name, move] of Object.entries(MOVES)) {
    moving.name = `worker ${machine.self}: ${name} ${about}`;
    for (const after of move(scene, machine)) {
      made.push([
        moving.name,
        after.chain === scene.chain ? at.chain : chains.of(after.chain),
        after.rows === scene.rows ? at.rows : allRows.of(after.rows),
        workers.of(after.worker),
      ]);
    }
  }
  for (const one of crash(worker, machine)) {
    made.push(['a crash', at.chain, at.rows, workers.of(one)]);
  }
  return made;
}

function remember<T>(make: (number: number) => T): (number: number) => T {
  const made = new Map<number, T>();
  return (number) => {
    const known = made.get(number);
    if (known !== undefined) return known;
    const fresh = make(number);
    made.set(number, fresh);
    return fresh;
  };
}

/**
 * Upper limit of a state's numbers, so that two of them fit into one key. Real ones stay far below
 * it.
 */
const WIDE = 2 ** 26;

/** Returns a function that checks a pair of numbers only the first time it gets them. */
function oncePerPair(
  required: (one: number, other: number) => void,
): (one: number, other: number) => void {
  const met = new Set<number>();
  return (one, other) => {
    const pair = one * WIDE + other;
    if (met.has(pair)) return;
    required(one, other);
    met.add(pair);
  };
}

function rememberThree<T>(
  make: (chain: number, rows: number, worker: number) => T,
): (chain: number, rows: number, worker: number) => T {
  const made = new Map<number, Map<number, T>>();
  return (chain, rows, worker) => {
    const pair = rows * WIDE + worker;
    let ofPair = made.get(pair);
    if (ofPair === undefined) {
      ofPair = new Map();
      made.set(pair, ofPair);
    }
    const known = ofPair.get(chain);
    if (known !== undefined) return known;
    const fresh = make(chain, rows, worker);
    ofPair.set(chain, fresh);
    return fresh;
  };
}

function leaseMoves(rows: Rows, bounds: Bounds): Rows[] {
  if (bounds.workers < 2 || rows.leaseMoves >= bounds.leaseMoves) return [];
  return rows.leases.map(({ holder, fencingToken }, sender) => ({
    ...rows,
    leases: rows.leases.with(sender, { holder: 1 - holder, fencingToken: fencingToken + 1 }),
    leaseMoves: rows.leaseMoves + 1,
  }));
}

function firstChain({ slots }: Bounds): ChainState {
  return {
    ...{ height: 1, cuts: [], mined: slots.map(() => null), lost: null },
    ...{ pool: slots.map(() => 0), reorganizations: 0, evictions: 0, isStolen: false },
  };
}

function firstRows({ slots, jobs }: Bounds): Rows {
  const senders = Math.max(...slots.map(({ sender }) => sender)) + 1;
  return {
    transactions: slots.map(() => null),
    jobs: Array.from({ length: jobs }, () => ({ status: 'queued', slot: null })),
    leases: Array.from({ length: senders }, () => ({ holder: 0, fencingToken: 1 })),
    leaseMoves: 0,
  };
}
