import { type Answer, answerWith, isRefusal, type Refusal } from '#core/answer.ts';
import type { IdKey } from '#core/ids.ts';
import { networkOf } from '#core/mode.ts';
import { REPLAYED, runOnce } from '#idempotency/decide.ts';
import { type PayoutDeps, readPayable } from '#payouts/merchant-on-chain.ts';
import { withdrawalObject } from '#payouts/render.ts';
import { requestWithdrawal } from '#payouts/request-withdrawal.ts';
import type { WithdrawRequest } from '#payouts/withdrawal-number.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';

export interface WithdrawDeps extends PayoutDeps {
  readonly idKey: IdKey;
}

/**
 * Withdraws to the registered settlement wallet, exactly once: the withdrawal, its settlement job
 * and the stored response commit together, and the contract pays each number once. Returns
 * `pending`; the chain's result follows with `balance.withdrawal_paid`, or as `failed`.
 */
export async function withdraw(
  deps: WithdrawDeps,
  request: WithdrawRequest,
): Promise<Answer | Refusal> {
  const found = await readPayable(deps, request.tenant, request.amount);
  const { answer } = await runOnce(deps.db, request, async (tx) => {
    const closed = checkLedger(tx.watch, request.tenant.livemode);
    if (closed !== null) return closed;
    if (isRefusal(found)) return found;
    const row = await requestWithdrawal(tx, deps.idKey, request, found);
    if (isRefusal(row)) return row;
    const answer = answerWith(201, withdrawalObject(row));
    return { answer: row.recovered ? { ...answer, headers: REPLAYED } : answer, resource: row.id };
  });
  if (!isRefusal(answer)) {
    deps.wakeups.send('chain-requests', networkOf(request.tenant.livemode));
  }
  return answer;
}
