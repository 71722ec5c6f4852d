import { only } from '#core/assert.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import { type PayerRow, payers, type TappedPass } from '#payers/payer-queries.ts';
import type { PhoneKind } from '#payers/phone-tap.ts';

export const phonePasses = table('phone_passes', {
  hash: 'bytea',
  kind: as<PhoneKind>('text'),
  sealed: 'bytea',
  /** Time of a data loss that may have lost used taps; `null` if no used taps are missing. */
  doubted_at: 'timestamptz?',
});

export type PhonePassRow = Row<typeof phonePasses>;

export interface FoundPhonePass extends TappedPass {
  readonly phone_hash: Buffer;
  readonly kind: PhoneKind;
  readonly doubted_at: Date | null;
}

export async function selectPhonePass(
  sql: Sql,
  filter: { readonly passId: string; readonly kind: PhoneKind },
): Promise<PhonePassRow | undefined> {
  return phonePasses.find(sql, 'where pass_id = $1 and kind = $2', [filter.passId, filter.kind]);
}

/** The earlier value becomes invalid. */
export async function replacePhonePass(
  tx: Tx,
  made: {
    readonly hash: Buffer;
    readonly passId: string;
    readonly kind: PhoneKind;
    readonly sealed: Buffer;
    readonly now: Date;
  },
): Promise<void> {
  await tx.query('delete from phone_passes where pass_id = $1 and kind = $2', [
    made.passId,
    made.kind,
  ]);
  await tx.query(
    `insert into phone_passes (hash, pass_id, kind, sealed, created) values ($1, $2, $3, $4, $5)`,
    [made.hash, made.passId, made.kind, made.sealed, made.now],
  );
}

/** Returns the payers of these phone passes, by the value's hash in hex. */
export async function selectPayersOfPhones(
  sql: Sql,
  hashes: readonly Buffer[],
): Promise<(PayerRow & { credential: string })[]> {
  return sql.query(
    `select encode(f.hash, 'hex') as credential, ${payers.of('y')}
     from phone_passes f join passes p on p.id = f.pass_id join payers y on y.id = p.payer_id
     where f.hash = any($1::bytea[])`,
    [hashes],
  );
}

/** Locks passes in hash order, so that concurrent taps of one pass are decided one by one. */
export async function lockPhonePasses(
  tx: Tx,
  hashes: readonly Buffer[],
): Promise<FoundPhonePass[]> {
  return tx.query(
    `select f.hash as phone_hash, f.kind, f.doubted_at, p.id, p.payer_id, p.revoked_at
     from phone_passes f join passes p on p.id = f.pass_id
     where f.hash = any($1::bytea[]) order by f.hash for update of f`,
    [hashes],
  );
}

/** Returns the hashes of used taps, in hex. Call it while holding the locks of the passes. */
export async function selectUsedTaps(tx: Tx, hashes: readonly Buffer[]): Promise<Set<string>> {
  const rows = await tx.query<{ hash: Buffer }>(
    'select hash from phone_taps where hash = any($1::bytea[])',
    [hashes],
  );
  return new Set(rows.map(({ hash }) => hash.toString('hex')));
}

export interface UsedTap {
  readonly hash: Buffer;
  readonly phonePass: Buffer;
  /** Time from which the tap is too old to accept, so its row can be deleted; `null` to keep it. */
  readonly sweptFrom: Date | null;
}

/** Stores used taps. @returns how many were new; fewer if a concurrent request was first. */
export async function insertUsedTaps(tx: Tx, taps: readonly UsedTap[], now: Date): Promise<number> {
  const rows = await tx.query(
    `insert into phone_taps (hash, phone_pass, used_at, swept_from)
     select t.hash, t.phone_pass, $4, t.swept_from
     from unnest($1::bytea[], $2::bytea[], $3::timestamptz[]) as t (hash, phone_pass, swept_from)
     on conflict do nothing returning 1 as used`,
    [
      taps.map(({ hash }) => hash),
      taps.map(({ phonePass }) => phonePass),
      taps.map(({ sweptFrom }) => sweptFrom),
      now,
    ],
  );
  return rows.length;
}

/** Deletes up to `limit` taps that are too old to be accepted again. */
export async function sweepUsedTaps(tx: Tx, now: Date, limit: number): Promise<void> {
  await tx.query(
    `delete from phone_taps where hash in (
       select hash from phone_taps where swept_from < $1 limit $2 for update skip locked)`,
    [now, limit],
  );
}

/** True if the pass belongs to test mode, in which customers can be simulated. */
export async function isTestPass(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql.query(
    'select from passes p join payers y on y.id = p.payer_id where p.id = $1 and not y.livemode',
    [id],
  );
  return rows.length > 0;
}

/** Returns the next simulated tap's time: two taps in the same second would be the same tap. */
export async function takePlayedSecond(
  tx: Tx,
  phone: { readonly passId: string; readonly kind: PhoneKind; readonly now: Date },
): Promise<Date> {
  const rows = await tx.query<{ played_at: Date }>(
    `update phone_passes
     set played_at =
       greatest(date_trunc('second', $3::timestamptz), played_at + interval '1 second')
     where pass_id = $1 and kind = $2 returning played_at`,
    [phone.passId, phone.kind, phone.now],
  );
  return only(rows, 'phone that is played').played_at;
}
