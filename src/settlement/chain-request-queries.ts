import { columnsFrom, type Sent } from '#db/columns.ts';
import type { Sql, Tx } from '#db/database.ts';
import { checked } from '#db/plan-shapes.ts';
import { as, type Row, table } from '#db/table.ts';

/** Returns an SQL condition on the status of job `r`, which the statement looks up by its id. */
export function hasStatus(...statuses: readonly ('queued' | 'submitted' | 'succeeded')[]): string {
  return checked(`r.status in (${statuses.map((one) => `'${one}'`).join(', ')})`);
}

export const chainRequests = table(
  'chain_requests',
  {
    id: 'bigint',
    kind: 'text',
    livemode: 'boolean',
    subject_id: 'text',
    outcome: as<unknown>('jsonb?'),
  },
  { blocked_since: 'timestamptz?', blocked_by: 'text?' },
);

export type OutcomeRow = Row<typeof chainRequests>;

/** Only payments and withdrawals have a number, and only payments a time limit. */
type NewRequest = Omit<Sent<typeof NEW_REQUESTS>, 'subject_id' | 'number' | 'settle_within'> & {
  readonly subjectId: string;
  readonly number?: bigint | null;
  readonly settleWithinS?: number;
};

const NEW_REQUESTS = columnsFrom(2, {
  livemode: 'boolean',
  kind: 'text',
  subject_id: 'text',
  payload: 'jsonb',
  number: 'bigint?',
  settle_within: 'int?',
});

const INSERT_REQUESTS = `
  with input as (
    select * from ${NEW_REQUESTS.table('t')} order by kind, subject_id
  ), unnumbered as (
    select * from input where kind = 'payment' and number is null
  ), added as (
    insert into settlement_numbers (livemode, number, payment_intent_id)
    select livemode, 1, subject_id from unnumbered
    where not exists (select from settlement_numbers n where n.payment_intent_id = subject_id)
    returning payment_intent_id, number
  ), given as (
    select payment_intent_id, number from added
    union all
    select n.payment_intent_id, n.number from settlement_numbers n
    join unnumbered on n.payment_intent_id = subject_id
  )
  insert into chain_requests (livemode, kind, subject_id, number, payload, status, created,
    deadline, settle_within)
  select i.livemode, i.kind, i.subject_id,
    case i.kind
      when 'payment' then coalesce(
        i.number, (select number from given where payment_intent_id = i.subject_id))
      else i.number
    end,
    i.payload, 'queued', $1, now() + i.settle_within * interval '1 second', i.settle_within
  from input i`;

/**
 * Inserts the jobs as `queued`. All attempts of an intent have the intent's number, so the contract
 * settles it at most once, whatever happened to earlier attempts. Intents that an earlier release
 * created have no number: a trigger (0011_settlement.sql) draws one at their first attempt. Intents
 * live for minutes, so the release after the next can remove this part. Deadlines use the
 * database's time, which all processes share and no test clock changes.
 */
export async function insertRequests(
  tx: Tx,
  requests: readonly NewRequest[],
  now: Date,
): Promise<void> {
  const rows = requests.map((one) => ({
    livemode: one.livemode,
    kind: one.kind,
    subject_id: one.subjectId,
    payload: one.payload,
    number: one.number ?? null,
    settle_within: one.settleWithinS ?? null,
  }));
  await NEW_REQUESTS.run(tx, INSERT_REQUESTS, { before: [now], rows });
}

export async function selectOutcomes(tx: Tx, kind: string, limit: number): Promise<OutcomeRow[]> {
  // Booking a payment or refund gives it the next receipt number. Until a restored database has
  // been compared with its chain, a receipt issued before the loss may already have that number.
  const numbered = kind === 'payment' || kind === 'refund';
  const modes = [false, true].filter((livemode) => !numbered || tx.watch.serves(livemode));
  return chainRequests.list(
    tx,
    `where kind = $1 and status in ('succeeded', 'failed') and applied_at is null
       and livemode = any($3)
     order by id limit $2 for update skip locked`,
    [kind, limit, modes],
  );
}

/**
 * Ends payments that were not signed by their deadline. A signed payment has broadcasts or a
 * transaction, so only the chain can show whether it settles.
 */
export async function endOverdue(
  tx: Tx,
  outcome: { readonly succeeded: false },
  limit: number,
): Promise<OutcomeRow[]> {
  // Skips a mode whose database was replaced and not yet compared with its chain: a transaction
  // that was lost with the old database may have settled these payments.
  const modes = [false, true].filter((livemode) => tx.watch.serves(livemode));
  return tx.query(
    `update chain_requests r set status = 'failed', outcome = $1::text::jsonb
     from (
       select late.id from unnest($3::boolean[]) as mode (livemode) cross join lateral (
         select id from chain_requests q
         where q.livemode = mode.livemode and q.status = 'queued' and q.kind = 'payment'
           and q.tries = 0 and q.deadline <= now()
         order by q.livemode, q.id limit $2 for update skip locked
       ) late
     ) late
     where r.id = late.id
     returning ${chainRequests.of('r')}`,
    [JSON.stringify(outcome), limit, modes],
  );
}

/**
 * Ends payments that were requested before `before`, when data was lost, and are not known to have
 * been signed: they may have been declined in the lost period. The chain decides about signed ones,
 * which are not signed again.
 * @returns the intents of the ended payments.
 */
export async function endUnsigned(
  tx: Tx,
  outcome: { readonly succeeded: false },
  which: { readonly livemode: boolean; readonly before: Date; readonly limit: number },
): Promise<string[]> {
  const rows = await tx.query<{ subject_id: string }>(
    `with waiting as (
       -- Applied: the ledger counts it as paid, and a reorganization has undone it. It is owed.
       select id, status = 'queued' and tries = 0 as unsigned from chain_requests r
       where livemode = $1 and kind = 'payment' and status in ('queued', 'submitted')
         and applied_at is null
         and coalesce(deadline - settle_within * interval '1 second', created) < $2
         -- The relayer finds out what the chain has settled under its number.
         and not exists (
           select from chain_payments c where c.livemode = $1 and c.number = r.number)
     ), signed as (
       update chain_requests set deadline = now()
       where id in (select id from waiting where not unsigned) and deadline > now()
     )
     update chain_requests set status = 'failed', outcome = $3::text::jsonb, applied_at = now()
     where id in (select id from waiting where unsigned order by id limit $4)
     returning subject_id`,
    [which.livemode, which.before, JSON.stringify(outcome), which.limit],
  );
  return rows.map(({ subject_id: intent }) => intent);
}

/**
 * Calls that were counted before they were requested (gas-budget.ts) then count the gas that they
 * have used. A settled payment counts no more, and neither does a deployment that its fees cover.
 */
export async function markOutcomesApplied(
  tx: Tx,
  ids: readonly bigint[],
  now: Date,
): Promise<void> {
  await tx.query(
    `with done as (
       update chain_requests set applied_at = $2 where id = any($1)
       returning kind, subject_id, status = 'failed' as failed
     ), ended as (
       select g.id, d.failed, g.used = 0 or (d.kind = 'payment' and not d.failed) as free
       from done d join gas_spending g on g.kind = d.kind and g.subject_id = d.subject_id
       where g.failed is null
       union all
       select g.id, false, true from done d join gas_spending g on g.covered_by = d.subject_id
       where d.kind = 'payment' and not d.failed
     ), freed as (
       delete from gas_spending where id in (select id from ended where free)
     )
     update gas_spending g set failed = e.failed, gas = g.used
     from ended e where g.id = e.id and not e.free`,
    [ids, now],
  );
}

export type WaitsFor = 'time' | 'safe' | 'finalized';

/** Returns the confirmations that a mined payment still needs; `null` if none, or if not mined. */
export async function selectWaitsFor(sql: Sql, intentId: string): Promise<WaitsFor | null> {
  const rows = await sql.query<{ waits_for: WaitsFor | null }>(
    `select t.waits_for from chain_requests r join chain_transactions t on t.id = r.transaction_id
     where r.kind = 'payment' and r.subject_id = $1
       and r.status in ('queued', 'submitted', 'succeeded') and r.status = 'submitted'`,
    [intentId],
  );
  return rows[0]?.waits_for ?? null;
}
