import { readShopRates } from '#accounts/shop-rates.ts';
import { bookMovements } from '#books/book-movements.ts';
import { only } from '#core/assert.ts';
import { stampOrders } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { appendEvents } from '#events/append-events.ts';
import { withdrawalObject } from '#payouts/render.ts';
import {
  lockWithdrawals,
  updateWithdrawalEnded,
  type WithdrawalRow,
} from '#payouts/withdrawal-queries.ts';
import { alarmUnfit } from '#settlement/alarms.ts';
import { applied, type Outcome, takeOutcomes } from '#settlement/chain-requests.ts';

/** Results per transaction. Withdrawals are rare; this many take a few milliseconds. */
const BATCH = 20;

function tenantOf(row: WithdrawalRow) {
  return { accountId: row.account_id, livemode: row.livemode };
}

async function writeEnd(
  tx: Tx,
  outcome: Outcome<'withdrawal'>,
  { now, shopRate }: { readonly now: Date; readonly shopRate: string | null },
): Promise<WithdrawalRow> {
  const { result } = outcome;
  const rows = await updateWithdrawalEnded(tx, {
    id: outcome.subjectId,
    status: result.succeeded ? 'succeeded' : 'failed',
    failure_code: result.succeeded ? null : result.reason,
    tx_hash: result.succeeded ? result.facts.txHash : result.txHash,
    updated: now,
    shop_rate: result.succeeded ? shopRate : null,
  });
  return only(rows, 'pending withdrawal');
}

/** Positions in the account's order: one for a payout's event and one for the books' entry. */
const PLACES_PER_PAYOUT = 2;

async function bookPaid(tx: Tx, paid: readonly WithdrawalRow[], now: Date): Promise<number> {
  if (paid.length === 0) return 0;
  const counts = paid.map((row) => ({ tenant: tenantOf(row), count: PLACES_PER_PAYOUT }));
  const stampOf = await stampOrders(tx, counts, now);
  await bookMovements(
    tx,
    paid.map((row) => ({
      ...{ tenant: tenantOf(row), type: 'payout', objectId: row.id, amount: -row.amount },
      ...{ happened: null, stamp: stampOf(tenantOf(row)) },
    })),
  );
  return appendEvents(
    tx,
    paid.map((row) => ({
      tenant: tenantOf(row),
      type: 'balance.withdrawal_paid',
      objectId: row.id,
      object: withdrawalObject(row),
      stamp: stampOf(tenantOf(row)),
    })),
  );
}

async function applyBatch(tx: Tx, deps: ProcessContext) {
  const now = deps.clock.now();
  const outcomes = await takeOutcomes(tx, 'withdrawal', BATCH);
  if (outcomes.length === 0) return { taken: 0, deliveries: 0 };
  const ids = outcomes.map((outcome) => outcome.subjectId);
  const locked = await lockWithdrawals(tx, ids);
  const rows = new Map(locked.map((row) => [row.id, row]));
  const places = locked.map(({ account_id }) => ({ account_id, location_id: null }));
  const shopRateAt = await readShopRates(tx, places);
  const ended: WithdrawalRow[] = [];
  for (const outcome of outcomes) {
    const row = rows.get(outcome.subjectId);
    if (row?.status === 'pending') {
      const shopRate = shopRateAt({ account_id: row.account_id, location_id: null });
      ended.push(await writeEnd(tx, outcome, { now, shopRate }));
    } else {
      await alarmUnfit(tx, outcome, { status: row?.status ?? null, now, log: deps.log });
    }
  }
  const paid = ended.filter((row) => row.status === 'succeeded');
  const deliveries = await bookPaid(tx, paid, now);
  await applied(
    tx,
    outcomes.map((outcome) => outcome.requestId),
    now,
  );
  return { taken: outcomes.length, deliveries };
}

/** Applies the chain's results of withdrawals. @returns true if there may be more. */
export async function applyWithdrawalOutcomes(deps: ProcessContext): Promise<boolean> {
  const done = await deps.db.transaction((tx) => applyBatch(tx, deps));
  if (done.deliveries > 0) deps.wakeups.send('deliveries');
  return done.taken === BATCH;
}
