import { recordEntry } from '#audit/audit.ts';
import type { Tx } from '#db/database.ts';
import { updateWalletChange, type WalletChangeRow } from '#payouts/wallet-change-queries.ts';

const ACTOR = { type: 'system', name: 'settlement' } as const;

/** Writes a change's new status, with an entry in the account's audit log. */
export async function moveWalletChange(
  tx: Tx,
  row: WalletChangeRow,
  to: Partial<Pick<WalletChangeRow, 'applicable_at' | 'failure_reason'>> &
    Pick<WalletChangeRow, 'status'> & { readonly now: Date },
): Promise<void> {
  const { status, now } = to;
  const applicable_at = to.applicable_at ?? row.applicable_at;
  const failure_reason = to.failure_reason ?? null;
  const moved = { ...row, status, applicable_at, failure_reason, updated: now };
  await updateWalletChange(tx, moved);
  await recordWalletChange(tx, moved, now);
}

/** Writes an audit log entry for a change that now has this status. */
export async function recordWalletChange(tx: Tx, row: WalletChangeRow, now: Date): Promise<void> {
  await recordEntry(tx, {
    auditLog: row.account_id,
    actor: ACTOR,
    action: `settlement_wallet.${row.status}`,
    objectId: row.id,
    livemode: row.livemode,
    before: { wallet: row.previous_wallet },
    after: { wallet: row.wallet, reason: row.failure_reason },
    now,
  });
}
