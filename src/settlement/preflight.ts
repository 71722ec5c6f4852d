import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { present } from '#core/assert.ts';
import { type Batcher, createBatcher } from '#db/batching.ts';
import type { CallAnswer, Chain } from '#settlement/chain.ts';
import {
  declineOf,
  type PaymentCall,
  paymentReason,
  preflightCall,
} from '#settlement/contract-calls.ts';
import { type PayerAccount, payerAccountsCall, readPayerAccounts } from '#settlement/payer.ts';
import type { FailureReason, Hex } from '#settlement/requests.ts';
import { RpcUnavailable } from '#settlement/rpc.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';

/** A sale that is about to be asked for. It has no number yet. */
interface PaymentCheck {
  readonly merchantNumber: bigint;
  readonly payer: Hex;
  readonly amount: bigint;
  readonly orderId: string;
}

/** `unavailable`: no node answered, so nothing is known. Decline nothing, ask for a later try. */
export type CheckResult =
  | { readonly status: 'ok' }
  | { readonly status: 'declined'; readonly reason: FailureReason }
  | { readonly status: 'unavailable' };

/** Says what the contract would say to a payment now, without spending gas. */
export type CheckPayment = (check: PaymentCheck) => Promise<CheckResult>;

/** Never handed out, so never settled. */
const NO_NUMBER = 2n ** 64n - 1n;
/** As many as a batch holds; more would make one slow call of two quick ones. */
const MAX_CHECKS = 100;
/** One is answered while the other fills. */
const CALLS_IN_FLIGHT = 2;

/**
 * What waits while earlier calls are under way goes as one call; a lone check goes at once.
 * Checks of one payer see each other not: the contract decides between them.
 */
export function createPaymentCheck(chain: Chain): CheckPayment {
  const batcher: Batcher<PaymentCheck, CheckResult> = createBatcher({
    run: (checks) => checkAll(chain, checks),
    maxInFlight: CALLS_IN_FLIGHT,
    maxItems: MAX_CHECKS,
  });
  return (check) => batcher.add(check);
}

async function checkAll(chain: Chain, checks: readonly PaymentCheck[]): Promise<CheckResult[]> {
  const { settlement } = chain.config;
  const payments = checks.map((check): PaymentCall => ({ ...check, number: NO_NUMBER }));
  const calls = [
    preflightCall(payments),
    payerAccountsCall(checks.map((check) => check.payer)),
    encodeFunctionData({ abi: settlementAbi, functionName: 'rates' }),
    encodeFunctionData({ abi: settlementAbi, functionName: 'settlingPaused' }),
  ];
  try {
    const [reasons, accounts, rates, paused] = await chain.calls(
      calls.map((data) => ({ to: settlement, data })),
    );
    // Nobody's payment is wrong: the network settles none at all (see readiness.ts).
    if (readPaused(paused)) return checks.map(() => ({ status: 'unavailable' }));
    const known = { rates: readRates(rates), accounts: readPayerAccounts(dataOf(accounts)) };
    return readReasons(reasons).map((reason, index) => {
      const check = present(checks[index], 'check');
      const account = present(known.accounts[index], 'payer account');
      return judge({ reason, check, account, rates: known.rates });
    });
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    return checks.map(() => ({ status: 'unavailable' }));
  }
}

function dataOf(answer: CallAnswer | undefined): Hex {
  if (answer?.ok === true) return answer.data;
  throw new RpcUnavailable(`a view of the contract reverted: ${answer?.message}`);
}

function readReasons(answer: CallAnswer | undefined): readonly number[] {
  const data = dataOf(answer);
  return decodeFunctionResult({ abi: settlementAbi, functionName: 'preflight', data });
}

interface Rates {
  readonly acquirer: number;
  readonly protocol: number;
  readonly cashback: number;
}

function readRates(answer: CallAnswer | undefined): Rates {
  return decodeFunctionResult({ abi: settlementAbi, functionName: 'rates', data: dataOf(answer) });
}

function readPaused(answer: CallAnswer | undefined): boolean {
  const data = dataOf(answer);
  return decodeFunctionResult({ abi: settlementAbi, functionName: 'settlingPaused', data });
}

function declined(reason: FailureReason): CheckResult {
  return { status: 'declined', reason };
}

/**
 * The contract decides whether a payment passes. When several things are wrong, the first in the
 * order of decisions.md section 7 is named: approval, then funds, then limits.
 */
function judge(known: {
  readonly reason: number;
  readonly check: PaymentCheck;
  readonly account: PayerAccount;
  readonly rates: Rates;
}): CheckResult {
  const reason = paymentReason(known.reason);
  if (reason === 'None') return { status: 'ok' };
  const decline = declineOf(reason);
  if (decline !== 'limit_exceeded' && decline !== 'insufficient_funds') return declined(decline);
  const pulled = amountPulled(known.check.amount, known.rates);
  if (known.account.allowance < pulled) return declined('approval_insufficient');
  if (known.account.balance < pulled) return declined('insufficient_funds');
  return declined(decline);
}

/** What leaves the payer's wallet. Each share is rounded down on its own, as the contract does. */
function amountPulled(amount: bigint, { acquirer, protocol, cashback }: Rates): bigint {
  const share = (points: number) => (amount * BigInt(points)) / 10_000n;
  return amount + share(acquirer) + share(protocol) - share(cashback);
}
