import { type Answer, answerWith, isRefusal, type Refusal } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import { REPLAYED, runOnce } from '#idempotency/run-once-per-key.ts';
import { readPayable } from '#payouts/merchant-on-chain.ts';
import { withdrawalObject } from '#payouts/render.ts';
import { requestWithdrawal } from '#payouts/request-withdrawal.ts';
import type { WithdrawRequest } from '#payouts/withdrawal-number.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';

/**
 * Withdraws to the registered settlement wallet, exactly once: the withdrawal, its settlement job
 * and the stored response commit together, and the contract pays each number once. Returns
 * `pending`; the chain's result follows with `balance.withdrawal_paid`, or as `failed`.
 */
export async function withdraw(
  ctx: ChainContext,
  request: WithdrawRequest,
): Promise<Answer | Refusal> {
  const payable = await readPayable(ctx.db, ctx.chains, request);
  const { answer } = await runOnce(ctx.db, request, async (tx) => {
    const closed = checkLedger(tx.watch, request.tenant.livemode);
    if (closed !== null) return closed;
    if (isRefusal(payable)) return payable;
    const row = await requestWithdrawal(tx, ctx.keys.id, request, payable);
    if (isRefusal(row)) return row;
    const answer = answerWith(201, withdrawalObject(row));
    return { answer: row.recovered ? { ...answer, headers: REPLAYED } : answer, resource: row.id };
  });
  if (!isRefusal(answer)) {
    ctx.wakeups.send('chain-requests', networkOf(request.tenant.livemode));
  }
  return answer;
}
