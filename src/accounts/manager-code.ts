import { recordTenantChange, type TenantRef } from '#audit/record-change.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Tenant } from '#core/mode.ts';
import { hashShortCode, newShortCode } from '#core/short-code.ts';
import type { Tx } from '#db/database.ts';

/** The time for which a code is valid: enough to walk from the office to the counter. */
const VALID_MS = 10 * 60_000;
/**
 * Retention of a used code's row, which names the refund that used it. After that, the refund's own
 * record is enough.
 */
const KEPT_MS = 30 * DAY_MS;

/**
 * Creates a code for one refund or one discount at a till that needs a manager. The caller has
 * checked that the code's creator just verified a second factor.
 */
export async function createManagerCode(
  tx: Tx,
  input: TenantRef,
): Promise<{ readonly code: string; readonly expiresAt: Date }> {
  const { tenant, now } = input;
  const code = newShortCode();
  const expiresAt = addMs(now, VALID_MS);
  await tx.query(
    `with gone as (
       delete from manager_codes where account_id = $2 and created < $6
     )
     insert into manager_codes (hash, account_id, livemode, created, expires_at)
     values ($1, $2, $3, $4, $5)`,
    [
      hashManagerCode(code),
      tenant.accountId,
      tenant.livemode,
      now,
      expiresAt,
      addMs(now, -KEPT_MS),
    ],
  );
  await recordTenantChange(tx, input, {
    action: 'manager_code.created',
    objectId: tenant.accountId,
    after: { expires_at: expiresAt.toISOString() },
  });
  return { code, expiresAt };
}

/** Consumes a code for this refund. @returns false if the code is not valid. */
export async function takeManagerCode(
  tx: Tx,
  shown: {
    readonly tenant: Tenant;
    readonly code: string;
    readonly refundId: string;
    readonly now: Date;
  },
): Promise<boolean> {
  const { tenant, code, refundId, now } = shown;
  const rows = await tx.query(
    `update manager_codes set used_at = $4, refund_id = $5
     where hash = $1 and account_id = $2 and livemode = $3 and used_at is null
       and expires_at > $4
     returning hash`,
    [hashManagerCode(code), tenant.accountId, tenant.livemode, now, refundId],
  );
  return rows.length === 1;
}

/** The message for a code that is wrong, used, or older than ten minutes. */
export const CODE_INVALID =
  'This code is not valid. It works once, for ten minutes. Create a new one.';

/** A valid code, which stays locked until the transaction ends. */
export interface LockedCode {
  readonly hash: Buffer;
  readonly account_id: string;
  readonly livemode: boolean;
}

export function hashManagerCode(code: string): Buffer {
  return hashShortCode('manager', code);
}

/**
 * Skips a code that another transaction is using, because waiting for it while holding the order's
 * lock could deadlock with a refund.
 */
export async function lockManagerCodes(
  tx: Tx,
  codes: { readonly hashes: readonly Buffer[]; readonly now: Date },
): Promise<LockedCode[]> {
  return tx.query(
    `select hash, account_id, livemode from manager_codes
     where hash = any($1) and used_at is null and expires_at > $2
     order by hash for update skip locked`,
    [codes.hashes, codes.now],
  );
}

export async function useManagerCodes(
  tx: Tx,
  used: readonly { readonly hash: Buffer; readonly intentId: string }[],
  now: Date,
): Promise<void> {
  if (used.length === 0) return;
  await tx.query(
    `update manager_codes c set used_at = $3, payment_intent_id = u.intent_id
     from unnest($1::bytea[], $2::text[]) as u (hash, intent_id)
     where c.hash = u.hash and c.hash = any($1) and c.used_at is null`,
    [used.map(({ hash }) => hash), used.map(({ intentId }) => intentId), now],
  );
}
