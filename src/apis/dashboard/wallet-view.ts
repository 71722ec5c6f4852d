import Type from 'typebox';
import { selectMode } from '#accounts/account-queries.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { nullable, oneOf, Timestamp, textOut } from '#http/schema.ts';
import { selectWalletChange } from '#payouts/wallet-change-queries.ts';

export const WalletSchema = Type.Object(
  {
    wallet: nullable(
      textOut('The EVM address that withdrawals go to; null: the account is not live.'),
    ),
    change: nullable(
      Type.Object(
        {
          wallet: textOut('The EVM address that withdrawals shall go to.'),
          status: oneOf(
            ['pending', 'announced', 'applied', 'canceled', 'failed'] as const,
            'An announced wallet waits until applicable_at.',
          ),
          applicable_at: nullable(Timestamp),
          failure_reason: nullable(textOut('Why the change failed, or null.')),
          created: Timestamp,
        },
        { description: 'The newest change of the wallet.' },
      ),
    ),
  },
  { description: 'The settlement wallet, and the newest change of it.' },
);

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
