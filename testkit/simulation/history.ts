import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type PauseMs, type Random, SEED } from '#testkit/fixtures/core/random.ts';
import type { ChaosProcess } from '#testkit/simulation/chaos/chaos-process.ts';
import {
  checkInvariants,
  comeToRest,
  type Rest,
  type Sources,
} from '#testkit/simulation/invariants/invariants.ts';

/**
 * One step of a history: a request, a client's scene, or a sale. A long step ends early when the
 * signal fires.
 * @returns the violations that it noticed, if any
 */
export type Step =
  | ((signal: AbortSignal) => Promise<readonly string[]>)
  | ((signal: AbortSignal) => Promise<void>);

/** The random choices for one fault: what it strikes, and how. */
export interface Plan {
  readonly targets: readonly ChaosProcess[];
  /** Causes the fault, then repairs whatever does not recover on its own. */
  readonly strike: (targets: readonly ChaosProcess[]) => Promise<void>;
}

export interface Fault {
  readonly name: string;
  /** The fault's frequency, relative to the other faults. */
  readonly weight: number;
  /** Makes all random choices in advance, because in a replay, the fault may strike later. */
  readonly plan: (random: Random) => Plan;
}

/** Faults to inject, and when. */
export interface FaultSet {
  readonly faults: readonly Fault[];
  /**
   * The order of steps and faults. `among`: faults strike one after another while steps run. `one`:
   * a single fault strikes at the start. `after`: a single fault strikes after all steps.
   */
  readonly when: 'among' | 'one' | 'after';
  readonly random?: Random;
  /** The pause before each fault, for `among`. */
  readonly pauseMs?: PauseMs;
  /** Makes a fault strike. Default: immediately. In a replay, at the recorded moment. */
  readonly strike?: (fault: Fault, plan: Plan) => Promise<void>;
}

/** The system on which a history runs: its wait for rest, and the data to check. */
export type Ground = Rest & Sources;

/** A history. Its generator has made all random choices from the seed. */
export interface History {
  readonly ground: Ground;
  /** The steps of each client. Clients run concurrently. Endless steps stop when the time is up. */
  readonly clients: readonly Iterable<Step>[];
  readonly faults?: FaultSet;
  /** Duration of the history in seconds. Default: until all clients have finished. */
  readonly seconds?: number;
  /**
   * Called after the last step, for example to repair something or to compare the service with what
   * clients know.
   */
  readonly ended?: Step;
  /** The shortest command that repeats the history. */
  readonly repeat: string;
  readonly log?: (line: string) => void;
  /** Interval between checks of the rules that hold at any time, while the history runs. */
  readonly checkEveryMs?: number;
}

export interface HistoryReport {
  /** Violations of invariants. An empty list means success. */
  readonly broken: readonly string[];
  /** Number of strikes of each fault. */
  readonly faults: Readonly<Record<string, number>>;
  readonly secondsToRest: number;
}

const CHECK_EVERY_MS = 10_000;

/** Returns the command that repeats a test with the same random choices. */
export const repeatTest = (file: string) => `SEED=${SEED} npm test -- ${file}`;

/** Returns a set with a single fault, which makes no random choices. */
export function oneFault(when: 'one' | 'after', strike: () => Promise<unknown>): FaultSet {
  const plan = () => ({ targets: [], strike: async () => void (await strike()) });
  return { when, faults: [{ name: 'the fault', weight: 1, plan }] };
}

function choose(faults: readonly Fault[], random: Random): Fault {
  let rest = random.below(faults.reduce((sum, { weight }) => sum + weight, 0));
  for (const fault of faults) {
    if (rest < fault.weight) return fault;
    rest -= fault.weight;
  }
  throw new Error('no fault was chosen');
}

/**
 * Strikes one fault, or one after another until the signal fires.
 * @returns how many times each struck
 */
async function strikeFaults(set: FaultSet, signal: AbortSignal) {
  const { faults, when, random = createRandom(SEED, 'faults'), pauseMs } = set;
  const { strike = (_, plan) => plan.strike(plan.targets) } = set;
  const struck: Record<string, number> = {};
  do {
    const ms = pauseMs === undefined ? 0 : random.between(pauseMs.low, pauseMs.high);
    await sleep(ms, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    const fault = choose(faults, random);
    struck[fault.name] = (struck[fault.name] ?? 0) + 1;
    await strike(fault, fault.plan(random));
  } while (when === 'among');
  return struck;
}

/** Returns a violation if no fault struck although the history was long enough for one. */
function missedFaults({ when, pauseMs }: FaultSet, struck: object, playedMs: number): string[] {
  const isDue = when !== 'among' || playedMs > (pauseMs?.high ?? 0);
  return isDue && Object.keys(struck).length === 0 ? ['no fault struck'] : [];
}

/** Keeps checking the rules that hold at any time, until the signal fires. */
async function keepChecking(history: History, broken: Set<string>, signal: AbortSignal) {
  const { ground, checkEveryMs = CHECK_EVERY_MS, log } = history;
  const { db, except } = ground;
  const ledger = { db, ...(except === undefined ? {} : { except }) };
  while (await sleep(checkEveryMs, true, { signal }).catch(() => false)) {
    // Ignores a check that fails: the database may be down, and the next check will find any
    // violation.
    const result = await checkInvariants(ledger, { atRest: false }).catch(() => []);
    for (const one of result) broken.add(one);
    if (result.length > 0) log?.(`broken: ${result.join('; ')}`);
  }
}

/** Plays the steps with faults among them, and keeps checking the rules that hold at any time. */
async function playSteps(history: History, broken: Set<string>) {
  const { seconds, log } = history;
  const [stepping, striking] = [new AbortController(), new AbortController()];
  const ending = new AbortController();
  const started = performance.now();
  const play = async (steps: Iterable<Step>) => {
    for (const step of steps) {
      if (stepping.signal.aborted) return;
      for (const one of (await step(stepping.signal)) ?? []) broken.add(one);
    }
  };
  // A step that fails ends the history.
  const clients = Promise.all(history.clients.map(play)).catch((error) => {
    broken.add(error instanceof Error ? error.message : String(error));
    stepping.abort();
  });
  const checking = keepChecking(history, broken, ending.signal);
  const { faults } = history;
  const { signal } = striking;
  const isNow = faults !== undefined && faults.when !== 'after';
  const strikes = (isNow ? strikeFaults(faults, signal) : Promise.resolve({})).catch((error) => {
    broken.add(`a fault failed: ${error}`);
    return {};
  });
  const time = seconds === undefined ? [] : [sleep(seconds * 1000, undefined, { signal })];
  await Promise.race([clients, ...time.map((over) => over.catch(() => {}))]);
  const playedMs = performance.now() - started;
  striking.abort();
  const struck = await strikes;
  log?.('no more faults');
  stepping.abort();
  await clients;
  ending.abort();
  await checking;
  return { struck, playedMs };
}

/**
 * Plays a history: runs its steps, with faults among or after them, waits until the system is at
 * rest, and checks the shared invariants. The tests of chaos, the API model, ways to pay and
 * fuzzing provide the steps.
 */
export async function playHistory(history: History): Promise<HistoryReport> {
  const { ground, faults, ended, repeat, log } = history;
  log?.(`repeat it: ${repeat}`);
  const results = new Set<string>();
  const played = await playSteps(history, results);
  let { struck } = played;
  const { signal } = new AbortController();
  if (faults?.when === 'after') struck = await strikeFaults(faults, signal);
  const missed = faults === undefined ? [] : missedFaults(faults, struck, played.playedMs);
  for (const one of [...missed, ...((await ended?.(signal)) ?? [])]) results.add(one);
  const started = performance.now();
  for (const one of await comeToRest(ground, ground)) results.add(one);
  const secondsToRest = Math.round((performance.now() - started) / 1000);
  return { broken: [...results], faults: struck, secondsToRest };
}

/**
 * Plays a test's history.
 * @throws if it violated an invariant
 */
export async function requireKept(history: History): Promise<void> {
  const { broken } = await playHistory(history);
  assert.deepEqual(broken.length === 0 ? [] : [...broken, `repeat it: ${history.repeat}`], []);
}
