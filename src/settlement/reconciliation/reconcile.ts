import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import type { Database, Tx } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { type WalkedRange, walkEvents } from '#settlement/chain/chain-walk.ts';
import { decodeView } from '#settlement/chain/decode.ts';
import { shownBlock } from '#settlement/chain/final-block.ts';
import { type OtherEvent, readEvents } from '#settlement/contract/contract-events.ts';
import { lensOf } from '#settlement/contract/lens.ts';
import {
  contractOf,
  contractsOf,
  editionOf,
  firstBlockOf,
  numberOnContract,
} from '#settlement/editions.ts';
import { forgetCompared, markCompared } from '#settlement/network-recovery-queries.ts';
import { raiseAboveChain } from '#settlement/numbers.ts';
import { noteForeign } from '#settlement/reconciliation/note-foreign.ts';
import {
  changesRules,
  logNews,
  type NotedRules,
  type NoteRulesDeps,
  noteRules,
} from '#settlement/reconciliation/note-rules.ts';
import {
  addBalances,
  type BlockRange,
  type Compared,
  type DifferenceRow,
  lockCursor,
  markRead,
  moveCompared,
  moveCursor,
  type OpenDifferenceRow,
  resetCursor,
  saveDifferences,
  selectCompared,
  selectCursor,
  selectExpectedBalances,
  selectFirstWaiting,
  selectLostTo,
  selectOpenDifferences,
  selectPaymentDifferences,
  selectRefundDifferences,
  selectUnread,
  selectWithdrawalDifferences,
} from '#settlement/reconciliation/reconcile-queries.ts';
import { stageRange } from '#settlement/reconciliation/stage-range.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../../contracts/artifacts/SettlementLens.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

export type ReconcileDeps = NoteRulesDeps;

export interface ReconcileOptions {
  /** Read the chain again from the contract's deployment on. */
  readonly rebuild?: boolean;
  /** Compare all refunds and withdrawals ever made, not only what can have changed. */
  readonly everything?: boolean;
  /** Anything younger is still on its way between chain and rows. Default: GRACE_MS. */
  readonly graceMs?: number;
  /** false: what is known of the contract's tokens stays as it is. Saves two calls. */
  readonly tokens?: boolean;
}

export interface Reconciliation {
  readonly network: Chain['config']['network'];
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly events: number;
  /** Those that nobody has accepted. */
  readonly differences: readonly DifferenceRow[];
}

/** Longer than a payment takes from its block to its row, including a restart of the service. */
const GRACE_MS = 60_000;
/**
 * What no bytes of ours explain needs no such grace, because bytes are stored before they are sent.
 * A node that answers for another chain is found out within this time.
 */
const FOREIGN_GRACE_MS = 15_000;
/** Longer than a transaction of ours takes to commit, and than clocks differ. */
const CHANGED_MARGIN_MS = 3_600_000;
const TOKEN_DIFFERENCE = 'token_balance_differs';

/**
 * Reads the contract's events since the last run, stores what they say, and compares in both
 * directions: payments, refunds and withdrawals one by one, each merchant's balance, and the
 * contract's tokens.
 * Differences become rows that stay open until a run does not find them any more. It never corrects
 * our own rows. What no row explains is written down as foreign.
 * @throws RpcUnavailable when no node answers; the cursor stays where it was.
 */
export async function reconcileOnce(
  deps: ReconcileDeps,
  options: ReconcileOptions = {},
): Promise<Reconciliation> {
  const { chain, db, clock, log } = deps;
  const { livemode, network } = chain.config;
  if (options.rebuild === true) {
    await db.transaction(async (tx) => {
      await resetCursor(tx, livemode, firstBlockOf(chain.config));
      await forgetCompared(tx, livemode);
    });
  }
  const head = present(await chain.block('latest'), 'newest block');
  const settledBefore = addMs(clock.now(), -(options.graceMs ?? GRACE_MS));
  const final = await shownBlock(chain, head.number);
  const fromBlock = (await selectCursor(db, livemode)) ?? firstBlockOf(chain.config);
  const compared = await selectCompared(db, livemode);
  const unread = await selectUnread(db, livemode);
  const walked: Walk = {
    ...{ fromBlock, toBlock: head.number, final, settledBefore, unread },
    watchedFrom: options.rebuild === true ? 0n : head.number + 1n,
    lostTo: await selectLostTo(db, livemode),
  };
  const { events, final: readTo } = await storeEvents(deps, walked);
  await db.transaction((tx) => raiseAboveChain(tx, livemode));
  // A run that was cut off has moved the cursor, and compared nothing.
  const first = compared === null ? fromBlock : least(fromBlock, compared.compared_block);
  const range = { livemode, fromBlock: first, toBlock: head.number };
  const since = options.everything === true ? null : compared;
  const found = [
    ...(await compareRows(db, range, { since, settledBefore })),
    ...(await compareSums(deps, walked, options)),
    ...(options.tokens === false
      ? await selectOpenDifferences(db, livemode, TOKEN_DIFFERENCE)
      : []),
  ];
  // The next run looks at these again, wherever the cursor is by then.
  const waiting = await selectFirstWaiting(db, livemode);
  const doneTo = waiting === null ? head.number : least(waiting - 1n, head.number);
  const open = await db.transaction(async (tx) => {
    await moveCompared(tx, compared, { livemode, toBlock: doneTo, before: settledBefore });
    return saveDifferences(tx, livemode, found, clock.now());
  });
  const foreignMs = Math.min(options.graceMs ?? FOREIGN_GRACE_MS, FOREIGN_GRACE_MS);
  const before = addMs(clock.now(), -foreignMs);
  await db.transaction((tx) => noteForeign(tx, { ...range, before }, clock.now()));
  await readUnread(deps, walked);
  if (!open.some(({ kind, accepted }) => !accepted && kind.endsWith('_unknown_here'))) {
    const { incarnation } = db.watch;
    await markCompared(db, { livemode, incarnation, block: least(readTo, doneTo) });
  }
  const differences = open.filter((difference) => !difference.accepted);
  if (differences.length > 0) {
    log.error('chain and database differ', { network, differences: differences.length });
  }
  return { network, fromBlock, toBlock: head.number, events, differences };
}

/**
 * Whether the database has lost what it knew of it: after the contract's deployment, and up to the
 * block that the last recovery after a loss has read.
 */
function isOfLostTime(
  { chain }: ReconcileDeps,
  { lostTo }: Pick<Walk, 'lostTo'>,
  { blockNumber, edition }: OtherEvent,
): boolean {
  const deployedAt = contractsOf(chain.config)[edition]?.deployedAtBlock ?? 0n;
  return lostTo !== null && blockNumber <= lostTo && blockNumber > deployedAt;
}

/**
 * What was done on a contract until the service first read it: recorded once, and no news, unless
 * the service had read it before a loss.
 */
async function readUnread(
  deps: ReconcileDeps,
  { unread, toBlock, lostTo }: Pick<Walk, 'unread' | 'toBlock' | 'lostTo'>,
): Promise<void> {
  const { chain, db } = deps;
  const { livemode } = chain.config;
  const contracts = contractsOf(chain.config);
  for (const edition of unread) {
    const contract = contracts[edition];
    if (contract === undefined) continue;
    const { settlement: address, deployedAtBlock } = contract;
    const logs = await chain.logs({ address, fromBlock: deployedAtBlock, toBlock });
    const events = readEvents(chain.config, logs).filter(changesRules);
    const isOlder = (event: OtherEvent) => !isOfLostTime(deps, { lostTo }, event);
    const { news } = await db.transaction(async (tx) => {
      await markRead(tx, { livemode, edition });
      return noteRules(tx, deps, { events, isOlder });
    });
    logNews(deps, news);
  }
}

interface Walk {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly final: bigint;
  readonly settledBefore: Date;
  /** Where an empty ledger begins to watch: what is older is no news. */
  readonly watchedFrom: bigint;
  /** The last block of the time that the database has lost; null: it has lost nothing. */
  readonly lostTo: bigint | null;
  /** Contracts whose rule changes {@link readUnread} reads. */
  readonly unread: readonly number[];
}

/**
 * Compares balances and tokens in the newest block. A node may show what a block has done a moment
 * before it shows its events. So what differs counts if it still does when they were read again.
 */
async function compareSums(
  deps: ReconcileDeps,
  walk: Walk,
  { tokens }: ReconcileOptions,
): Promise<DifferenceRow[]> {
  const { chain, db } = deps;
  const look = async () => [
    ...(await compareBalances(deps, walk.toBlock)),
    ...(tokens === false ? [] : await compareTokens(deps, walk.toBlock)),
  ];
  const found = await look();
  if (found.length === 0) return found;
  const fromBlock = (await selectCursor(db, chain.config.livemode)) ?? walk.fromBlock;
  await storeEvents(deps, { ...walk, fromBlock });
  return look();
}

/** Stores what the contract's events say. `final`: the last block that is read for good. */
async function storeEvents(
  deps: ReconcileDeps,
  walk: Walk,
): Promise<{ events: number; final: bigint }> {
  let events = 0;
  let { final } = walk;
  for await (const range of walkEvents(deps.chain, walk.fromBlock, walk.toBlock)) {
    events += range.events.length;
    // What is too young to be compared is read again, even if its chain calls it final already.
    const young = firstSince(range, walk.settledBefore);
    if (young !== null && young <= final) final = young - 1n;
    const { news } = await deps.db.transaction((tx) =>
      storeRange(tx, deps, range, { ...walk, final }),
    );
    logNews(deps, news);
  }
  return { events, final };
}

/** Compares payments, refunds and withdrawals one by one: what can have changed since a run. */
async function compareRows(
  db: Database,
  range: BlockRange,
  { since, settledBefore }: { since: Compared | null; settledBefore: Date },
): Promise<DifferenceRow[]> {
  const changed =
    since === null
      ? { ...range, fromBlock: 0n, since: new Date(0) }
      : { ...range, since: addMs(since.compared_at, -CHANGED_MARGIN_MS) };
  return [
    ...(await selectPaymentDifferences(db, range, settledBefore)),
    ...(await selectRefundDifferences(db, changed, settledBefore)),
    ...(await selectWithdrawalDifferences(db, changed, settledBefore)),
  ];
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The first block of the range that holds an event and is not older than `since`, or null. */
function firstSince({ times }: WalkedRange, since: Date): bigint | null {
  const young = [...times].flatMap(([number, time]) => (time >= since ? [number] : []));
  return young.reduce<bigint | null>((least, n) => (least === null || n < least ? n : least), null);
}

/**
 * Stores a range's events, and reports its rule changes in the same transaction. The
 * cursor moves over the final part only: the rest is read again.
 */
async function storeRange(
  tx: Tx,
  deps: ReconcileDeps,
  walked: WalkedRange,
  walk: Walk,
): Promise<NotedRules> {
  const { livemode } = deps.chain.config;
  const { fromBlock, toBlock, events } = walked;
  const wanted = { livemode, start: fromBlock, watchedFrom: walk.watchedFrom };
  const cursor = await lockCursor(tx, wanted, deps.clock.now());
  const { next_block: start, watched_from: watchedFrom } = cursor;
  await stageRange(tx, livemode, walked);
  const last = least(walk.final, toBlock);
  if (last >= start) {
    await addBalances(tx, { livemode, fromBlock: start, toBlock: last });
    await moveCursor(tx, livemode, last + 1n);
  }
  return noteRules(tx, deps, {
    events: events.filter(changesRules).filter(({ edition }) => !walk.unread.includes(edition)),
    isOlder: (event) => event.blockNumber < watchedFrom && !isOfLostTime(deps, walk, event),
  });
}

/** Compares the contract's balances with the sum of its own events. */
async function compareBalances(deps: ReconcileDeps, toBlock: bigint): Promise<DifferenceRow[]> {
  const { chain, db } = deps;
  const { livemode } = chain.config;
  const fromBlock = (await selectCursor(db, livemode)) ?? firstBlockOf(chain.config);
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
 * Compares what each contract holds of the token with what it owes: what its events give each
 * merchant, and the booked fees.
 */
async function compareTokens(deps: ReconcileDeps, toBlock: bigint): Promise<DifferenceRow[]> {
  const { chain, db } = deps;
  const { livemode, usdc } = chain.config;
  const contracts = contractsOf(chain.config);
  const fromBlock = (await selectCursor(db, livemode)) ?? firstBlockOf(chain.config);
  const merchants = await selectExpectedBalances(db, { livemode, fromBlock, toBlock });
  const answers = await chain.calls(
    contracts.flatMap(({ settlement }) => [
      { to: usdc, data: heldCall(settlement), words: 1 },
      { to: lensOf(settlement), data: FEES_CALL, words: 2 },
    ]),
    toBlock,
  );
  const open = await selectOpenDifferences(db, livemode, TOKEN_DIFFERENCE);
  return contracts.flatMap((_, edition) => {
    const [held, fees] = answers.slice(2 * edition);
    const mine = merchants.filter(({ merchant_number: n }) => editionOf(n) === edition);
    const owed = [decodeView(fees, readFees), ...mine.map(({ balance }) => balance)];
    const surplus = owed.reduce((left, one) => left - one, decodeView(held, BigInt));
    if (surplus === 0n) return [];
    const subject = edition === 0 ? 'contract' : `contract ${edition + 1}`;
    const known = open.find((one) => one.subject === subject);
    return [{ kind: TOKEN_DIFFERENCE, subject, details: tellSurplus(surplus, known) }];
  });
}

/**
 * Anybody can send the contract some atoms, as often as they like. What a person has accepted stays
 * accepted until this much more is there. Less than was accepted is news at once: nobody can take
 * tokens out.
 */
const GROWTH_THAT_ASKS = 1_000_000n;

/**
 * What is too much or too little; the sums themselves change with each sale. `accepted`: how much
 * of it a person has accepted before. Details that stay the same stay accepted.
 */
function tellSurplus(surplus: bigint, open: OpenDifferenceRow | undefined) {
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
