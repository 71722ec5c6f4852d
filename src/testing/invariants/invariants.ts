import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '#core/log.ts';
import { openChain } from '#settlement/chain/open-chain.ts';
import type { NetworkConfig } from '#settlement/networks.ts';
import type { Journal } from '#testing/chaos/chaos-journal.ts';
import {
  CHARGE_INVARIANTS,
  CONTRACT_INVARIANTS,
  readBothSides,
} from '#testing/invariants/contract-invariants.ts';
import { FILE_INVARIANTS, type Files } from '#testing/invariants/file-invariants.ts';
import { type Violation, violationsOf } from '#testing/invariants/invariant.ts';
import { LEDGER_INVARIANTS, type Ledger } from '#testing/invariants/ledger-invariants.ts';
import {
  DELIVERY_INVARIANTS,
  type Deliveries,
  FOLLOWER_INVARIANTS,
  type Follower,
} from '#testing/invariants/receiver-invariants.ts';
import { RESPONSE_INVARIANTS } from '#testing/invariants/response-invariants.ts';

/**
 * Everything that every history must keep, grouped by data source. Chaos, model, ways and fuzz
 * share it (`history.ts`), each with the sources that it has.
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
  /** Chains to compare the ledger with. */
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
    const found = await violationsOf(INVARIANTS.contract, sides);
    return found.map((one) => ({ ...one, detail: `${config.network}: ${one.detail}` }));
  } finally {
    await chain.close();
  }
}

async function findViolations(sources: Sources, atRest: boolean): Promise<Violation[]> {
  const { db, chains = [], journal, endpoints, follower, files } = sources;
  const ledger = INVARIANTS.ledger.filter(({ always }) => atRest || always);
  const found = await violationsOf(ledger, sources);
  if (atRest) {
    for (const config of chains) found.push(...(await compareWithChain(sources, config)));
    if (journal) found.push(...(await violationsOf(INVARIANTS.responses, { db, journal })));
    if (endpoints) found.push(...(await violationsOf(INVARIANTS.deliveries, { db, endpoints })));
    if (follower) found.push(...(await violationsOf(INVARIANTS.follower, follower)));
    if (files) found.push(...(await violationsOf(INVARIANTS.files, { db, ...files })));
  }
  return found;
}

const sentenceOf = ({ promise, detail }: Violation) => `${promise}: ${detail}`;

/**
 * Checks all invariants of these sources, or only those that hold at every moment.
 * @returns violations, as sentences; empty if there are none.
 */
export async function checkInvariants(
  sources: Sources,
  { atRest }: { readonly atRest: boolean },
): Promise<string[]> {
  return (await findViolations(sources, atRest)).map(sentenceOf);
}

const POLL_MS = 500;
/**
 * On a busy machine, the limit may grow to this many times its length. Up to that, the number of
 * checks decides, because a check and the service slow down alike.
 */
const MOST_RESTS = 4;

/** Repeats a check until it finds nothing. @returns what the last check found, at the limit. */
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
  /** Time limit for the ledger to come to rest, and again for the others to agree with it. */
  readonly limitMs: number;
  /** Called before each check of the ledger. Makes later work due now. */
  readonly hurry?: () => Promise<void>;
  /** Returns further violations, from facts that only this test knows. */
  readonly also?: () => Promise<readonly string[]>;
}

/**
 * Waits until a history has come to rest: first the ledger alone, because comparing it with a chain
 * takes longer, then everything. A rule that holds at every moment gets no second try.
 * @returns what was broken at any moment, or is still broken at the limit; empty if nothing was.
 */
export async function comeToRest(sources: Sources, rest: Rest): Promise<readonly string[]> {
  const { limitMs, hurry = async () => {}, also = async () => [] } = rest;
  const passed = new Set<string>();
  const check = async (part: Sources) => {
    const found = await findViolations(part, true);
    for (const one of found) if (one.always) passed.add(sentenceOf(one));
    return [...found.filter(({ always }) => !always).map(sentenceOf), ...(await also())];
  };
  const { db, unbookable = new Set(), except } = sources;
  const ledger = { db, unbookable, ...(except === undefined ? {} : { except }) };
  const unsettled = await untilNothing(async () => {
    await hurry().catch(() => {});
    return check(ledger);
  }, limitMs);
  // After a missed limit, checks everything once, even if the ledger is at rest by now.
  const broken =
    unsettled.length === 0
      ? await untilNothing(() => check(sources), limitMs)
      : [...unsettled, ...(await check(sources))];
  return [...new Set([...passed, ...broken])];
}
