import { setTimeout as sleep } from 'node:timers/promises';
import { decodeFunctionResult } from 'viem';
import { present } from '#core/assert.ts';
import { chargesOf, type FeeRates } from '#core/charges.ts';
import { type Batcher, createBatcher } from '#db/batching.ts';
import type { CallAnswer, Chain } from '#settlement/chain/chain.ts';
import { RATES_WORDS, ratesCall, readRates } from '#settlement/chain/fees/fee-rates.ts';
import {
  PAYER_ACCOUNT_WORDS,
  type PayerAccount,
  payerAccountsCall,
  readPayerAccounts,
} from '#settlement/chain/read/payer-balance.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { FailureReason, Hex } from '#settlement/chain-requests.ts';
import {
  declineOf,
  type PaymentCall,
  type PaymentReason,
  paymentReason,
  preflightCall,
  readRevert,
} from '#settlement/contract/contract-calls.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { contractOf, knowsMerchant } from '#settlement/contract-versions.ts';
import { settlementLensAbi } from '../../../../contracts/artifacts/SettlementLens.ts';

/**
 * The input of a check: a sale that has no settlement job yet, and therefore no settlement number.
 */
interface PaymentCheck {
  readonly merchantNumber: bigint;
  readonly payer: Hex;
  readonly amount: bigint;
  readonly orderId: string;
}

/**
 * `unavailable`: no node answered. The payment is not declined; the customer is asked to try again
 * later.
 */
export type CheckResult =
  | { readonly status: 'ok' }
  | {
      readonly status: 'declined';
      readonly reason: FailureReason;
      /** The contract's own reason, if it would refuse the payment with any authorization. */
      readonly refusal?: PaymentReason;
      /** True if the contract's rates no longer match the payment's. */
      readonly ratesDiffer?: true;
    }
  /** Too little of the hourly ceiling is left for this sum. */
  | { readonly status: 'hour_full' }
  | { readonly status: 'unavailable' };

/**
 * Simulates a payment, to find out whether the contract would accept it now, without spending gas.
 */
export type CheckPayment = (check: PaymentCheck) => Promise<CheckResult>;

/** A settlement number that is never assigned and therefore never settled. */
export const NO_NUMBER = 2n ** 64n - 1n;
/**
 * Maximum number of checks per call: as many as a batch holds. With more, one slow call would
 * replace two fast ones.
 */
const MAX_CHECKS = 100;
/** Maximum number of concurrent calls. While so many run, new checks collect for the next call. */
const CALLS_IN_FLIGHT = 2;

/**
 * A single check is sent immediately; while two calls are running, new checks collect and share the
 * next call. Two concurrent checks of one payer ignore each other's sums; the contract decides
 * which payment passes.
 */
export function createPaymentCheck(chain: Chain): CheckPayment {
  const batcher: Batcher<PaymentCheck, CheckResult> = createBatcher({
    run: (checks) => checkAll(chain, checks),
    maxInFlight: CALLS_IN_FLIGHT,
    maxItems: MAX_CHECKS,
  });
  return (check) => batcher.add(check);
}

/**
 * Pauses before retries: long enough for a provider to recover, and hardly noticed at the counter.
 */
const RETRY_MS = [100, 400] as const;

async function checkAll(chain: Chain, checks: readonly PaymentCheck[]): Promise<CheckResult[]> {
  const started = performance.now();
  for (const pauseMs of [...RETRY_MS, null]) {
    try {
      return await askContracts(chain, checks);
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      // The checks have already taken as long as a customer is willing to wait.
      if (pauseMs === null || performance.now() - started > MAX_TRY_MS) break;
      await sleep(pauseMs);
    }
  }
  return checks.map(() => ({ status: 'unavailable' }));
}

/** A failed try is not repeated later than this after the start of the first one. */
const MAX_TRY_MS = 2_000;

/** Sends a batch of checks, each to its merchant's contract. */
async function askContracts(chain: Chain, checks: readonly PaymentCheck[]): Promise<CheckResult[]> {
  const known = checks.filter((one) => knowsMerchant(chain.config, one.merchantNumber));
  const groups = Map.groupBy(known, (one) => contractOf(chain.config, one.merchantNumber));
  const answers = new Map<PaymentCheck, CheckResult>();
  for (const [settlement, some] of groups) {
    const results = await askContract(chain, settlement, some);
    for (const [index, check] of some.entries()) {
      answers.set(check, present(results[index], 'result of a check'));
    }
  }
  return checks.map((check) => answers.get(check) ?? { status: 'unavailable' });
}

async function askContract(
  chain: Chain,
  settlement: Hex,
  checks: readonly PaymentCheck[],
): Promise<CheckResult[]> {
  const payments = checks.map((check): PaymentCall => ({ ...check, number: NO_NUMBER }));
  const words = arrayWords(payments.length, 1);
  const call = { to: lensOf(settlement), data: preflightCall(payments), words };
  const [answer] = await chain.calls([call], 'latest', URGENT);
  // The contract is paused, which says nothing about the payments (see network-readiness.ts).
  if (isPaused(answer)) return checks.map(() => ({ status: 'unavailable' }));
  const reasons = decodeView(answer, (data) =>
    decodeFunctionResult({ abi: settlementLensAbi, functionName: 'preflight', data }).map(
      paymentReason,
    ),
  );
  // Most payments pass, so the data that explains a decline is read only when needed.
  const known = reasons.some(needsExplaining)
    ? await readAccounts(chain, settlement, checks)
    : null;
  return reasons.map((reason, index) => {
    const check = present(checks[index], 'check');
    if (known === null || !needsExplaining(reason)) return plainResult(reason);
    const account = present(known.accounts[index], 'payer account');
    return explain({ reason, check, account, rates: known.rates });
  });
}

const URGENT = { urgent: true } as const;

/** Returns how many words a response with one array has. */
function arrayWords(items: number, wordsEach: number): number {
  return 2 + items * wordsEach;
}

function isPaused(answer: CallAnswer | undefined): boolean {
  if (answer === undefined || answer.ok) return false;
  const revert = readRevert(answer.revertData);
  return revert.kind === 'passing' && revert.error === 'SettlingIsPaused';
}

async function readAccounts(chain: Chain, settlement: Hex, checks: readonly PaymentCheck[]) {
  const to = lensOf(settlement);
  const payers = checks.map((check) => check.payer);
  const words = arrayWords(payers.length, PAYER_ACCOUNT_WORDS);
  const answers = await chain.calls(
    [
      { to, data: payerAccountsCall(payers), words },
      { to, data: ratesCall(), words: RATES_WORDS },
    ],
    'latest',
    URGENT,
  );
  return {
    accounts: decodeView(answers[0], readPayerAccounts),
    rates: decodeView(answers[1], readRates),
  };
}

function declined(reason: FailureReason): CheckResult {
  return { status: 'declined', reason };
}

/**
 * True if the payer's account must be read, because another reason may take precedence over the
 * contract's.
 */
function needsExplaining(reason: PaymentReason): boolean {
  if (reason === 'None') return false;
  const decline = declineOf(reason);
  return decline === 'limit_exceeded' || decline === 'insufficient_funds';
}

function plainResult(reason: PaymentReason): CheckResult {
  if (reason === 'CeilingReached') return { status: 'hour_full' };
  return reason === 'None' ? { status: 'ok' } : declined(declineOf(reason));
}

/**
 * Chooses the reason to show. The contract alone decides whether a payment passes; if several
 * checks fail, the first in the order of behavior.md 12.1 is shown: approval, then funds, then
 * limits.
 */
function explain(known: {
  readonly reason: PaymentReason;
  readonly check: PaymentCheck;
  readonly account: PayerAccount;
  readonly rates: FeeRates;
}): CheckResult {
  const { pulled } = chargesOf(known.check.amount, known.rates);
  if (known.account.allowance < pulled) return declined('approval_insufficient');
  if (known.account.balance < pulled) return declined('insufficient_funds');
  return plainResult(known.reason);
}
