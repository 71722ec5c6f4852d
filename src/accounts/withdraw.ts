import { lockAccount, selectMode } from '#accounts/account-queries.ts';
import { type Actor, actorId } from '#accounts/actor.ts';
import { recordChange } from '#accounts/audit.ts';
import { checkNotHeld } from '#accounts/payout-holds.ts';
import {
  insertWithdrawal,
  selectNumberedWithdrawal,
  selectSpokenFor,
  type WithdrawalRow,
} from '#accounts/withdrawal-queries.ts';
import { type Answer, answerWith } from '#core/answer.ts';
import { assert, only, present } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import { type IdKey, withdrawalId, withdrawalNumber } from '#core/derived-ids.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { isRefusal, type Refusal, refuse } from '#core/refusal.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Database, Tx } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { type IdempotentRequest, keyReused } from '#idempotency/request.ts';
import { REPLAYED, runOnce } from '#idempotency/run-once.ts';
import { readMerchantBalance } from '#settlement/balance.ts';
import type { Chain } from '#settlement/chain.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';
import { type Hex, requestOnChain } from '#settlement/requests.ts';
import { RpcUnavailable } from '#settlement/rpc.ts';

export interface WithdrawDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly idKey: IdKey;
  readonly chains: readonly Chain[];
}

export interface WithdrawRequest {
  readonly tenant: Tenant;
  /** Atoms. */
  readonly amount: bigint;
  readonly actor: Actor;
  readonly idempotency: IdempotentRequest;
  readonly requestId: string;
  readonly now: Date;
}

/** Why a withdrawal failed. Nothing moved: all of it is in the merchant balance still. */
export const WITHDRAWAL_FAILURES: { readonly [code: string]: string } = {
  insufficient_balance: 'The merchant balance on the contract does not cover the withdrawal.',
  wallet_changed:
    'Another settlement wallet was registered before this was paid. Nothing was moved: withdraw ' +
    'again, to the new wallet.',
  transaction_reverted: 'The settlement contract refused the withdrawal. Nothing was moved.',
};

/** The withdrawal as `balance.withdrawal_paid` carries it. */
export function withdrawalObject(row: WithdrawalRow): { [key: string]: Json } {
  return {
    id: row.id,
    object: 'withdrawal',
    livemode: row.livemode,
    network: networkOf(row.livemode),
    amount: toJsonAtoms(row.amount),
    currency: 'usdc',
    wallet: row.wallet,
    status: row.status,
    failure_code: row.failure_code,
    failure_message: row.failure_code && (WITHDRAWAL_FAILURES[row.failure_code] ?? null),
    tx_hash: row.tx_hash,
    created: row.created.toISOString(),
    updated: row.updated.toISOString(),
    ...(row.recovered ? { recovered: true } : {}),
  };
}

export function chainOf(chains: readonly Chain[], livemode: boolean): Chain {
  return present(
    chains.find((chain) => chain.config.livemode === livemode),
    'chain of the mode',
  );
}

export function notLive(): Refusal {
  return refuse(
    'account_not_live',
    'The account is not registered on the settlement contract of this network yet: go live first.',
  );
}

/** The contract pays nothing out to a merchant that is new. */
function heldByContract(until: Date): Refusal {
  const time = until.toISOString();
  return refuse('amount_too_large', `Nothing can be withdrawn before ${time}.`, 'amount');
}

/** What the chain knows of the merchant. */
interface Found {
  readonly available: bigint;
  readonly wallet: Hex;
  readonly heldUntil: Date | null;
  readonly merchantNumber: bigint;
}

/** Balance and wallet as the chain knows them, read before anything is locked. */
async function readChain(deps: WithdrawDeps, tenant: Tenant): Promise<Found | Refusal> {
  const mode = await selectMode(deps.db, tenant);
  if (mode?.merchant_number == null) return notLive();
  const chain = chainOf(deps.chains, tenant.livemode);
  try {
    const balance = await readMerchantBalance(chain, mode.merchant_number);
    return { ...balance, merchantNumber: mode.merchant_number };
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    return refuse('service_unavailable', 'The chain cannot be reached now. Nothing was done.');
  }
}

/** A key that comes back after 48 hours takes the next number: so often it can be used anew. */
const MAX_CLASHES = 1_000;

/**
 * The number that the contract pays this request by: the same again when the request comes again
 * to a database that has lost the first, so that nothing is paid twice. Or the withdrawal that was
 * rebuilt under it.
 */
async function numberFor(
  tx: Tx,
  idKey: IdKey,
  { tenant, idempotency }: WithdrawRequest,
): Promise<bigint | WithdrawalRow> {
  const { livemode } = tenant;
  for (let clash = 0; ; clash++) {
    assert(clash < MAX_CLASHES, 'an Idempotency-Key has derived to too many numbers in use');
    const number = withdrawalNumber(idKey, idempotency, clash);
    const row = await selectNumberedWithdrawal(tx, { livemode, number });
    if (row === undefined) return number;
    if (row.recovered) return row;
  }
}

async function write(
  tx: Tx,
  idKey: IdKey,
  request: WithdrawRequest,
  found: Found,
): Promise<WithdrawalRow | Refusal> {
  const { tenant, amount, actor, now } = request;
  // The account's row serialises its withdrawals: two at once cannot both count on one balance.
  present(await lockAccount(tx, tenant.accountId), 'account');
  const number = await numberFor(tx, idKey, request);
  if (typeof number !== 'bigint') return number.amount === amount ? number : keyReused();
  const held = await checkNotHeld(tx, tenant.accountId);
  if (held !== null) return held;
  if (found.heldUntil !== null) return heldByContract(found.heldUntil);
  const left = found.available - (await selectSpokenFor(tx, tenant));
  if (amount > left) {
    const shown = left > 0n ? left : 0n;
    return refuse('amount_too_large', `At most ${shown} atoms can be withdrawn now.`, 'amount');
  }
  const stamp = await stampOrder(tx, tenant, now, 1);
  const rows = await insertWithdrawal(tx, {
    id: withdrawalId(idKey, { livemode: tenant.livemode, number }),
    number,
    tenant,
    position: stamp.next(),
    created: stamp.created,
    amount,
    wallet: found.wallet,
    requestedBy: actorId(actor),
  });
  const row = only(rows, 'withdrawal');
  await requestOnChain(tx, {
    livemode: tenant.livemode,
    kind: 'withdrawal',
    subjectId: row.id,
    number,
    payload: {
      merchantNumber: found.merchantNumber.toString(),
      wallet: found.wallet,
      amount: amount.toString(),
    },
    now,
  });
  await recordChange(tx, {
    chain: tenant.accountId,
    actor,
    action: 'withdrawal.requested',
    objectId: row.id,
    livemode: tenant.livemode,
    before: null,
    after: { amount: toJsonAtoms(amount), wallet: found.wallet },
    now,
  });
  return row;
}

/**
 * Pays out to the registered settlement wallet, exactly once: the withdrawal, its request to the
 * chain and the stored response commit together, and the contract pays each number once. Answers
 * `pending`; the chain's outcome follows with `balance.withdrawal_paid`, or as `failed`.
 */
export async function withdraw(
  deps: WithdrawDeps,
  request: WithdrawRequest,
): Promise<Answer | Refusal> {
  const found = await readChain(deps, request.tenant);
  const { idempotency, requestId, now } = request;
  const answer = await runOnce(deps.db, { request: idempotency, requestId, now }, async (tx) => {
    const closed = checkLedger(tx.watch, request.tenant.livemode);
    if (closed !== null) return closed;
    if (isRefusal(found)) return found;
    const row = await write(tx, deps.idKey, request, found);
    if (isRefusal(row)) return row;
    const answer = answerWith(201, withdrawalObject(row));
    return { answer: row.recovered ? { ...answer, headers: REPLAYED } : answer, resource: row.id };
  });
  if (!isRefusal(answer)) {
    deps.wakeups.send('chain-requests', networkOf(request.tenant.livemode));
  }
  return answer;
}
