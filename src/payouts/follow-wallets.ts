import { lockOwnAccount } from '#accounts/account-queries.ts';
import type { Clock } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { mailOwnProposal, mailProposal, mailWalletChanged } from '#payouts/foreign-wallet-mails.ts';
import {
  advanceWalletBlock,
  type KnownWalletRow,
  selectKnownWallets,
  updateSettlementWallet,
} from '#payouts/merchant-wallet-queries.ts';
import { moveWalletChange, recordWalletChange } from '#payouts/move-wallet-change.ts';
import {
  BY_CONTRACT,
  lockOpenWalletChanges,
  updateWalletChange,
  type WalletChangeRow,
  walletChanges,
} from '#payouts/wallet-change-queries.ts';
import { MAIL_TOPIC, type Mailing } from '#people/people-context.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import {
  isRegisteredAs,
  readMerchantWallets,
  sameWallet,
  type WalletOnChain,
} from '#settlement/chain/read/merchant-wallets.ts';
import { merchantReference } from '#settlement/contract/contract-calls.ts';
import { knowsMerchant } from '#settlement/contract-versions.ts';

interface Following {
  readonly livemode: boolean;
  readonly mailing: Mailing;
  readonly clock: Clock;
}

export function mailingOf({ keys, pages }: ChainContext): Mailing {
  return { secretKey: keys.people, webUrl: pages.webUrl() };
}

/** Merchants per batch. Reading one batch takes much less time than a recovery's lease. */
const PORTION = 500;

/**
 * Reads every merchant's wallets from the network's contracts, and updates the rows.
 * @param onPortion called between batches, for example to keep a lease.
 */
export async function followAllWallets(
  ctx: ChainContext,
  chain: Chain,
  onPortion: () => Promise<void> = async () => {},
): Promise<void> {
  const { db } = ctx;
  const { livemode } = chain.config;
  const known = await selectKnownWallets(db, { livemode, merchantNumbers: null });
  const numbers = known.map((row) => row.merchant_number);
  const readable = numbers.filter((number) => knowsMerchant(chain.config, number));
  for (let first = 0; first < readable.length; first += PORTION) {
    const portion = readable.slice(first, first + PORTION);
    await followWallets(ctx, chain, await readMerchantWallets(chain, portion));
    await onPortion();
  }
}

/**
 * Updates a merchant's rows from the contract, which is authoritative for the current and the
 * announced wallet, even if another party changed them. Owners get a mail about changes that were
 * not requested in their dashboard. Ignores data from a block that the rows already reflect,
 * because a node may lag.
 */
export async function followWallets(
  ctx: ChainContext,
  chain: Chain,
  wallets: readonly WalletOnChain[],
): Promise<void> {
  const { db, clock } = ctx;
  const { livemode } = chain.config;
  const following = { livemode, mailing: mailingOf(ctx), clock };
  const merchantNumbers = wallets.map((one) => one.merchantNumber);
  const known = await selectKnownWallets(db, { livemode, merchantNumbers });
  const byNumber = new Map(known.map((row) => [row.merchant_number, row]));
  for (const one of wallets) {
    const row = byNumber.get(one.merchantNumber);
    if (row === undefined || !isNews(row, one)) continue;
    if (!(await isOurs(ctx, chain, row, one))) continue;
    await db.transaction((tx) =>
      followIn(tx, following, { accountId: row.account_id, found: one }),
    );
    ctx.wakeups.send(MAIL_TOPIC);
  }
}

function isNews(row: KnownWalletRow, { wallet, announced, blockNumber }: WalletOnChain): boolean {
  if (row.block_number !== null && row.block_number >= blockNumber) return false;
  const isSame =
    announced === null
      ? row.announced === null
      : row.announced !== null &&
        sameWallet(row.announced, announced.wallet) &&
        row.applicable_at?.getTime() === announced.applicableAt.getTime();
  return !isSame || row.wallet === null || !sameWallet(row.wallet, wallet);
}

/**
 * True if the number on the contract still belongs to this account. A reorganization can undo a
 * registration and give the number to another account. Then an alarm asks an operator to check it.
 */
async function isOurs(
  { db, clock, log }: ChainContext,
  chain: Chain,
  row: KnownWalletRow,
  { merchantNumber, wallet }: WalletOnChain,
): Promise<boolean> {
  if (row.wallet !== null && sameWallet(row.wallet, wallet)) return true;
  const reference = merchantReference(row.account_id);
  if (await isRegisteredAs(chain, { merchantNumber, reference })) return true;
  const { livemode, network } = chain.config;
  const details = { account: row.account_id, merchant_number: merchantNumber, wallet };
  const alarm = { kind: 'registration_differs', subject: row.account_id, details };
  await db.transaction((tx) => insertAlarms(tx, livemode, [alarm], clock.now()));
  const what = { network, account: row.account_id, merchantNumber: merchantNumber.toString() };
  log.error('a merchant has a different number on the contract', what);
  return false;
}

interface Followed {
  readonly tenant: Tenant;
  readonly found: WalletOnChain;
  /** The wallet in the ledger before this update. */
  readonly known: KnownWalletRow;
  readonly now: Date;
}

async function followIn(
  tx: Tx,
  following: Following,
  { accountId, found }: { readonly accountId: string; readonly found: WalletOnChain },
): Promise<void> {
  const { livemode, mailing, clock } = following;
  const { merchantNumber, blockNumber } = found;
  await lockOwnAccount(tx, accountId);
  const merchantNumbers = [merchantNumber];
  const [known] = await selectKnownWallets(tx, { livemode, merchantNumbers });
  const isNewer = await advanceWalletBlock(tx, { livemode, merchantNumber, blockNumber });
  if (known === undefined || !isNewer) return;
  const followed = { tenant: { accountId, livemode }, found, known, now: clock.now() };
  const open = (await lockOpenWalletChanges(tx, followed.tenant)).filter(
    (row) => (row.merchant_number ?? merchantNumber) === merchantNumber,
  );
  await followAnnouncement(tx, mailing, followed, open);
  await followWallet(tx, mailing, followed, open);
}

/**
 * Makes the rows match the contract: one announced change if the contract has one, otherwise none.
 */
async function followAnnouncement(
  tx: Tx,
  mailing: Mailing,
  { tenant, found, known, now }: Followed,
  open: readonly WalletChangeRow[],
): Promise<void> {
  const { announced, merchantNumber, wallet: inForce } = found;
  const before = open.find((row) => row.status === 'announced');
  if (before !== undefined && announced !== null && sameWallet(before.wallet, announced.wallet)) {
    const { applicableAt } = announced;
    await updateWalletChange(tx, { ...before, applicable_at: applicableAt, updated: now });
    return;
  }
  if (before !== undefined) {
    const status = sameWallet(before.wallet, inForce) ? 'applied' : 'canceled';
    await moveWalletChange(tx, before, { status, now });
  }
  if (announced === null) return;
  const { wallet, applicableAt, proposer } = announced;
  const pending = open.find((row) => row.status === 'pending' && sameWallet(row.wallet, wallet));
  if (pending !== undefined) {
    await moveWalletChange(tx, pending, { status: 'announced', applicable_at: applicableAt, now });
    return;
  }
  const previousWallet = known.wallet ?? inForce;
  const row = await walletChanges.insert(tx, {
    ...foundChange({ merchantNumber, wallet }, tenant, now),
    ...{ previous_wallet: previousWallet, status: 'announced', applicable_at: applicableAt },
  });
  await recordWalletChange(tx, row, now);
  const isOwn = sameWallet(proposer, inForce) || sameWallet(proposer, previousWallet);
  const mail = isOwn ? mailOwnProposal(mailing) : mailProposal(mailing);
  await mail(tx, { ...tenant, merchantNumber, wallet, applicableAt }, now);
}

interface FoundChange {
  readonly merchantNumber: bigint;
  /** The new wallet, which is announced or already in effect. */
  readonly wallet: string;
}

/**
 * Returns the row of a change that is on the contract but was not requested through this network.
 */
function foundChange({ wallet, merchantNumber }: FoundChange, tenant: Tenant, now: Date) {
  return {
    ...{ id: newId('walletChange', now), account_id: tenant.accountId, livemode: tenant.livemode },
    ...{ merchant_number: merchantNumber, wallet, delay_seconds: 0, requested_by: BY_CONTRACT },
    ...{ created: now, updated: now },
  };
}

async function followWallet(
  tx: Tx,
  mailing: Mailing,
  { tenant, found, known, now }: Followed,
  open: readonly WalletChangeRow[],
): Promise<void> {
  const { wallet, merchantNumber } = found;
  if (known.wallet !== null && sameWallet(known.wallet, wallet)) return;
  await updateSettlementWallet(tx, { livemode: tenant.livemode, merchantNumber, wallet });
  const change = open.find((row) => sameWallet(row.wallet, wallet));
  if (change?.status === 'pending') await moveWalletChange(tx, change, { status: 'applied', now });
  if (change !== undefined || known.wallet === null) return;
  const row = await walletChanges.insert(tx, {
    ...foundChange({ merchantNumber, wallet }, tenant, now),
    ...{ previous_wallet: known.wallet, status: 'applied', applicable_at: null },
  });
  await recordWalletChange(tx, row, now);
  const changed = { ...tenant, merchantNumber, wallet, previousWallet: known.wallet };
  await mailWalletChanged(tx, mailing, changed, now);
}
