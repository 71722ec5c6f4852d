import type { Sql } from '#db/database.ts';
import type {
  Journal,
  SeenIntent,
  SeenRefund,
  SeenWithdrawal,
} from '#testing/chaos/chaos-journal.ts';

interface IntentRow {
  id: string;
  status: string;
  amount: bigint;
  payment_id: string | null;
}

interface TransferRow {
  id: string;
  status: string;
  amount: bigint;
  /** The payment of a refund, or the wallet of a withdrawal. */
  place: string;
}

/** A transfer as reported, or as in its row. */
interface ToldTransfer {
  readonly told: SeenRefund | SeenWithdrawal;
  readonly place: string;
  /** Names the meaning of `place`. */
  readonly placeIs: 'payment' | 'wallet';
}

/**
 * Selects ids with an alarm: a difference is only allowed if one reports that the chain has settled
 * it after all.
 */
async function selectAlarmed(db: Sql, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ subject: string }>(
    `select subject from chain_alarms
     where kind = 'settled_after_decline' and subject = any($1)`,
    [ids],
  );
  return new Set(rows.map(({ subject }) => subject));
}

function isAmountOf({ amount, tip, mayBeRebuilt }: SeenIntent, now: number): boolean {
  return now === amount || (mayBeRebuilt === true && now === amount + tip);
}

async function checkIntents(db: Sql, journal: Journal, alarmed: Set<string>): Promise<string[]> {
  const rows = await db.query<IntentRow>(
    'select id, status, amount, payment_id from payment_intents where id = any($1)',
    [[...journal.intents.keys()]],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const broken: string[] = [];
  for (const told of journal.intents.values()) {
    const row = byId.get(told.id);
    const ended = told.status === 'succeeded' || told.status === 'canceled';
    const late = row?.status === 'succeeded' && alarmed.has(told.id);
    if (row === undefined) broken.push(`${told.id} was answered and is lost`);
    else if (!isAmountOf(told, Number(row.amount))) broken.push(`${told.id} has another amount`);
    else if (ended && row.status !== told.status && !late)
      broken.push(`${told.id} was told ${told.status} and is ${row.status}`);
    else if (told.payment !== null && row.payment_id !== told.payment)
      broken.push(`${told.id} was told payment ${told.payment} and has ${row.payment_id}`);
  }
  for (const { id, before, after } of journal.turns) {
    if (after === 'succeeded' && alarmed.has(id)) continue;
    broken.push(`${id} was ${before} and became ${after}`);
  }
  return broken;
}

interface AttemptRow {
  object_id: string;
  type: string;
  position: bigint;
  /** The time of a decline: `last_payment_error.created`. */
  declined: string | null;
}

/**
 * Checks that a payer who was told "declined" was not charged by that attempt: another one has
 * begun after it, or the intent is not paid. The order is that of the events, because no clock
 * determines it.
 */
async function checkDeclines(db: Sql, journal: Journal, alarmed: Set<string>): Promise<string[]> {
  const rows = await db.query<AttemptRow>(
    `select v.object_id, v.type, v.position,
       v.body::jsonb #>> '{data,object,last_payment_error,created}' as declined
     from events v join payment_intents i on i.id = v.object_id
     where i.id = any($1) and i.status = 'succeeded' and not i.recovered
       and v.type in ('payment_intent.payment_failed', 'payment_intent.processing')`,
    [[...journal.declines.keys()]],
  );
  const broken: string[] = [];
  for (const [id, events] of Map.groupBy(rows, (row) => row.object_id)) {
    if (alarmed.has(id)) continue;
    for (const at of journal.declines.get(id) ?? []) {
      const failed = events.find((event) => event.declined === at && event.type.endsWith('failed'));
      const begunAfter = events.some(
        (event) => event.type.endsWith('processing') && event.position > (failed?.position ?? 0n),
      );
      if (failed === undefined) broken.push(`${id} was told declined at ${at}, without an event`);
      else if (!begunAfter) broken.push(`${id} was told declined at ${at}, and was charged`);
    }
  }
  return broken;
}

async function checkTransfers(
  db: Sql,
  asked: { readonly sql: string; readonly all: readonly ToldTransfer[] },
): Promise<string[]> {
  const rows = await db.query<TransferRow>(asked.sql, [asked.all.map(({ told }) => told.id)]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return asked.all.flatMap(({ told, place, placeIs }) => {
    const row = byId.get(told.id);
    if (row === undefined) return [`${told.id} was answered and is lost`];
    if (Number(row.amount) !== told.amount) return [`${told.id} has another amount`];
    if (row.place !== place) return [`${told.id} has another ${placeIs}`];
    if (told.status === 'pending' || row.status === told.status) return [];
    return [`${told.id} was told ${told.status} and is ${row.status}`];
  });
}

/** Checks that everything a client was told once still holds in the database at the end. */
export async function checkPromises(db: Sql, journal: Journal): Promise<string[]> {
  const { turns, intents, declines, refunds, withdrawals } = journal;
  const alarmed = await selectAlarmed(db, [
    ...intents.keys(),
    ...declines.keys(),
    ...turns.map(({ id }) => id),
  ]);
  const toldRefunds = [...refunds.values()].map((told) => {
    return { told, place: told.payment, placeIs: 'payment' as const };
  });
  const toldWithdrawals = [...withdrawals.values()].map((told) => {
    return { told, place: told.wallet, placeIs: 'wallet' as const };
  });
  return [
    ...journal.complaints,
    ...(await checkIntents(db, journal, alarmed)),
    ...(await checkDeclines(db, journal, alarmed)),
    ...(await checkTransfers(db, {
      sql: 'select id, status, amount, payment_id as place from refunds where id = any($1)',
      all: toldRefunds,
    })),
    ...(await checkTransfers(db, {
      sql: 'select id, status, amount, wallet as place from withdrawals where id = any($1)',
      all: toldWithdrawals,
    })),
  ];
}
