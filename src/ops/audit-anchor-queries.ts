import { CHAINS } from '#audit/audit-queries.ts';
import type { Anchor } from '#audit/verify-audit-log.ts';
import type { Sql, Tx } from '#db/database.ts';

/** Claims the day, unless it is already anchored or another process holds the claim. */
export async function claimAnchorDay(
  sql: Sql,
  input: { readonly day: string; readonly now: Date; readonly until: Date },
): Promise<boolean> {
  const rows = await sql.query(
    `update audit_anchor_state set claimed_until = $3
     where anchored_day < $1::date and claimed_until <= $2 returning one`,
    [input.day, input.now, input.until],
  );
  return rows.length === 1;
}

/** @returns false if the claim has expired and another process has claimed the day. */
export async function finishAnchorDay(
  tx: Tx,
  finished: { readonly day: string; readonly until: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `update audit_anchor_state set anchored_day = $1::date
     where anchored_day < $1::date and claimed_until = $2 returning one`,
    [finished.day, finished.until],
  );
  return rows.length === 1;
}

/** Returns the heads of all audit logs that have changed since their last anchor. */
export async function selectMovedHeads(sql: Sql): Promise<Anchor[]> {
  return sql.query(
    `${CHAINS}
     select c.chain, head.sequence, encode(head.hash, 'hex') as hash
     from chains c
     cross join lateral (
       select a.sequence, a.hash from audit_log a
       where a.chain = c.chain order by a.sequence desc limit 1) head
     left join audit_anchors last on last.chain = c.chain
     where last.sequence is distinct from head.sequence or last.hash is distinct from head.hash
     order by c.chain`,
  );
}

export async function upsertAnchors(tx: Tx, heads: readonly Anchor[], now: Date): Promise<void> {
  await tx.query(
    `insert into audit_anchors (chain, sequence, hash, anchored_at)
     select chain, sequence, decode(hash, 'hex'), $4
     from unnest($1::text[], $2::bigint[], $3::text[]) as head (chain, sequence, hash)
     on conflict (chain) do update set
       sequence = excluded.sequence, hash = excluded.hash, anchored_at = excluded.anchored_at`,
    [
      heads.map((head) => head.chain),
      heads.map((head) => head.sequence.toString()),
      heads.map((head) => head.hash),
      now,
    ],
  );
}

export async function selectOperatorMailboxes(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ email: string }>(
    `select email from users
     where realm = 'operator' and status = 'active' and erased_at is null order by email`,
  );
  return rows.map((row) => row.email);
}
