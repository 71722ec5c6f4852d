import { addMs, addSeconds } from '#core/clock.ts';
import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { followWallets } from '#payouts/follow-wallets.ts';
import { chainOf } from '#payouts/merchant-on-chain.ts';
import { advanceWalletBlock, updateSettlementWallet } from '#payouts/merchant-wallet-queries.ts';
import { moveWalletChange } from '#payouts/move-wallet-change.ts';
import {
  lockDueWalletChanges,
  lockOpenWalletChanges,
  lockWalletChange,
  type WalletChangeRow,
} from '#payouts/wallet-change-queries.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import { readMerchantWallets } from '#settlement/chain/read/merchant-wallets.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { applied, type Outcome, requestOnChain, takeOutcomes } from '#settlement/chain-requests.ts';

const BATCH = 20;
/**
 * A wallet is applied this long after its delay has ended, because block times lag behind the
 * service's clock.
 */
const MARGIN_MS = 15_000;

type Succeeded = Extract<Outcome<'wallet_change'>['result'], { succeeded: true }>;

/**
 * Updates the rows after the service's own step on the contract. Rows that already reflect a later
 * block (`follow-wallets.ts`) stay unchanged.
 */
async function follow(
  tx: Tx,
  row: WalletChangeRow,
  { step, facts, now }: { step: string; facts: Succeeded['facts']; now: Date },
): Promise<void> {
  const { livemode, account_id: accountId, merchant_number: merchantNumber } = row;
  if (row.status !== (step === 'propose' ? 'pending' : 'announced')) return;
  if (merchantNumber !== null) {
    const blockNumber = BigInt(facts.blockNumber);
    await advanceWalletBlock(tx, { livemode, merchantNumber, blockNumber });
  }
  if (step === 'cancel') return moveWalletChange(tx, row, { status: 'canceled', now });
  if (step === 'apply') {
    if (merchantNumber !== null) {
      await updateSettlementWallet(tx, { livemode, merchantNumber, wallet: row.wallet });
    }
    return moveWalletChange(tx, row, { status: 'applied', now });
  }
  // The contract holds one announcement at a time, so any earlier one has ended.
  for (const other of await lockOpenWalletChanges(tx, { accountId, livemode })) {
    if (other.status !== 'announced' || other.merchant_number !== merchantNumber) continue;
    await moveWalletChange(tx, other, { status: 'canceled', now });
  }
  const applicable_at = addSeconds(new Date(facts.blockTime), row.delay_seconds);
  await moveWalletChange(tx, row, { status: 'announced', applicable_at, now });
}

/**
 * Retries a refused application, because the wallet stays announced until it is applied.
 * @returns a change that the contract no longer knows.
 */
async function applyStep(
  tx: Tx,
  outcome: Outcome<'wallet_change'>,
  ctx: ProcessContext,
): Promise<WalletChangeRow | null> {
  const now = ctx.clock.now();
  const { result } = outcome;
  const [id = '', step = ''] = outcome.subjectId.split(':');
  const row = await lockWalletChange(tx, id);
  if (row === undefined) return null;
  if (result.succeeded) {
    await follow(tx, row, { step, facts: result.facts, now });
    return null;
  }
  ctx.log.warn('the contract refused a wallet change', { id, step, reason: result.reason });
  if (step !== 'propose') return result.reason === 'wallet_not_announced' ? row : null;
  if (row.status === 'pending') {
    await moveWalletChange(tx, row, { status: 'failed', failure_reason: result.reason, now });
  }
  return null;
}

/**
 * Ends a change that the contract no longer contains: it was applied, canceled with another key, or
 * has expired. If no node responds, reconciliation does this later.
 */
async function followContract(ctx: ChainContext, gone: WalletChangeRow): Promise<void> {
  if (gone.merchant_number === null) return;
  const chain = chainOf(ctx.chains, gone.livemode);
  try {
    const wallets = await readMerchantWallets(chain, [gone.merchant_number]);
    await followWallets(ctx, chain, wallets);
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
  }
}

/** Applies the chain's results of wallet changes. @returns true if there may be more. */
export async function applyWalletOutcomes(ctx: ChainContext): Promise<boolean> {
  const { outcome, gone } = await ctx.db.transaction(async (tx) => {
    // One result per transaction, because each is recorded in another account's audit log.
    const [outcome] = await takeOutcomes(tx, 'wallet_change', 1);
    if (outcome === undefined) return { outcome, gone: null };
    const gone = await applyStep(tx, outcome, ctx);
    await applied(tx, [outcome.requestId], ctx.clock.now());
    return { outcome, gone };
  });
  if (gone !== null) await followContract(ctx, gone);
  return outcome !== undefined;
}

/** Requests the application of wallets whose wait has ended. @returns true if there may be more. */
export async function applyDueWallets(ctx: ProcessContext): Promise<boolean> {
  const now = ctx.clock.now();
  const due = await ctx.db.transaction(async (tx) => {
    const rows = await lockDueWalletChanges(tx, { now: addMs(now, -MARGIN_MS), limit: BATCH });
    for (const { id, livemode, merchant_number } of rows) {
      const payload = { step: 'apply', merchantNumber: merchant_number.toString() } as const;
      const subjectId = `${id}:apply`;
      await requestOnChain(tx, { livemode, kind: 'wallet_change', subjectId, payload, now });
    }
    return rows;
  });
  for (const livemode of new Set(due.map((row) => row.livemode))) {
    ctx.wakeups.send('chain-requests', networkOf(livemode));
  }
  return due.length === BATCH;
}
