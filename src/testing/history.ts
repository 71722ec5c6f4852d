import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosProcess } from '#testing/chaos/chaos-process.ts';
import {
  checkInvariants,
  comeToRest,
  type Rest,
  type Sources,
} from '#testing/invariants/invariants.ts';
import { createRandom, type PauseMs, type Random, SEED } from '#testing/random.ts';

/**
 * One step: a request, a scene of a client, or a sale. A long step ends early after the signal.
 * @returns the promises that it saw broken, if any.
 */
export type Step =
  | ((signal: AbortSignal) => Promise<readonly string[]>)
  | ((signal: AbortSignal) => Promise<void>);

/** The random choices of one fault: its targets, and how it strikes. */
export interface Plan {
  readonly targets: readonly ChaosProcess[];
  /** Causes the fault, and repairs what does not recover on its own. */
  readonly strike: (targets: readonly ChaosProcess[]) => Promise<void>;
}

export interface Fault {
  readonly name: string;
  /** Its frequency relative to the other faults. */
  readonly weight: number;
  /** Makes all random choices before the fault strikes, because a replay may wait in between. */
  readonly plan: (random: Random) => Plan;
}

/** Faults to inject, and when. */
export interface FaultSet {
  readonly faults: readonly Fault[];
  /**
   * When faults strike: one after the other `among` the steps; `one` at the start; or one `after`
   * all steps.
   */
  readonly when: 'among' | 'one' | 'after';
  readonly random?: Random;
  /** The pause before each one among the steps. */
  readonly pauseMs?: PauseMs;
  /** Default: strikes immediately. A replay waits for the moment of the earlier run. */
  readonly strike?: (fault: Fault, plan: Plan) => Promise<void>;
}

/** The system that a history runs on: its data to check, and how it comes to rest. */
export type Ground = Rest & Sources;

/** A history, whose generator derives all choices from the seed. */
export interface History {
  readonly ground: Ground;
  /**
   * The steps of each client. Clients run concurrently; endless step lists stop when the time is
   * up.
   */
  readonly clients: readonly Iterable<Step>[];
  readonly faults?: FaultSet;
  /** Default: until all clients have ended. */
  readonly seconds?: number;
  /** Called after the last step: makes repairs, or compares the service with what clients know. */
  readonly ended?: Step;
  /** The shortest command that repeats it. */
  readonly repeat: string;
  readonly log?: (line: string) => void;
  /** Interval at which the rules that always hold are checked during the history. */
  readonly checkEveryMs?: number;
}

export interface HistoryReport {
  /** Broken promises. Empty means success. */
  readonly broken: readonly string[];
  /** How often each fault has struck. */
  readonly faults: Readonly<Record<string, number>>;
  readonly secondsToRest: number;
}

const CHECK_EVERY_MS = 10_000;

/** Returns the command that repeats a test's choices. */
export const repeatTest = (file: string) => `SEED=${SEED} npm test -- ${file}`;

/** Returns a fault set with a single fault, which makes no random choices. */
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
 * Lets a single fault strike, or fault after fault until the signal. @returns how often each did.
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

/** Returns a violation if faults had the time to strike and none did. */
function missedFaults({ when, pauseMs }: FaultSet, struck: object, playedMs: number): string[] {
  const isDue = when !== 'among' || playedMs > (pauseMs?.high ?? 0);
  return isDue && Object.keys(struck).length === 0 ? ['no fault struck'] : [];
}

/** Checks the rules that always hold, again and again until the signal. */
async function keepChecking(history: History, broken: Set<string>, signal: AbortSignal) {
  const { ground, checkEveryMs = CHECK_EVERY_MS, log } = history;
  const { db, except } = ground;
  const ledger = { db, ...(except === undefined ? {} : { except }) };
  while (await sleep(checkEveryMs, true, { signal }).catch(() => false)) {
    // Skips a check while the database is down, because the next check sees the result.
    const found = await checkInvariants(ledger, { atRest: false }).catch(() => []);
    for (const one of found) broken.add(one);
    if (found.length > 0) log?.(`broken: ${found.join('; ')}`);
  }
}

/** Plays the steps, with faults among them, and keeps checking the rules that always hold. */
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
 * Plays a history: runs its steps, with faults among or after them, lets the system come to rest,
 * and checks the shared invariants. Chaos, model, ways and fuzz generate the steps.
 */
export async function playHistory(history: History): Promise<HistoryReport> {
  const { ground, faults, ended, repeat, log } = history;
  log?.(`repeat it: ${repeat}`);
  const found = new Set<string>();
  const played = await playSteps(history, found);
  let { struck } = played;
  const { signal } = new AbortController();
  if (faults?.when === 'after') struck = await strikeFaults(faults, signal);
  const missed = faults === undefined ? [] : missedFaults(faults, struck, played.playedMs);
  for (const one of [...missed, ...((await ended?.(signal)) ?? [])]) found.add(one);
  const started = performance.now();
  for (const one of await comeToRest(ground, ground)) found.add(one);
  const secondsToRest = Math.round((performance.now() - started) / 1000);
  return { broken: [...found], faults: struck, secondsToRest };
}

/** Plays a history of a test. @throws if it has broken a promise. */
export async function requireKept(history: History): Promise<void> {
  const { broken } = await playHistory(history);
  assert.deepEqual(broken.length === 0 ? [] : [...broken, `repeat it: ${history.repeat}`], []);
}
