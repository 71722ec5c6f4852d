import { lockOwnAccount } from '#accounts/account-queries.ts';
import { actorId, recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import type { IdKey } from '#core/ids.ts';
import { toJsonAtoms } from '#core/money.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { checkMayWithdraw } from '#payouts/may-withdraw.ts';
import type { MerchantOnChain } from '#payouts/merchant-on-chain.ts';
import { findNumber, type WithdrawRequest } from '#payouts/withdrawal-number.ts';
import { type WithdrawalRow, withdrawals } from '#payouts/withdrawal-queries.ts';
import { requestOnChain } from '#settlement/chain-requests.ts';

/** Locks the account, and requests the withdrawal from the chain if it is allowed now. */
export async function requestWithdrawal(
  tx: Tx,
  idKey: IdKey,
  request: WithdrawRequest,
  merchant: MerchantOnChain,
): Promise<WithdrawalRow | Refusal> {
  const { tenant } = request;
  // The lock prevents two concurrent withdrawals from using the same balance.
  await lockOwnAccount(tx, tenant.accountId);
  const named = await findNumber(tx, idKey, request);
  if (isRefusal(named) || 'status' in named) return named;
  return requestNumbered(tx, { ...request, ...named, period: null }, merchant);
}

/** A withdrawal with its number on the contract. */
type Numbered = Pick<WithdrawRequest, 'tenant' | 'amount' | 'actor' | 'now'> & {
  readonly number: bigint;
  readonly id: string;
  /**
   * The first day of the period of an automatic payout; `null` if a person requested the
   * withdrawal.
   */
  readonly period: string | null;
};

/** Requests the withdrawal from the chain if it is allowed now. The account must be locked. */
export async function requestNumbered(
  tx: Tx,
  request: Numbered,
  merchant: MerchantOnChain,
): Promise<WithdrawalRow | Refusal> {
  const { tenant, amount, actor, now, number, id, period } = request;
  const refused = await checkMayWithdraw(tx, request, merchant);
  if (refused !== null) return refused;
  const stamp = await stampOrder(tx, tenant, now, 1);
  const row = await withdrawals.insert(tx, {
    ...{ id, number, account_id: tenant.accountId, livemode: tenant.livemode, amount },
    ...{ position: stamp.next(), created: stamp.created, updated: stamp.created },
    status: 'pending',
    ...{ wallet: merchant.wallet, period },
    requested_by: actorId(actor),
  });
  await requestOnChain(tx, {
    livemode: tenant.livemode,
    kind: 'withdrawal',
    subjectId: row.id,
    number,
    payload: {
      merchantNumber: merchant.merchantNumber.toString(),
      wallet: merchant.wallet,
      amount: amount.toString(),
    },
    now,
  });
  await recordEntry(tx, {
    auditLog: tenant.accountId,
    actor,
    action: 'withdrawal.requested',
    objectId: row.id,
    livemode: tenant.livemode,
    before: null,
    after: { amount: toJsonAtoms(amount), wallet: merchant.wallet },
    now,
  });
  return row;
}
