import type { Sql, Tx } from '#db/database.ts';
import { table } from '#db/table.ts';

/** Cancels the scheduled removal of lost factors, because one of them was just verified. */
export async function keepFactors(tx: Tx, userId: string): Promise<void> {
  await tx.query(
    'update users set factors_end_at = null where id = $1 and factors_end_at is not null',
    [userId],
  );
}

/** Records an accepted code's time step. @returns false if it or a later one was already used. */
export async function updateTotpStep(
  tx: Tx,
  change: { readonly userId: string; readonly step: number },
): Promise<boolean> {
  const rows = await tx.query(
    `update users set totp_last_step = $2
     where id = $1 and (totp_last_step is null or totp_last_step < $2) returning id`,
    [change.userId, change.step],
  );
  return rows.length === 1;
}

export const recoveryCodes = table('recovery_codes', { user_id: 'text', hash: 'bytea' });

export async function deleteRecoveryCodes(tx: Tx, userId: string): Promise<void> {
  await tx.query('delete from recovery_codes where user_id = $1', [userId]);
}

/** Consumes a recovery code. @returns false if the code does not exist or was already used. */
export async function takeRecoveryCode(
  tx: Tx,
  filter: { readonly userId: string; readonly hash: Buffer; readonly now: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `update recovery_codes set used_at = $3
     where user_id = $1 and hash = $2 and used_at is null returning user_id`,
    [filter.userId, filter.hash, filter.now],
  );
  return rows.length === 1;
}

export async function countRecoveryCodes(sql: Sql, userId: string): Promise<number> {
  return recoveryCodes.count(sql, 'where user_id = $1 and used_at is null', [userId]);
}
