import type { Sql, Tx } from '#db/database.ts';
import { deletingExpired } from '#people/expired-queries.ts';
import type { Realm } from '#people/user-queries.ts';

/** True if this person has signed in on the device recently enough. */
export async function selectIsKnownDevice(
  sql: Sql,
  filter: {
    readonly hash: Buffer;
    readonly realm: Realm;
    readonly email: string;
    readonly now: Date;
  },
): Promise<boolean> {
  const rows = await sql.query(
    `select 1 as known from known_devices d join users u on u.id = d.user_id
     where d.hash = $1 and u.realm = $2 and u.email = $3 and d.expires_at > $4`,
    [filter.hash, filter.realm, filter.email, filter.now],
  );
  return rows.length === 1;
}

/** Records the use of a known device. @returns false if this person has no such device. */
export async function updateDeviceUsed(
  tx: Tx,
  change: {
    readonly hash: Buffer;
    readonly userId: string;
    readonly address: string;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<boolean> {
  const rows = await tx.query(
    `update known_devices set last_used_at = $3, address = $4, expires_at = $5
     where hash = $1 and user_id = $2 and expires_at > $3 returning user_id`,
    [change.hash, change.userId, change.now, change.address, change.expiresAt],
  );
  return rows.length === 1;
}

/** Deletes all of a person's devices except the most recently used ones. */
export async function deleteDevicesBeyond(
  tx: Tx,
  which: { readonly userId: string; readonly keep: number },
): Promise<void> {
  await tx.query(
    `delete from known_devices where hash in (
       select hash from known_devices where user_id = $1
       order by last_used_at desc, hash offset $2)`,
    [which.userId, which.keep],
  );
}

export async function deleteDevicesOf(sql: Sql, userId: string): Promise<void> {
  await sql.query('delete from known_devices where user_id = $1', [userId]);
}

export const deleteExpiredDevices = deletingExpired('known_devices', {
  key: 'hash',
  expired: 'expires_at <= $1',
});
