import { present } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Take } from '#db/batching.ts';
import { lockOrders, tenantKey } from '#db/commit-order.ts';
import { codeOf, type Database, DatabaseUnavailable, type Tx } from '#db/database.ts';
import type { AccountClocks } from '#payments/account-clocks.ts';
import {
  type Candidate,
  type CreatedAtOnce,
  candidates,
  NOTHING,
  type Numbered,
  nothingIfMet,
  runCreate,
  settle,
  toRows,
  untouched,
  type Written,
} from '#payments/create-at-once.ts';
import type { CreateRequest, IntentIds } from '#payments/create-request.ts';
import type { DrawnNumber } from '#settlement/numbers.ts';

/** So many creates share a transaction that waits for the locks of their accounts' orders. */
export const MAX_UNDER_LOCK = 64;

interface UnderLockDeps extends IntentIds {
  readonly db: Database;
  readonly clocks: AccountClocks;
}

/** Creates that wait for the locks of their accounts' orders. */
export interface WaitingCreates {
  /** What has arrived meanwhile is added to it. The outcomes are in its order. */
  readonly batch: CreateRequest[];
  readonly take: Take<CreateRequest>;
}

function tenantsOf(tried: readonly Candidate[]): Tenant[] {
  const tenants = tried.map(({ request: { standing } }) => standing.tenant);
  return [...new Map(tenants.map((tenant) => [tenantKey(tenant), tenant])).values()];
}

/** Gives each a number of its mode; there are enough. */
function numberAll(tried: readonly Candidate[], drawn: readonly DrawnNumber[]): Numbered[] {
  const left = [...drawn];
  return tried.map((one) => {
    const { livemode } = one.request.standing.tenant;
    const at = left.findIndex((number) => number.livemode === livemode);
    const number = present(left[at], 'drawn number');
    left.splice(at, 1);
    return { ...one, drawn: number };
  });
}

/**
 * Whose turn it is to create under locks: one transaction of the whole network at a time. Without
 * turns, batches of several accounts held some locks while they waited for others, and each waited
 * for the one before it. Nothing depends on the turn: what must not happen twice, the locks of the
 * rows prevent.
 */
export const TURN_LOCK = 7_218_344_193;
const TURN = `select pg_advisory_xact_lock(${TURN_LOCK})`;
/** A process that stands still holds up the others no longer. */
const TURN_LIMIT = "set local lock_timeout = '250ms'";
const NO_LIMIT = 'set local lock_timeout to default';
const LOCK_NOT_AVAILABLE = '55P03';

async function waitForTurn(tx: Tx): Promise<void> {
  // Sent together; the last is for the locks that come after.
  await Promise.all([TURN_LIMIT, TURN, NO_LIMIT].map((text) => tx.query(text)));
}

function isTurnTaken(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && codeOf(error.cause) === LOCK_NOT_AVAILABLE;
}

/**
 * The same statement, run under the locks of the accounts' orders, for accounts for which other
 * processes write at the same time: it waits once, and then nothing is in its way. What has arrived
 * while it waited goes with it. The numbers are drawn before, as many as the batch can need, so
 * that nothing waits for one under the locks.
 */
export async function createUnderLock(
  deps: UnderLockDeps,
  { batch, take }: WaitingCreates,
  takesTurn = true,
): Promise<CreatedAtOnce> {
  const { db, clocks, idKey, numbers } = deps;
  if (candidates(idKey, batch, db.watch).length === 0) return untouched(batch);
  const modes = new Set(batch.map(({ standing }) => standing.tenant.livemode));
  const drawn = await numbers.take(
    [...modes].flatMap((mode) => Array<boolean>(MAX_UNDER_LOCK).fill(mode)),
  );
  let isComplete = false;
  const create = async (tx: Tx): Promise<Written> => {
    if (takesTurn) await waitForTurn(tx);
    // Once, also when the transaction runs again.
    if (!isComplete) batch.push(...take(({ standing }) => modes.has(standing.tenant.livemode)));
    isComplete = true;
    const tried = candidates(idKey, batch, db.watch);
    if (tried.length === 0) return NOTHING;
    const times = await lockOrders(tx, tenantsOf(tried));
    for (const [tenant, time] of times) clocks.learn(tenant, time);
    const { rows, input } = toRows(idKey, numberAll(tried, drawn), clocks);
    return { rows, found: await runCreate((text, values) => tx.query(text, values), input) };
  };
  try {
    const written = await db.transaction(create).catch(nothingIfMet);
    return settle(deps, batch, { drawn, written });
  } catch (error) {
    if (!(takesTurn && isTurnTaken(error))) throw error;
    // Drawn anew: the next connection may lead to another database.
    numbers.putBack(drawn);
    return createUnderLock(deps, { batch, take }, false);
  }
}
