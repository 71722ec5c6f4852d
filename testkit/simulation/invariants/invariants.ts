import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '#observability/log.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import type { Journal } from '#testkit/simulation/chaos/chaos-journal.ts';
import {
  CHARGE_INVARIANTS,
  CONTRACT_INVARIANTS,
  readBothSides,
} from '#testkit/simulation/invariants/contract-invariants.ts';
import { FILE_INVARIANTS, type Files } from '#testkit/simulation/invariants/file-invariants.ts';
import { type Violation, violationsOf } from '#testkit/simulation/invariants/invariant.ts';
import {
  LEDGER_INVARIANTS,
  type Ledger,
} from '#testkit/simulation/invariants/ledger-invariants.ts';
import {
  DELIVERY_INVARIANTS,
  type Deliveries,
  FOLLOWER_INVARIANTS,
  type Follower,
} from '#testkit/simulation/invariants/receiver-invariants.ts';
import { RESPONSE_INVARIANTS } from '#testkit/simulation/invariants/response-invariants.ts';

/**
 * All invariants, by source of data. The tests of chaos, the API model, ways to pay and fuzzing
 * share them (`history.ts`), and each test has some of the sources.
 */
export const INVARIANTS = {
  ledger: LEDGER_INVARIANTS,
  contract: [...CONTRACT_INVARIANTS, ...CHARGE_INVARIANTS],
  responses: RESPONSE_INVARIANTS,
  deliveries: DELIVERY_INVARIANTS,
  follower: FOLLOWER_INVARIANTS,
  files: FILE_INVARIANTS,
} as const;

export interface Sources extends Ledger {
  /** The chains to compare with the ledger. */
  readonly chains?: readonly NetworkConfig[];
  readonly journal?: Journal;
  readonly endpoints?: Deliveries['endpoints'];
  readonly follower?: Follower;
  readonly files?: Omit<Files, 'db'>;
}

async function compareWithChain(ledger: Ledger, config: NetworkConfig): Promise<Violation[]> {
  const chain = await openChain(config, silentLog);
  try {
    const sides = await readBothSides(ledger.db, chain, ledger.unbookable);
    const result = await violationsOf(INVARIANTS.contract, sides);
    return result.map((one) => ({ ...one, detail: `${config.network}: ${one.detail}` }));
  } finally {
    await chain.close();
  }
}

async function findViolations(sources: Sources, atRest: boolean): Promise<Violation[]> {
  const { db, chains = [], journal, endpoints, follower, files } = sources;
  const ledger = INVARIANTS.ledger.filter(({ always }) => atRest || always);
  const result = await violationsOf(ledger, sources);
  if (atRest) {
    for (const config of chains) result.push(...(await compareWithChain(sources, config)));
    if (journal) result.push(...(await violationsOf(INVARIANTS.responses, { db, journal })));
    if (endpoints) result.push(...(await violationsOf(INVARIANTS.deliveries, { db, endpoints })));
    if (follower) result.push(...(await violationsOf(INVARIANTS.follower, follower)));
    if (files) result.push(...(await violationsOf(INVARIANTS.files, { db, ...files })));
  }
  return result;
}

const sentenceOf = ({ promise, detail }: Violation) => `${promise}: ${detail}`;

/**
 * Checks all invariants of these sources, or only those that hold at any time.
 * @returns the violations as sentences; an empty list if there are none
 */
export async function checkInvariants(
  sources: Sources,
  { atRest }: { readonly atRest: boolean },
): Promise<string[]> {
  return (await findViolations(sources, atRest)).map(sentenceOf);
}

const POLL_MS = 500;
/**
 * On a busy machine, waiting may take up to this many times the limit. The limit counts checks
 * rather than time, because checks slow down together with the service.
 */
const MOST_RESTS = 4;

/**
 * Repeats a check until it finds nothing or the limit is reached.
 * @returns what the last check found
 */
async function untilNothing(
  check: () => Promise<readonly string[]>,
  limitMs: number,
): Promise<readonly string[]> {
  const started = performance.now();
  for (let checks = 1; ; checks++) {
    const broken = await check().catch((error) => [String(error)]);
    const ms = performance.now() - started;
    const isOver = checks * POLL_MS > limitMs || ms > limitMs * MOST_RESTS;
    if (broken.length === 0 || isOver) return broken;
    await sleep(POLL_MS);
  }
}

export interface Rest {
  /** Time limit for the ledger to settle, and then for the other sources to agree with it. */
  readonly limitMs: number;
  /** Called before each check of the ledger, to make work due that is scheduled for later. */
  readonly hurry?: () => Promise<void>;
  /** Returns violations that only this test can find. */
  readonly also?: () => Promise<readonly string[]>;
}

/**
 * Waits until a history is at rest. Checks the ledger alone first, because comparing it with a
 * chain takes longer, and then everything. If a rule that holds at any time is violated even once,
 * that counts.
 * @returns violations of such rules, and what was still wrong at the limit
 */
export async function comeToRest(sources: Sources, rest: Rest): Promise<readonly string[]> {
  const { limitMs, hurry = async () => {}, also = async () => [] } = rest;
  const passed = new Set<string>();
  const check = async (part: Sources) => {
    const result = await findViolations(part, true);
    for (const one of result) if (one.always) passed.add(sentenceOf(one));
    return [...result.filter(({ always }) => !always).map(sentenceOf), ...(await also())];
  };
  const { db, unbookable = new Set(), except } = sources;
  const ledger = { db, unbookable, ...(except === undefined ? {} : { except }) };
  const unsettled = await untilNothing(async () => {
    await hurry().catch(() => {});
    return check(ledger);
  }, limitMs);
  // If the ledger has not settled within the limit, checks everything only once.
  const broken =
    unsettled.length === 0
      ? await untilNothing(() => check(sources), limitMs)
      : [...unsettled, ...(await check(sources))];
  return [...new Set([...passed, ...broken])];
}
