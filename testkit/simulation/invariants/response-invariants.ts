import type { Sql } from '#db/database.ts';
import type { Journal, SeenIntent, SeenTransfer } from '#testkit/simulation/chaos/chaos-journal.ts';
import type { Invariant } from '#testkit/simulation/invariants/invariant.ts';

/** The responses that clients received, and the database, which must agree with them. */
export interface Responses {
  readonly db: Sql;
  readonly journal: Journal;
}

interface IntentRow {
  id: string;
  status: string;
  amount: bigint;
  payment_id: string | null;
}

/**
 * Selects the ids for which there is an alarm. The database may contradict a response only if an
 * alarm reports that the chain settled the object later.
 */
async function selectAlarmed({ db, journal }: Responses): Promise<Set<string>> {
  const { turns } = journal;
  const { intents, declines } = journal.shown;
  const ids = [...intents.keys(), ...declines.keys(), ...turns.map(({ id }) => id)];
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

async function checkIntents({ db, journal }: Responses): Promise<string[]> {
  const alarmed = await selectAlarmed({ db, journal });
  const rows = await db.query<IntentRow>(
    'select id, status, amount, payment_id from payment_intents where id = any($1)',
    [[...journal.shown.intents.keys()]],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const broken: string[] = [];
  for (const shown of journal.shown.intents.values()) {
    const row = byId.get(shown.id);
    const ended = shown.status === 'succeeded' || shown.status === 'canceled';
    const late = row?.status === 'succeeded' && alarmed.has(shown.id);
    if (row === undefined) broken.push(`${shown.id} was in a response and is missing`);
    else if (!isAmountOf(shown, Number(row.amount))) broken.push(`${shown.id} has another amount`);
    else if (ended && row.status !== shown.status && !late)
      broken.push(`${shown.id} was reported ${shown.status} and is ${row.status}`);
    else if (shown.payment !== null && row.payment_id !== shown.payment)
      broken.push(`${shown.id} was reported payment ${shown.payment} and has ${row.payment_id}`);
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
  /** The time of the decline (`last_payment_error.created`). */
  declined: string | null;
}

/**
 * Checks that an attempt that was reported as declined did not charge the payer: either the payer
 * tried again later, or the intent is unpaid. Compares the order of events, because clocks differ.
 */
async function checkDeclines({ db, journal }: Responses): Promise<string[]> {
  const alarmed = await selectAlarmed({ db, journal });
  const rows = await db.query<AttemptRow>(
    `select v.object_id, v.type, v.position,
       v.body::jsonb #>> '{data,object,last_payment_error,created}' as declined
     from events v join payment_intents i on i.id = v.object_id
     where i.id = any($1) and i.status = 'succeeded' and not i.recovered
       and v.type in ('payment_intent.payment_failed', 'payment_intent.processing')`,
    [[...journal.shown.declines.keys()]],
  );
  const broken: string[] = [];
  for (const [id, events] of Map.groupBy(rows, (row) => row.object_id)) {
    if (alarmed.has(id)) continue;
    for (const at of journal.shown.declines.get(id) ?? []) {
      const failed = events.find((event) => event.declined === at && event.type.endsWith('failed'));
      const begunAfter = events.some(
        (event) => event.type.endsWith('processing') && event.position > (failed?.position ?? 0n),
      );
      if (failed === undefined)
        broken.push(`${id} was reported declined at ${at}, without an event`);
      else if (!begunAfter) broken.push(`${id} was reported declined at ${at}, and was charged`);
    }
  }
  return broken;
}

type Of = 'payment' | 'wallet';

/** Checks refunds or withdrawals. `of` names the payment or the wallet to which each belongs. */
async function checkTransfers(
  db: Sql,
  sql: string,
  { seen, of }: { readonly seen: ReadonlyMap<string, SeenTransfer>; readonly of: Of },
): Promise<string[]> {
  const rows = await db.query<Omit<SeenTransfer, 'amount'> & { readonly amount: bigint }>(sql, [
    [...seen.keys()],
  ]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return [...seen].flatMap(([id, shown]) => {
    const row = byId.get(id);
    if (row === undefined) return [`${id} was in a response and is missing`];
    if (Number(row.amount) !== shown.amount) return [`${id} has another amount`];
    if (row[of] !== shown[of]) return [`${id} has another ${of}`];
    if (shown.status === 'pending' || row.status === shown.status) return [];
    return [`${id} was reported ${shown.status} and is ${row.status}`];
  });
}

const REFUNDS = 'select id, status, amount, payment_id as payment from refunds where id = any($1)';
const WITHDRAWALS = 'select id, status, amount, wallet from withdrawals where id = any($1)';

export const RESPONSE_INVARIANTS: readonly Invariant<Responses>[] = [
  { promise: 'no response contradicts another', check: ({ journal }) => journal.complaints },
  { promise: 'an intent matches the responses about it', check: checkIntents },
  { promise: 'a payment that was reported as declined is not charged', check: checkDeclines },
  {
    promise: 'a refund matches the responses about it',
    check: ({ db, journal: { shown } }) =>
      checkTransfers(db, REFUNDS, { seen: shown.refunds, of: 'payment' }),
  },
  {
    promise: 'a withdrawal matches the responses about it',
    check: ({ db, journal: { shown } }) =>
      checkTransfers(db, WITHDRAWALS, { seen: shown.withdrawals, of: 'wallet' }),
  },
];
