import { selectMode } from '#accounts/account-queries.ts';
import { isRefusal } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { type MerchantOnChain, readEverywhere } from '#payouts/merchant-on-chain.ts';
import { selectKnownWallets } from '#payouts/merchant-wallet-queries.ts';
import { selectWalletChange, type WalletChangeRow } from '#payouts/wallet-change-queries.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import { sameWallet } from '#settlement/chain/read/merchant-wallets.ts';

export interface WalletView {
  readonly wallet: string | null;
  readonly merchantNumber: bigint | null;
  readonly change: Pick<
    WalletChangeRow,
    'wallet' | 'status' | 'applicable_at' | 'failure_reason' | 'created'
  > | null;
}

/**
 * Returns the contract's current state, including changes by other parties. The rows supply
 * requested and ended changes, or everything if no node responds. Writes nothing: reconciliation
 * updates the rows.
 */
export async function readWalletView(
  { db, chains }: ChainContext,
  tenant: Tenant,
): Promise<WalletView> {
  const merchants = await readEverywhere(db, chains, tenant);
  // Read the rows after the chain: if they reflect a later block, they take precedence.
  const [mode, row] = await Promise.all([selectMode(db, tenant), selectWalletChange(db, tenant)]);
  const merchantNumber = mode?.merchant_number ?? null;
  const known = { wallet: mode?.settlement_wallet ?? null, merchantNumber, change: row ?? null };
  if (isRefusal(merchants)) return known;
  const read = await laterThanRows(db, tenant, merchants);
  const wallet = read.findLast((one) => one.merchantNumber === merchantNumber)?.wallet;
  return { ...known, wallet: wallet ?? known.wallet, change: changeOf(row ?? null, read) };
}

async function laterThanRows(
  db: Database,
  { livemode }: Tenant,
  merchants: readonly MerchantOnChain[],
): Promise<MerchantOnChain[]> {
  const merchantNumbers = merchants.map((one) => one.merchantNumber);
  const known = await selectKnownWallets(db, { livemode, merchantNumbers });
  const blocks = new Map(known.map((row) => [row.merchant_number, row.block_number ?? -1n]));
  return merchants.filter((one) => one.blockNumber > (blocks.get(one.merchantNumber) ?? -1n));
}

function changeOf(
  row: WalletChangeRow | null,
  read: readonly MerchantOnChain[],
): WalletView['change'] {
  const waiting = read.findLast((one) => one.announced !== null);
  if (waiting?.announced != null) {
    const { wallet, applicableAt } = waiting.announced;
    const isOpen = row?.status === 'pending' || row?.status === 'announced';
    const created = isOpen && sameWallet(row.wallet, wallet) ? row.created : waiting.asOf;
    const status = 'announced' as const;
    return { wallet, status, applicable_at: applicableAt, failure_reason: null, created };
  }
  if (row?.status !== 'announced') return row;
  const merchant = read.find((one) => one.merchantNumber === row.merchant_number);
  if (merchant === undefined) return row;
  return { ...row, status: sameWallet(merchant.wallet, row.wallet) ? 'applied' : 'canceled' };
}
