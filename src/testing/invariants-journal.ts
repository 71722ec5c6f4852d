import type { Sql } from '#db/database.ts';
import type { Journal } from '#testing/chaos-journal.ts';

interface IntentRow {
  id: string;
  status: string;
  amount: bigint;
  payment_id: string | null;
}

interface RefundRow {
  id: string;
  status: string;
  amount: bigint;
  payment_id: string;
}

/** What a client was told once, the database still says at the end. */
export async function checkPromises(db: Sql, journal: Journal): Promise<string[]> {
  const broken = [...journal.complaints];
  const intents = await db.query<IntentRow>(
    'select id, status, amount, payment_id from payment_intents where id = any($1)',
    [[...journal.intents.keys()]],
  );
  const refunds = await db.query<RefundRow>(
    'select id, status, amount, payment_id from refunds where id = any($1)',
    [[...journal.refunds.keys()]],
  );
  const intentRows = new Map(intents.map((row) => [row.id, row]));
  const refundRows = new Map(refunds.map((row) => [row.id, row]));
  for (const told of journal.intents.values()) {
    const row = intentRows.get(told.id);
    const ended = told.status === 'succeeded' || told.status === 'canceled';
    if (row === undefined) broken.push(`${told.id} was answered and is lost`);
    else if (Number(row.amount) !== told.amount) broken.push(`${told.id} has another amount`);
    else if (ended && row.status !== told.status)
      broken.push(`${told.id} was told ${told.status} and is ${row.status}`);
    else if (told.payment !== null && row.payment_id !== told.payment)
      broken.push(`${told.id} was told payment ${told.payment} and has ${row.payment_id}`);
  }
  for (const told of journal.refunds.values()) {
    const row = refundRows.get(told.id);
    if (row === undefined) broken.push(`${told.id} was answered and is lost`);
    else if (Number(row.amount) !== told.amount) broken.push(`${told.id} has another amount`);
    else if (row.payment_id !== told.payment) broken.push(`${told.id} has another payment`);
    else if (told.status !== 'pending' && row.status !== told.status)
      broken.push(`${told.id} was told ${told.status} and is ${row.status}`);
  }
  return broken;
}
