import { recordEntry } from '#audit/audit.ts';
import { isRefusal } from '#core/answer.ts';
import { addMs, addSeconds } from '#core/clock.ts';
import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import type { LoopDeps } from '#db/loop-deps.ts';
import { type PayoutDeps, readOnChain } from '#payouts/merchant-on-chain.ts';
import {
  lockDueWalletChanges,
  lockWalletChange,
  updateSettlementWallet,
  updateWalletChange,
  type WalletChangeRow,
} from '#payouts/wallet-change-queries.ts';
import { applied, type Outcome, requestOnChain, takeOutcomes } from '#settlement/requests.ts';

type WalletDeps = LoopDeps & Pick<PayoutDeps, 'chains'>;

const BATCH = 20;
/** Block times lag behind ours: this much later the contract agrees that the wait is over. */
const MARGIN_MS = 15_000;
const ACTOR = { type: 'system', name: 'settlement' } as const;

async function moveTo(
  tx: Tx,
  row: WalletChangeRow,
  to: Partial<Pick<WalletChangeRow, 'applicable_at' | 'failure_reason'>> &
    Pick<WalletChangeRow, 'status'> & { readonly now: Date },
): Promise<void> {
  const { status, now } = to;
  const applicableAt = to.applicable_at ?? row.applicable_at;
  const failureReason = to.failure_reason ?? null;
  await updateWalletChange(tx, { id: row.id, status, applicableAt, failureReason, now });
  await recordEntry(tx, {
    trail: row.account_id,
    actor: ACTOR,
    action: `settlement_wallet.${status}`,
    objectId: row.id,
    livemode: row.livemode,
    before: { wallet: row.previous_wallet },
    after: { wallet: row.wallet, reason: failureReason },
    now,
  });
}

/**
 * A refused application is tried again: the wallet waits on the chain until it is applied.
 * @returns a change that the contract knows nothing of any more.
 */
async function applyStep(
  tx: Tx,
  outcome: Outcome<'wallet_change'>,
  deps: LoopDeps,
): Promise<WalletChangeRow | null> {
  const now = deps.clock.now();
  const { result } = outcome;
  const [id = '', step] = outcome.subjectId.split(':');
  const row = await lockWalletChange(tx, id);
  if (row === undefined) return null;
  if (!result.succeeded) {
    deps.log.warn('the contract refused a wallet change', { id, step, reason: result.reason });
    if (step !== 'propose') return result.reason === 'wallet_not_announced' ? row : null;
    await moveTo(tx, row, { status: 'failed', failure_reason: result.reason, now });
    return null;
  }
  if (step === 'propose') {
    const announcedAt = new Date(result.facts.blockTime);
    const applicable_at = addSeconds(announcedAt, row.delay_seconds);
    await moveTo(tx, row, { status: 'announced', applicable_at, now });
  } else if (step === 'cancel') {
    await moveTo(tx, row, { status: 'canceled', now });
  } else {
    const tenant = { accountId: row.account_id, livemode: row.livemode };
    await updateSettlementWallet(tx, { tenant, wallet: row.wallet });
    await moveTo(tx, row, { status: 'applied', now });
  }
  return null;
}

/**
 * Ends a change that the contract does not wait for any more. Anybody may have put it into force;
 * otherwise a guardian or the registrar has dropped it, or it has lapsed. The wallet on the chain
 * says which. When no node answers, the next refusal asks again.
 */
async function followContract(deps: WalletDeps, gone: WalletChangeRow): Promise<void> {
  const tenant = { accountId: gone.account_id, livemode: gone.livemode };
  const found = await readOnChain(deps, tenant);
  if (isRefusal(found)) return;
  await deps.db.transaction(async (tx) => {
    const now = deps.clock.now();
    const row = await lockWalletChange(tx, gone.id);
    if (row?.status !== 'announced') return;
    if (found.wallet.toLowerCase() === row.wallet.toLowerCase()) {
      await updateSettlementWallet(tx, { tenant, wallet: row.wallet });
      await moveTo(tx, row, { status: 'applied', now });
    } else {
      await moveTo(tx, row, { status: 'canceled', now });
    }
  });
}

/** Applies what the chain has said of settlement wallets. @returns whether there may be more. */
export async function applyWalletOutcomes(deps: WalletDeps): Promise<boolean> {
  const { outcome, gone } = await deps.db.transaction(async (tx) => {
    // One at a time: each is written to another account's audit log.
    const [outcome] = await takeOutcomes(tx, 'wallet_change', 1);
    if (outcome === undefined) return { outcome, gone: null };
    const gone = await applyStep(tx, outcome, deps);
    await applied(tx, [outcome.requestId], deps.clock.now());
    return { outcome, gone };
  });
  if (gone !== null) await followContract(deps, gone);
  return outcome !== undefined;
}

/** Has wallets put into force whose wait is over. @returns whether there may be more. */
export async function applyDueWallets(deps: LoopDeps): Promise<boolean> {
  const now = deps.clock.now();
  const due = await deps.db.transaction(async (tx) => {
    const rows = await lockDueWalletChanges(tx, { now: addMs(now, -MARGIN_MS), limit: BATCH });
    for (const { id, livemode, merchant_number } of rows) {
      const payload = { step: 'apply', merchantNumber: merchant_number.toString() } as const;
      const subjectId = `${id}:apply`;
      await requestOnChain(tx, { livemode, kind: 'wallet_change', subjectId, payload, now });
    }
    return rows;
  });
  for (const livemode of new Set(due.map((row) => row.livemode))) {
    deps.wakeups.send('chain-requests', networkOf(livemode));
  }
  return due.length === BATCH;
}
