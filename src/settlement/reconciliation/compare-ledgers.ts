import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { addMs } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import {
  contractOf,
  contractsOf,
  contractVersionOf,
  firstBlockOf,
  numberOnContract,
} from '#settlement/contract-versions.ts';
import type { NoteRulesDeps } from '#settlement/reconciliation/note-contract-changes.ts';
import {
  type BlockRange,
  type Compared,
  type ComparedSince,
  type DifferenceRow,
  type OpenDifferenceRow,
  selectCursor,
  selectExpectedBalances,
  selectOpenDifferences,
  selectPaymentDifferences,
  selectRefundDifferences,
  selectWithdrawalDifferences,
} from '#settlement/reconciliation/reconcile-queries.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../../contracts/artifacts/SettlementLens.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

export interface Comparing extends Pick<NoteRulesDeps, 'chain' | 'db'> {
  readonly range: BlockRange;
  /** The state after the previous run; `null` to compare everything. */
  readonly since: Compared | null;
  /**
   * Only settlements before this time are compared; the rows of later ones may not be stored yet.
   */
  readonly settledBefore: Date;
  /** `false` skips comparing the contracts' tokens and keeps the stored differences. */
  readonly tokens: boolean;
  readonly readAgain: () => Promise<void>;
}

interface Comparison {
  readonly name: 'payments' | 'refunds' | 'withdrawals' | 'balances' | 'tokens';
  readonly find: (run: Comparing) => Promise<DifferenceRow[]>;
  /**
   * `found`: a difference is reported immediately. `found_twice`: only if it remains after the
   * events were read again, because a node may show a block's effects shortly before its events.
   */
  readonly report: 'found' | 'found_twice';
}

const COMPARISONS: readonly Comparison[] = [
  {
    name: 'payments',
    find: ({ db, range, settledBefore }) => selectPaymentDifferences(db, range, settledBefore),
    report: 'found',
  },
  {
    name: 'refunds',
    find: (run) => selectRefundDifferences(run.db, changed(run), run.settledBefore),
    report: 'found',
  },
  {
    name: 'withdrawals',
    find: (run) => selectWithdrawalDifferences(run.db, changed(run), run.settledBefore),
    report: 'found',
  },
  { name: 'balances', find: findBalances, report: 'found_twice' },
  { name: 'tokens', find: findTokens, report: 'found_twice' },
];

/** Longer than a transaction takes to commit, plus the difference between clocks. */
const CHANGED_MARGIN_MS = HOUR_MS;
const TOKEN_DIFFERENCE = 'token_balance_differs';

/**
 * Compares the payments, refunds and withdrawals that may have changed, each merchant's balance,
 * and the contracts' tokens.
 */
export async function compare(run: Comparing): Promise<DifferenceRow[]> {
  const all: DifferenceRow[] = [];
  for (const { name, find, report } of COMPARISONS) {
    const isKept = name === 'tokens' && !run.tokens;
    let differences = await (isKept ? findOpenTokens(run) : find(run));
    if (!isKept && report === 'found_twice' && differences.length > 0) {
      await run.readAgain();
      differences = await find(run);
    }
    all.push(...differences);
  }
  return all;
}

/** Returns the blocks and rows that may have changed since the previous run. */
function changed({ range, since }: Comparing): ComparedSince {
  if (since === null) return { ...range, fromBlock: 0n, since: new Date(0) };
  return { ...range, since: addMs(since.compared_at, -CHANGED_MARGIN_MS) };
}

/** Compares the contract's balances with the sum of its own events. */
async function findBalances({ chain, db, range }: Comparing): Promise<DifferenceRow[]> {
  const { toBlock } = range;
  const { livemode } = chain.config;
  const fromBlock = (await selectCursor(db, livemode))?.next_block ?? firstBlockOf(chain.config);
  const expected = await selectExpectedBalances(db, { livemode, fromBlock, toBlock });
  const answers = await chain.calls(
    expected.map((row) => ({
      to: contractOf(chain.config, row.merchant_number),
      data: accountCall(row.merchant_number),
      words: 3,
    })),
    toBlock,
  );
  return expected.flatMap((row, index) => {
    const answer = answers[index];
    const actual = answer?.ok === true ? readBalance(answer.data) : null;
    if (actual === row.balance) return [];
    const details = { events: row.balance.toString(), contract: actual?.toString() ?? null };
    return [{ kind: 'balance_differs', subject: `merchant ${row.merchant_number}`, details }];
  });
}

/**
 * Compares each contract's token balance with its debts: each merchant's balance according to its
 * events, plus the booked fees.
 */
async function findTokens({ chain, db, range }: Comparing): Promise<DifferenceRow[]> {
  const { toBlock } = range;
  const { livemode, usdc } = chain.config;
  const contracts = contractsOf(chain.config);
  const fromBlock = (await selectCursor(db, livemode))?.next_block ?? firstBlockOf(chain.config);
  const merchants = await selectExpectedBalances(db, { livemode, fromBlock, toBlock });
  const answers = await chain.calls(
    contracts.flatMap(({ settlement }) => [
      { to: usdc, data: heldCall(settlement), words: 1 },
      { to: lensOf(settlement), data: FEES_CALL, words: 2 },
    ]),
    toBlock,
  );
  const open = await findOpenTokens({ db, range });
  return contracts.flatMap((_, contractVersion) => {
    const [held, fees] = answers.slice(2 * contractVersion);
    const mine = merchants.filter(
      ({ merchant_number: n }) => contractVersionOf(n) === contractVersion,
    );
    const owed = [decodeView(fees, readFees), ...mine.map(({ balance }) => balance)];
    const surplus = owed.reduce((left, one) => left - one, decodeView(held, BigInt));
    if (surplus === 0n) return [];
    const subject = contractVersion === 0 ? 'contract' : `contract ${contractVersion + 1}`;
    const known = open.find((one) => one.subject === subject);
    return [{ kind: TOKEN_DIFFERENCE, subject, details: surplusDetails(surplus, known) }];
  });
}

async function findOpenTokens({
  db,
  range,
}: Pick<Comparing, 'db' | 'range'>): Promise<OpenDifferenceRow[]> {
  return selectOpenDifferences(db, range.livemode, TOKEN_DIFFERENCE);
}

/**
 * Anyone can send the contract small amounts, repeatedly. After an operator has accepted a surplus,
 * it is reported again only when it has grown by this much. A smaller surplus is reported
 * immediately, because tokens must not be taken out unnoticed.
 */
const GROWTH_THAT_ASKS = 1_000_000n;

/**
 * Returns the details of a surplus: its sum, and the part that an operator has accepted. They omit
 * the sums held and owed, because those change with each sale, and an acceptance ends when the
 * details change.
 */
function surplusDetails(surplus: bigint, open: OpenDifferenceRow | undefined) {
  const told = { surplus: `${surplus}` };
  const before = open?.accepted === true ? open.details.surplus : open?.details.accepted;
  if (before === undefined) return told;
  const accepted = BigInt(String(before));
  const isAccepted = surplus >= accepted && surplus < accepted + GROWTH_THAT_ASKS;
  if (open?.accepted === true && isAccepted) return open.details;
  return { ...told, accepted: `${accepted}` };
}

function heldCall(settlement: Hex) {
  return encodeFunctionData({ abi: testUsdcAbi, functionName: 'balanceOf', args: [settlement] });
}

const FEES_CALL = encodeFunctionData({ abi: settlementLensAbi, functionName: 'bookedFees' });

function readFees(data: Hex): bigint {
  const fees = decodeFunctionResult({ abi: settlementLensAbi, functionName: 'bookedFees', data });
  return fees[0] + fees[1];
}

function accountCall(merchantNumber: bigint) {
  return encodeFunctionData({
    abi: settlementAbi,
    functionName: 'merchantAccount',
    args: [numberOnContract(merchantNumber)],
  });
}

function readBalance(data: Hex): bigint {
  const [, balance] = decodeFunctionResult({
    abi: settlementAbi,
    functionName: 'merchantAccount',
    data,
  });
  return balance;
}
