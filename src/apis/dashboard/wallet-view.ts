import Type from 'typebox';
import { selectMode } from '#accounts/account-queries.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { nullable, oneOf, Timestamp } from '#http/schema.ts';
import { selectWalletChange } from '#payouts/wallet-change-queries.ts';

export const WalletSchema = Type.Object({
  wallet: nullable(Type.String()),
  change: nullable(
    Type.Object({
      wallet: Type.String(),
      status: oneOf(
        ['pending', 'announced', 'applied', 'canceled', 'failed'] as const,
        'An announced wallet waits until applicable_at.',
      ),
      applicable_at: nullable(Timestamp),
      failure_reason: nullable(Type.String()),
      created: Timestamp,
    }),
  ),
});

export async function walletView(db: Database, tenant: Tenant): Promise<object> {
  const [mode, row] = await Promise.all([selectMode(db, tenant), selectWalletChange(db, tenant)]);
  const change =
    row === undefined
      ? null
      : {
          wallet: row.wallet,
          status: row.status,
          applicable_at: row.applicable_at,
          failure_reason: row.failure_reason,
          created: row.created,
        };
  return { wallet: mode?.settlement_wallet ?? null, change };
}
