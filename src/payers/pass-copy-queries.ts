import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { PhoneKind } from '#payers/phone-tap.ts';

/** The topic that wakes the worker that updates phone wallets. */
export const PASS_COPIES = 'pass-copies';

export const WALLETS = ['google', 'apple'] as const;
/** A phone wallet that can hold a copy of a pass. */
export type PassWallet = (typeof WALLETS)[number];

export interface CopyOfPass {
  readonly passId: string;
  readonly wallet: PassWallet;
}

/** Registers a wallet's copy of a pass. Later changes of the pass will be sent to that wallet. */
export async function insertPassCopy(tx: Tx, copy: CopyOfPass, now: Date): Promise<void> {
  await tx.query(
    `insert into pass_copies (pass_id, wallet, created, changed_at, next_try_at)
     values ($1, $2, $3, $3, $3) on conflict do nothing`,
    [copy.passId, copy.wallet, now],
  );
}

/** Schedules an update of a pass's copies, in the transaction that changes the pass. */
export async function noteCopiesChanged(
  tx: Tx,
  changed: { readonly passId: string; readonly wallets: readonly PassWallet[]; readonly now: Date },
): Promise<void> {
  await tx.query(
    `update pass_copies set version = version + 1, changed_at = $3, tries = 0, next_try_at = $3
     where pass_id = $1 and wallet = any($2::text[])`,
    [changed.passId, changed.wallets, changed.now],
  );
}

/** Schedules updates after a data loss: wallets may have a newer state than the database. */
export async function noteCopiesInDoubt(
  tx: Tx,
  lost: { readonly livemode: boolean; readonly before: Date; readonly now: Date },
): Promise<void> {
  await tx.query(
    `update pass_copies c set version = version + 1, changed_at = $3, tries = 0, next_try_at = $3
     from passes p, payers y
     where p.id = c.pass_id and y.id = p.payer_id and y.livemode = $1 and c.created < $2`,
    [lost.livemode, lost.before, lost.now],
  );
}

/** A copy that is older than its pass. */
export interface DueCopy {
  readonly pass_id: string;
  readonly wallet: PassWallet;
  readonly version: bigint;
  /** Attempts so far, including this one. */
  readonly tries: number;
}

/** Leases up to `limit` copies until `until`; no other process updates their wallets meanwhile. */
export async function takeDueCopies(
  sql: Sql,
  due: {
    readonly wallets: readonly PassWallet[];
    readonly now: Date;
    readonly until: Date;
    readonly limit: number;
  },
): Promise<DueCopy[]> {
  return sql.query<DueCopy>(
    `update pass_copies c set tries = tries + 1, next_try_at = $3
     from (
       select pass_id, wallet from pass_copies
       where copied_version < version and next_try_at <= $2 and wallet = any($1::text[])
       order by next_try_at limit $4 for update skip locked
     ) d
     where c.pass_id = d.pass_id and c.wallet = d.wallet
     returning c.pass_id, c.wallet, c.version, c.tries`,
    [due.wallets, due.now, due.until, due.limit],
  );
}

/** Records that the wallet has the version that was leased. */
export async function updateCopied(sql: Sql, copy: DueCopy, now: Date): Promise<void> {
  await sql.query(
    `update pass_copies set copied_version = $3, tries = 0, next_try_at = $4
     where pass_id = $1 and wallet = $2 and copied_version < $3`,
    [copy.pass_id, copy.wallet, copy.version, now],
  );
}

/** Schedules a retry at `at`, unless the pass has changed since: a change has its own schedule. */
export async function updateCopyLater(sql: Sql, copy: DueCopy, at: Date): Promise<void> {
  await sql.query(
    `update pass_copies set next_try_at = $4
     where pass_id = $1 and wallet = $2 and version = $3`,
    [copy.pass_id, copy.wallet, copy.version, at],
  );
}

/** The content of a copy. `id` is `null` if the pass was erased. */
export interface CopiedPassRow {
  readonly id: string | null;
  readonly label: string | null;
  readonly revoked_at: Date | null;
  readonly phone_sealed: Buffer | null;
  readonly rotating_key: Buffer | null;
  readonly changed_at: Date;
}

export async function selectCopiedPass(
  sql: Sql,
  filter: CopyOfPass & { readonly kind: PhoneKind },
): Promise<CopiedPassRow | undefined> {
  const rows = await sql.query<CopiedPassRow>(
    `select p.id, p.label, p.revoked_at, f.sealed as phone_sealed, r.key as rotating_key,
       c.changed_at
     from pass_copies c
     left join passes p on p.id = c.pass_id
     left join phone_passes f on f.pass_id = c.pass_id and f.kind = $3
     left join rotating_keys r on r.pass_id = c.pass_id
     where c.pass_id = $1 and c.wallet = $2`,
    [filter.passId, filter.wallet, filter.kind],
  );
  return rows[0];
}

/** Copies of erased passes are kept this long, so that phones learn that the passes are void. */
const KEEP_ERASED_MS = 30 * DAY_MS;

/** Deletes the copies and devices of passes that were erased long ago. */
export async function deleteErasedCopies(sql: Sql, now: Date): Promise<void> {
  await sql.query(
    `with gone as (
       delete from pass_copies where erased_at < $1 returning pass_id
     )
     delete from apple_devices where pass_id in (select pass_id from gone)`,
    [addMs(now, -KEEP_ERASED_MS)],
  );
}

/** Registers a device for a pass. @returns true if the device is new to the pass. */
export async function upsertAppleDevice(
  sql: Sql,
  made: {
    readonly device: string;
    readonly passId: string;
    readonly pushToken: string;
    readonly now: Date;
  },
): Promise<boolean> {
  const rows = await sql.query<{ is_new: boolean }>(
    `insert into apple_devices (device, pass_id, push_token, created) values ($1, $2, $3, $4)
     on conflict (device, pass_id) do update set push_token = excluded.push_token
     returning xmax = 0 as is_new`,
    [made.device, made.passId, made.pushToken, made.now],
  );
  return rows[0]?.is_new === true;
}

export async function countOtherDevices(
  sql: Sql,
  which: { readonly device: string; readonly passId: string },
): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    'select count(*)::int as count from apple_devices where pass_id = $1 and device <> $2',
    [which.passId, which.device],
  );
  return rows[0]?.count ?? 0;
}

export async function deleteAppleDevice(
  sql: Sql,
  which: { readonly device: string; readonly passId: string },
): Promise<void> {
  await sql.query('delete from apple_devices where device = $1 and pass_id = $2', [
    which.device,
    which.passId,
  ]);
}

export async function selectPushTokens(sql: Sql, passId: string): Promise<string[]> {
  const rows = await sql.query<{ push_token: string }>(
    'select distinct push_token from apple_devices where pass_id = $1',
    [passId],
  );
  return rows.map(({ push_token }) => push_token);
}

export async function deletePushTokens(sql: Sql, tokens: readonly string[]): Promise<void> {
  await sql.query('delete from apple_devices where push_token = any($1::text[])', [tokens]);
}

/** Returns IDs of a device's passes that changed after `since`; of all passes if it is `null`. */
export async function selectChangedPasses(
  sql: Sql,
  filter: { readonly device: string; readonly since: Date | null },
): Promise<string[]> {
  const rows = await sql.query<{ pass_id: string }>(
    `select c.pass_id
     from apple_devices d join pass_copies c on c.pass_id = d.pass_id and c.wallet = 'apple'
     where d.device = $1 and ($2::timestamptz is null or c.changed_at > $2)
     order by c.pass_id`,
    [filter.device, filter.since],
  );
  return rows.map(({ pass_id }) => pass_id);
}
