import type { Actor } from '#audit/audit.ts';
import type { Refusal } from '#core/answer.ts';
import { assert } from '#core/assert.ts';
import { type IdKey, withdrawalId, withdrawalNumber } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { keyReused } from '#idempotency/key-refusals.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';
import { selectNumberedWithdrawal, type WithdrawalRow } from '#payouts/withdrawal-queries.ts';

export interface WithdrawRequest {
  readonly tenant: Tenant;
  /** Atoms. */
  readonly amount: bigint;
  readonly actor: Actor;
  readonly idempotency: IdempotentRequest;
  readonly requestId: string;
  readonly now: Date;
}

/**
 * Maximum number of tries: each reuse of an idempotency key after its 48 hours takes the next
 * number.
 */
const MAX_CLASHES = 1_000;

/**
 * Returns the number under which the contract pays this request, or the rebuilt withdrawal that
 * already has that number. A request that is repeated after a loss of data gets the same number, so
 * nothing is paid twice.
 */
export async function findNumber(
  tx: Tx,
  idKey: IdKey,
  request: WithdrawRequest,
): Promise<{ readonly number: bigint; readonly id: string } | WithdrawalRow | Refusal> {
  const { tenant, idempotency, amount } = request;
  const { livemode } = tenant;
  for (let clash = 0; ; clash++) {
    assert(clash < MAX_CLASHES, 'too many numbers derived from one Idempotency-Key are in use');
    const number = withdrawalNumber(idKey, idempotency, clash);
    const row = await selectNumberedWithdrawal(tx, { livemode, number });
    if (row === undefined) return { number, id: withdrawalId(idKey, { livemode, number }) };
    if (row.recovered) return row.amount === amount ? row : keyReused();
  }
}
