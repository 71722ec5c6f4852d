import type { Sql } from '#db/database.ts';

/** Finds the intent of an event: the event's object, or the intent to which that object belongs. */
const INTENT = /"(?:id|payment_intent)":"(pi_[0-9A-Za-z]+)"/;

/**
 * Returns the trace context of a sale's payment, or else of the request that created the intent.
 */
async function selectTraceparent(sql: Sql, intentId: string): Promise<string | null> {
  const rows = await sql.query<{ traceparent: string | null }>(
    `select coalesce(attempt->>'traceparent', traceparent) as traceparent
     from payment_intents where id = $1`,
    [intentId],
  );
  return rows[0]?.traceparent ?? null;
}

/** Returns the trace context for delivering this event. Used only while tracing is on. */
export async function traceOfEvent(sql: Sql, body: string): Promise<string | null> {
  const [, intentId] = INTENT.exec(body) ?? [];
  return intentId === undefined ? null : selectTraceparent(sql, intentId);
}
