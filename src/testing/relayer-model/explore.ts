import { present } from '#core/assert.ts';
import { step } from '#settlement/relayer/machine/step.ts';
import { requireProgress } from '#testing/relayer-model/calm.ts';
import { chainMoves } from '#testing/relayer-model/chain-moves.ts';
import { carryOut, earlyAnswers } from '#testing/relayer-model/effect-moves.ts';
import { poll, tend } from '#testing/relayer-model/follower-moves.ts';
import { requireInvariants } from '#testing/relayer-model/invariants.ts';
import {
  crash,
  flush,
  type Machine,
  NOBODY,
  type Scene,
  takeUp,
  Violation,
} from '#testing/relayer-model/worker-moves.ts';
import type { Bounds, ChainState, Rows, Worker } from '#testing/relayer-model/world.ts';
import { EFFECTS, OBSERVATIONS, PHASES } from '#testing/transaction-cases.ts';

export interface Exploration {
  /** The number of distinct states. */
  readonly states: number;
  /** Steps from the first state to the farthest. */
  readonly depth: number;
  /** The broken promise, and the moves that led to it; `null` if all hold. */
  readonly violation: { readonly what: string; readonly path: readonly string[] } | null;
}

/** Everything that the explorations of one run have met. */
export interface Met {
  readonly observations: Set<string>;
  readonly effects: Set<string>;
  /** Transitions between phases, as `from → to`. */
  readonly passages: Set<string>;
}

export function nothingMet(): Met {
  return { observations: new Set(), effects: new Set(), passages: new Set() };
}

export const ALL = { observations: OBSERVATIONS, effects: EFFECTS, phases: PHASES };

/**
 * Gives equal values equal numbers, so that a state is a few numbers. A value's text names the
 * values in it by their numbers: most moves change few of them, and the same object is the same
 * value, because all are immutable.
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

  readonly #partOf = (value: unknown) =>
    typeof value === 'object' && value !== null ? `#${this.of(value)}` : String(value);

  at(number: number): T {
    return present(this.#values[number], 'numbered value') as T;
  }
}

/** Returns the same text for equal values, regardless of the order of their fields. */
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

/** For people, who read it in the path to a violation. */
const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? writtenOut(value, textOf) : String(value);

type State = readonly [chain: number, rows: number, first: number, second: number];
type Moves = readonly (readonly [name: string, chain: number, rows: number, worker: number])[];

/** Explorations share only the set of visited states. */
export interface ExploreOptions {
  readonly step?: typeof step;
  readonly met?: Met;
  /** Limit of states if time is short; by default all that the bounds allow. */
  readonly mostStates?: number;
  /** One in this many states is continued without faults, to see that everything settles. */
  readonly calmEach?: number;
}

export function explore(bounds: Bounds, options: ExploreOptions = {}): Exploration {
  const explorer = createExplorer(bounds, options);
  const seen = new Map<string, readonly [from: string, move: string]>();
  let frontier = [explorer.first];
  seen.set(keyOf(explorer.first), ['', '']);
  const most = options.mostStates ?? Number.POSITIVE_INFINITY;
  for (let depth = 0; depth <= bounds.steps; depth++) {
    const next: State[] = [];
    for (const state of frontier) {
      const from = keyOf(state);
      let made: string | null = null;
      try {
        for (const [move, to] of explorer.movesOf(state)) {
          const key = keyOf(to);
          if (seen.has(key)) continue;
          seen.set(key, [from, move]);
          made = move;
          explorer.check(to);
          made = null;
          next.push(to);
        }
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        const path = [...pathTo(seen, from), made ?? explorer.moving()];
        const kind = error instanceof Violation ? '' : `${error.name}: `;
        return { states: seen.size, depth, violation: { what: kind + error.message, path } };
      }
      if (seen.size >= most) return { states: seen.size, depth, violation: null };
    }
    if (next.length === 0 || depth === bounds.steps) {
      return { states: seen.size, depth, violation: null };
    }
    frontier = next;
  }
  return { states: seen.size, depth: bounds.steps, violation: null };
}

function keyOf(state: State): string {
  // Uses two characters per number, because some have more than 65,536 values.
  let key = '';
  for (const one of state) key += String.fromCharCode(one & 0xffff, one >>> 16);
  return key;
}

function pathTo(
  seen: ReadonlyMap<string, readonly [string, string]>,
  key: string,
): readonly string[] {
  const path: string[] = [];
  for (let at = key; at !== ''; ) {
    const [from, move] = present(seen.get(at), 'state');
    path.unshift(move);
    at = from;
  }
  return path.slice(1);
}

/** Few, because each takes hundreds of steps. */
const CALM_EACH = 499;

const MOVES = { 'carry out': carryOut, poll, tend, flush, 'take up': takeUp, early: earlyAnswers };

function createExplorer(
  bounds: Bounds,
  { step: asked = step, met = nothingMet(), calmEach = CALM_EACH }: ExploreOptions,
) {
  const chains = new Numbers<ChainState>();
  const allRows = new Numbers<Rows>();
  const workers = new Numbers<Worker>();
  const all = { chains, allRows, workers };
  const moving = { name: '' };
  const checked = { states: 0 };
  const noting: typeof step = (transaction, observation, now) => {
    const after = asked(transaction, observation, now);
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
    check: ([chain, rows, one, two]: State) => {
      const both = [workers.at(one), workers.at(two)];
      const situation = { chain: chains.at(chain), rows: allRows.at(rows), workers: both };
      requireInvariants(situation, bounds);
      checked.states++;
      if (checked.states % calmEach === 0) requireProgress(situation, asked, bounds);
    },
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
  /** The present move, for the path to a violation. */
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

/** Limit of numbers, so that two of them fit into one key. They stay far below it. */
const WIDE = 2 ** 26;

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
