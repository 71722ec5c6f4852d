import { only } from '#core/assert.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import { type OwnPage, selectActiveFirst } from '#payers/list-active-first.ts';

export const payers = table('payers', {
  id: 'text',
  livemode: 'boolean',
  address: as<`0x${string}`>('text'),
  created: 'timestamptz',
  blocked_at: 'timestamptz?',
  limit_per_payment: 'bigint?',
  limit_per_day: 'bigint?',
  confirm_first_payment: 'boolean',
});

export type PayerRow = Row<typeof payers>;

export type PayerLimits = Pick<
  PayerRow,
  'limit_per_payment' | 'limit_per_day' | 'confirm_first_payment'
>;

export async function selectPayer(sql: Sql, id: string): Promise<PayerRow | undefined> {
  return payers.find(sql, 'where id = $1', [id]);
}

export async function selectPayerByAddress(
  sql: Sql,
  filter: { readonly livemode: boolean; readonly address: string },
): Promise<PayerRow | undefined> {
  return payers.find(sql, 'where livemode = $1 and address = $2', [
    filter.livemode,
    filter.address,
  ]);
}

/** Returns whether a payer has paid before, on this network and at this merchant. */
export async function selectHasPaid(
  sql: Sql,
  payer: { readonly payerId: string; readonly accountId?: string },
): Promise<{ readonly hasPaid: boolean; readonly hasPaidHere: boolean }> {
  const rows = await sql.query<{ paid: boolean; here: boolean }>(
    `select (select true from payments where payer_id = $1 limit 1) is not null as paid,
       (select true from payments where payer_id || account_id = $1 || $2 limit 1) is not null
         as here`,
    [payer.payerId, payer.accountId ?? ''],
  );
  const { paid: hasPaid, here: hasPaidHere } = only(rows, 'payments of a payer');
  return { hasPaid, hasPaidHere };
}

/** Locks a payer, so that concurrent payments together cannot exceed the payer's limits. */
export async function lockPayer(tx: Tx, id: string): Promise<PayerRow | undefined> {
  return payers.find(tx, 'where id = $1 for update', [id]);
}

/** Locks several payers in ID order, so that no two transactions deadlock. */
export async function lockPayers(tx: Tx, ids: readonly string[]): Promise<PayerRow[]> {
  return payers.list(tx, 'where id = any($1) order by id for update', [ids]);
}

/** Returns the payers of these passes and agent tokens, by the credential's hash in hex. */
export async function selectPayersByCredential(
  sql: Sql,
  hashes: readonly Buffer[],
): Promise<(PayerRow & { credential: string })[]> {
  return sql.query(
    `select encode(c.hash, 'hex') as credential, ${payers.of('y')}
     from (
       select hash, payer_id from passes where hash = any($1)
       union all
       select hash, payer_id from agent_tokens where hash = any($1)
     ) c
     join payers y on y.id = c.payer_id`,
    [hashes],
  );
}

/** Inserts the payer, or returns the existing payer of this wallet. */
export async function insertPayer(
  tx: Tx,
  payer: Pick<PayerRow, 'id' | 'livemode' | 'address' | 'created'>,
): Promise<PayerRow | undefined> {
  const { id, livemode, address, created } = payer;
  const row = { id, livemode, address, created };
  const made = await payers.upsert(tx, row, 'on conflict (livemode, address) do nothing');
  return made ?? selectPayerByAddress(tx, payer);
}

export async function updatePayerLimits(
  tx: Tx,
  { id, limit_per_payment, limit_per_day, confirm_first_payment }: PayerLimits & { id: string },
): Promise<PayerRow | undefined> {
  const limits = { limit_per_payment, limit_per_day, confirm_first_payment };
  return (await payers.update(tx, limits, { where: 'id = $1', values: [id] }))[0];
}

/** A blocked payer keeps its earlier time. */
export async function updatePayerBlocked(tx: Tx, id: string, at: Date | null): Promise<boolean> {
  const rows = await tx.query(
    `update payers
     set blocked_at = case when $2::timestamptz is null then null
       else coalesce(blocked_at, $2) end
     where id = $1 returning id`,
    [id, at],
  );
  return rows.length === 1;
}

export const passes = table(
  'passes',
  {
    id: 'text',
    payer_id: 'text',
    label: 'text',
    created: 'timestamptz',
    revoked_at: 'timestamptz?',
    /** Time of the newest declined tap of the pass's static code; `decline_code` is its reason. */
    declined_at: 'timestamptz?',
    decline_code: 'text?',
  },
  { hash: 'bytea' },
);

export type PassRow = Row<typeof passes>;
export type TappedPass = Pick<PassRow, 'id' | 'payer_id' | 'revoked_at'>;

export async function selectPassesByHash(
  sql: Sql,
  hashes: readonly Buffer[],
): Promise<(PassRow & { hash: Buffer })[]> {
  return sql.query(`select ${passes.columns}, hash from passes where hash = any($1)`, [hashes]);
}

export async function selectPassByHash(sql: Sql, hash: Buffer): Promise<PassRow | undefined> {
  return passes.find(sql, 'where hash = $1', [hash]);
}

export async function selectPass(sql: Sql, id: string): Promise<PassRow | undefined> {
  return passes.find(sql, 'where id = $1', [id]);
}

/** Returns a payer's passes, active ones first. */
export function selectPasses(sql: Sql, payerId: string, page: OwnPage): Promise<PassRow[]> {
  return selectActiveFirst(sql, passes, payerId, page);
}

export async function countActivePasses(tx: Tx, payerId: string): Promise<number> {
  return passes.count(tx, 'where payer_id = $1 and revoked_at is null', [payerId]);
}

/** A tap of a static code. Because static codes can be copied, each tap notifies the payer. */
export interface StaticTap {
  readonly passId: string;
  readonly payerId: string;
  /** The decline code; `null` if the tap paid. */
  readonly decline: string | null;
}

/**
 * Queues browser notifications of these taps to their payers, and stores the newest decline of each
 * pass. Runs in the transaction of the taps.
 */
export async function noteStaticTaps(tx: Tx, taps: readonly StaticTap[], now: Date): Promise<void> {
  await tx.query(
    `with taps as (
       select * from unnest($1::text[], $2::text[], $3::text[])
         with ordinality as t (pass_id, payer_id, decline, place)
     ), declined as (
       select distinct on (pass_id) pass_id, decline from taps
       where decline is not null order by pass_id, place desc
     ), noted as (
       update passes p set declined_at = $4, decline_code = d.decline
       from declined d where p.id = d.pass_id
     )
     update payer_pushes set tapped_at = $4
     where payer_id = any (select payer_id from taps)`,
    [
      taps.map(({ passId }) => passId),
      taps.map(({ payerId }) => payerId),
      taps.map(({ decline }) => decline),
      now,
    ],
  );
}

/** A pass, card or token to revoke. Revoking twice changes nothing. */
export interface Revoking {
  readonly id: string;
  readonly payerId: string;
  readonly now: Date;
}

/** Returns the clauses of an update statement that revokes the object, once. */
export function revoking({ id, payerId, now }: Revoking) {
  return {
    where: 'id = $1 and payer_id = $2',
    values: [id, payerId, now],
    also: 'revoked_at = coalesce(revoked_at, $3)',
  };
}

/** Revokes a pass, once. @returns undefined if the payer has no such pass. */
export async function revokePassRow(tx: Tx, pass: Revoking): Promise<PassRow | undefined> {
  return (await passes.update(tx, {}, revoking(pass)))[0];
}
