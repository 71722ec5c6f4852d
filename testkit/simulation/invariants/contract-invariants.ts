import {
  type Abi,
  encodeEventTopics,
  encodeFunctionData,
  hexToBigInt,
  numberToHex,
  zeroAddress,
} from 'viem';
import type { Sql } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { readEvents, type SettlementEvent } from '#settlement/contract/contract-events.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import type { Invariant } from '#testkit/simulation/invariants/invariant.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../../contracts/artifacts/SettlementLens.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

/** The batch number of a withdrawal that the merchant's own wallet sent. */
const OF_THE_WALLET = 0n;
/** Blocks per `eth_getLogs` call. */
const RANGE = 500n;
/** Hex digits of a word. */
const WORD = 64;

type Settled = Extract<SettlementEvent, { event: 'PaymentSettled' }>;
type Refunded = Extract<SettlementEvent, { event: 'PaymentRefunded' }>;
type Withdrawn = Extract<SettlementEvent, { event: 'Withdrawn' }>;

/** The ledger and the chain data of one network, read once for all invariants. */
export interface BothSides {
  readonly db: Sql;
  readonly chain: Chain;
  readonly rows: readonly PaymentRow[];
  readonly settled: readonly Settled[];
  /** Settlements that cannot be booked, because their merchants' accounts were lost. */
  readonly unbookable: readonly Settled[];
  readonly refunded: readonly Refunded[];
  readonly withdrawn: readonly Withdrawn[];
}

interface PaymentRow {
  id: string;
  settlement_number: bigint;
  payer_address: string;
  order_id: string;
  amount: bigint;
  fee_acquirer: bigint;
  fee_protocol: bigint;
  fee_cashback: bigint;
  /** The batch number; `null` if the relayer has no record of the payment. */
  batch_number: bigint | null;
  tx_hash: string | null;
  /** The transaction hash in the payment's row, which its receipt shows. */
  shown_tx_hash: string | null;
  shown_block: bigint | null;
  shown_log_index: number | null;
  amount_refunded: bigint;
  merchant_number: bigint | null;
}

/** Reads all events that the settlement contract has ever emitted. */
export async function readContractEvents(chain: Chain): Promise<SettlementEvent[]> {
  const toBlock = (await chain.block('latest'))?.number ?? 0n;
  return readEvents(chain.config, await chain.logs({ fromBlock: 0n, toBlock }));
}

/**
 * Reads the ledger and the chain. `unbookable` contains the settlement numbers of merchants whose
 * accounts were lost.
 */
export async function readBothSides(
  db: Sql,
  chain: Chain,
  unbookable: ReadonlySet<bigint> = new Set(),
): Promise<BothSides> {
  const events = await readContractEvents(chain);
  const settled = events.filter((event): event is Settled => event.event === 'PaymentSettled');
  return {
    db,
    chain,
    rows: await selectPayments(db, chain.config.livemode),
    settled: settled.filter(({ number }) => !unbookable.has(number)),
    unbookable: settled.filter(({ number }) => unbookable.has(number)),
    refunded: events.filter((event): event is Refunded => event.event === 'PaymentRefunded'),
    withdrawn: events.filter((event): event is Withdrawn => event.event === 'Withdrawn'),
  };
}

/** Uses left joins, so that payments whose related rows are missing are found as well. */
async function selectPayments(db: Sql, livemode: boolean): Promise<PaymentRow[]> {
  return db.query<PaymentRow>(
    `select p.id, p.settlement_number, p.payer_address, p.order_id, p.amount, p.fee_acquirer,
       p.fee_protocol, p.fee_cashback, c.batch_number, c.tx_hash, p.tx_hash as shown_tx_hash,
       p.block_number as shown_block, p.log_index as shown_log_index, p.amount_refunded,
       m.merchant_number
     from payments p
     left join chain_payments c on c.livemode = p.livemode and c.number = p.settlement_number
     left join account_modes m on m.account_id = p.account_id and m.livemode = p.livemode
     where p.livemode = $1`,
    [livemode],
  );
}

/**
 * True if the row and the event agree on everything: payer, order, merchant, amounts, and position
 * on the chain.
 */
function samePayment(row: PaymentRow, event: Settled): boolean {
  return (
    row.payer_address.toLowerCase() === event.payer.toLowerCase() &&
    row.order_id === event.orderId &&
    row.amount === event.amount &&
    row.merchant_number === event.merchantNumber &&
    row.fee_acquirer === event.feeAcquirer &&
    row.fee_protocol === event.feeProtocol &&
    row.fee_cashback === event.cashback &&
    row.batch_number === event.batchNumber &&
    row.tx_hash === event.txHash &&
    row.shown_tx_hash === event.txHash &&
    row.shown_block === event.blockNumber &&
    row.shown_log_index === event.logIndex
  );
}

/**
 * Checks that each payment has exactly one settlement and that each settlement has a payment, with
 * equal amounts.
 */
function comparePayments({ rows, settled }: BothSides): string[] {
  const broken: string[] = [];
  const byNumber = Map.groupBy(settled, (event) => event.number);
  for (const row of rows) {
    const events = byNumber.get(row.settlement_number) ?? [];
    const [event] = events;
    if (event === undefined) broken.push(`${row.id} was not settled on the chain`);
    else if (events.length > 1) broken.push(`${row.id} was settled ${events.length} times`);
    else if (!samePayment(row, event)) broken.push(`${row.id} differs from its settlement`);
  }
  const known = Map.groupBy(rows, (row) => row.settlement_number);
  for (const number of byNumber.keys()) {
    if (!known.has(number)) broken.push(`settlement ${number} of the chain is no payment of ours`);
  }
  for (const [number, { length }] of known) {
    if (length > 1) broken.push(`settlement ${number} of the chain is ${length} payments of ours`);
  }
  return broken;
}

/** Checks that an alarm reports each settlement that cannot be booked. */
async function checkAlarms({ db, chain, unbookable }: BothSides): Promise<string[]> {
  const rows = await db.query<{ subject: string }>(
    `select subject from chain_alarms where livemode = $1 and kind = 'foreign_settlement'`,
    [chain.config.livemode],
  );
  const known = new Set(rows.map(({ subject }) => subject));
  return unbookable
    .filter(({ number }) => !known.has(`payment ${number}`))
    .map(({ number }) => `settlement ${number} is not booked, and no alarm names it`);
}

function compareRefunds({ rows, refunded }: BothSides): string[] {
  const byNumber = Map.groupBy(refunded, (event) => event.number);
  return rows.flatMap((row) => {
    const events = byNumber.get(row.settlement_number) ?? [];
    const onChain = events.reduce((sum, event) => sum + event.amount, 0n);
    if (onChain === row.amount_refunded) return [];
    return [`${row.id} was refunded ${onChain} on the chain, ${row.amount_refunded} in the ledger`];
  });
}

interface WithdrawalRow {
  id: string;
  /** The batch number; `null` if neither the withdrawal nor its job has one. */
  number: bigint | null;
  /** True if the batch numbers of the withdrawal and its job differ. */
  two_numbers: boolean;
  wallet: string;
  amount: bigint;
  merchant_number: bigint | null;
}

async function selectWithdrawals(db: Sql, livemode: boolean): Promise<WithdrawalRow[]> {
  return db.query<WithdrawalRow>(
    `select w.id, coalesce(w.number, r.number) as number, w.wallet, w.amount, m.merchant_number,
       coalesce(w.number <> r.number, false) as two_numbers
     from withdrawals w
     left join chain_requests r
       on r.kind = 'withdrawal' and r.subject_id = w.id and r.status = 'succeeded'
     left join account_modes m on m.account_id = w.account_id and m.livemode = w.livemode
     where w.livemode = $1 and w.status = 'succeeded'`,
    [livemode],
  );
}

function sameWithdrawal(row: WithdrawalRow, event: Withdrawn): boolean {
  return (
    row.amount === event.amount &&
    row.merchant_number === event.merchantNumber &&
    row.wallet.toLowerCase() === event.wallet.toLowerCase()
  );
}

/**
 * Checks that each withdrawal has exactly one transfer and that each transfer has a withdrawal.
 * Ignores withdrawals that a merchant's wallet sent itself.
 */
async function compareWithdrawals({ db, chain, withdrawn }: BothSides): Promise<string[]> {
  const rows = await selectWithdrawals(db, chain.config.livemode);
  const ours = withdrawn.filter(({ number }) => number !== OF_THE_WALLET);
  const byNumber = Map.groupBy(ours, ({ number }) => number);
  const broken = rows.flatMap((row) => {
    if (row.two_numbers) return [`${row.id} has another number than its request`];
    const events = row.number === null ? [] : (byNumber.get(row.number) ?? []);
    const [event] = events;
    if (event === undefined) return [`${row.id} was not withdrawn on the chain`];
    if (events.length > 1) return [`${row.id} was withdrawn ${events.length} times`];
    return sameWithdrawal(row, event) ? [] : [`${row.id} differs from its withdrawal`];
  });
  const known = new Set(rows.map(({ number }) => number));
  for (const [number, { length }] of Map.groupBy(rows, (row) => row.number)) {
    if (length > 1) broken.push(`transfer ${number} of the chain is ${length} withdrawals of ours`);
  }
  for (const number of byNumber.keys()) {
    if (!known.has(number)) broken.push(`transfer ${number} of the chain is no withdrawal of ours`);
  }
  return broken;
}

interface View {
  readonly abi: Abi;
  readonly functionName: string;
  readonly args?: readonly unknown[];
}

/**
 * Calls a view function of a contract.
 * @returns the 32-byte words of its result
 */
async function readWords(chain: Chain, to: Hex, view: View): Promise<bigint[]> {
  const [answer] = await chain.calls([{ to, data: encodeFunctionData(view), words: 'any' }]);
  if (answer?.ok !== true) throw new Error('a read of the chain reverted');
  const words = answer.data.slice(2).match(new RegExp(`.{${WORD}}`, 'g')) ?? [];
  return words.map((word) => hexToBigInt(`0x${word}`));
}

async function heldBy(chain: Chain, merchant: bigint): Promise<bigint> {
  const account = { abi: settlementAbi, functionName: 'merchantAccount', args: [Number(merchant)] };
  const [, held = 0n] = await readWords(chain, chain.config.settlement, account);
  return held;
}

/** Returns the contract's token balance in atoms. */
async function heldInAll(chain: Chain): Promise<bigint> {
  const { usdc, settlement } = chain.config;
  const balance = { abi: testUsdcAbi, functionName: 'balanceOf', args: [settlement] };
  const [held = 0n] = await readWords(chain, usdc, balance);
  return held;
}

/**
 * Checks that each merchant's balance on the contract equals its payments minus refunds and
 * withdrawals.
 */
async function compareBalances({ chain, rows, withdrawn }: BothSides): Promise<string[]> {
  const broken: string[] = [];
  for (const [merchant, payments] of Map.groupBy(rows, (row) => row.merchant_number)) {
    if (merchant === null) continue; // Differences of its payments were reported before.
    const paid = payments.reduce((sum, row) => sum + row.amount - row.amount_refunded, 0n);
    const taken = withdrawn
      .filter(({ merchantNumber }) => merchantNumber === merchant)
      .reduce((sum, { amount }) => sum + amount, 0n);
    const held = await heldBy(chain, merchant);
    if (held !== paid - taken) {
      broken.push(`merchant ${merchant} has ${held} on the chain, ${paid - taken} in the ledger`);
    }
  }
  return broken;
}

interface Books {
  readonly account_id: string;
  readonly merchant_numbers: string;
  /** The sum of all ledger entries, as the account's statements list them. */
  readonly booked: bigint;
  /** The sum of booked payouts that the merchant's own wallet sent. Only final ones are booked. */
  readonly own: bigint;
}

async function selectBooks(db: Sql, livemode: boolean): Promise<Books[]> {
  return db.query<Books>(
    `with entries as (
       select account_id, amount, false as is_own from payments
       where livemode = $1 and not recovered
       union all
       select account_id, amount, object_id like 'own\\_%' from balance_entries where livemode = $1
     ), sums as (
       select account_id, sum(amount) as booked, sum(-amount) filter (where is_own) as own
       from entries group by account_id
     )
     select m.account_id, string_agg(m.merchant_number::text, ' ') as merchant_numbers,
       coalesce(max(s.booked), 0)::bigint as booked, coalesce(max(s.own), 0)::bigint as own
     from merchant_accounts m left join sums s using (account_id)
     where m.livemode = $1 group by m.account_id`,
    [livemode],
  );
}

/** Compares each account's ledger with its balance on the contract. */
async function compareBooks({ db, chain, withdrawn }: BothSides): Promise<string[]> {
  const broken: string[] = [];
  for (const books of await selectBooks(db, chain.config.livemode)) {
    const merchants = books.merchant_numbers.split(' ').map(BigInt);
    let held = -books.own;
    for (const merchant of merchants) held += await heldBy(chain, merchant);
    for (const { number, merchantNumber, amount } of withdrawn) {
      if (number === OF_THE_WALLET && merchants.includes(merchantNumber)) held += amount;
    }
    if (held === books.booked) continue;
    broken.push(`the books of ${books.account_id} have ${books.booked}, the contract ${held}`);
  }
  return broken;
}

/** Returns the atoms that a settlement took from its payer. */
function takenBy({ amount, feeAcquirer, feeProtocol, cashback }: Settled): bigint {
  return amount + feeAcquirer + feeProtocol - cashback;
}

/**
 * Checks that the contract's token balance equals the merchants' balances, plus fees, minus
 * cashback, plus everything that unbookable settlements took.
 */
async function compareTokens(sides: BothSides): Promise<string[]> {
  const { chain, rows, withdrawn, unbookable } = sides;
  const held = await heldInAll(chain);
  const taken = withdrawn.reduce((sum, { amount }) => sum + amount, 0n);
  const unbooked = unbookable.reduce((sum, one) => sum + takenBy(one), 0n);
  const owed = rows.reduce(
    (sum, row) =>
      sum +
      row.amount -
      row.amount_refunded +
      row.fee_acquirer +
      row.fee_protocol -
      row.fee_cashback,
    unbooked - taken,
  );
  return held === owed ? [] : [`the contract holds ${held} USDC atoms, the ledger knows ${owed}`];
}

interface ChargedIntent {
  number: bigint;
  id: string;
  status: string;
  /** Number of the settlement that paid the intent; `null` if it has no payment. */
  paid_by: bigint | null;
}

/** Selects the intents whose settlement numbers the chain has settled. */
async function selectCharged(db: Sql, livemode: boolean, numbers: readonly bigint[]) {
  return db.query<ChargedIntent>(
    `select n.number, i.id, i.status, p.settlement_number as paid_by
     from (
       select payment_intent_id as id, number from settlement_numbers
       where livemode = $1 and number = any($2)
       union
       select id, settlement_number from payment_intents
       where livemode = $1 and settlement_number = any($2)) n
     join payment_intents i on i.id = n.id
     left join payments p on p.payment_intent_id = i.id`,
    [livemode, numbers],
  );
}

/** Checks that each charge paid its own intent, and only once. */
async function compareIntents({ db, chain, settled }: BothSides): Promise<string[]> {
  const charged = [...new Set(settled.map(({ number }) => number))];
  const intents = await selectCharged(db, chain.config.livemode, charged);
  const byNumber = Map.groupBy(settled, ({ number }) => number);
  const times = (number: bigint) => byNumber.get(number)?.length ?? 0;
  const broken: string[] = [];
  for (const [id, numbers] of Map.groupBy(intents, (intent) => intent.id)) {
    const charges = numbers.reduce((sum, { number }) => sum + times(number), 0);
    if (charges > 1) broken.push(`${id} was charged ${charges} times`);
    for (const { number, status, paid_by: paidBy } of numbers) {
      if (status !== 'succeeded') broken.push(`${id} is ${status} and was charged`);
      else if (paidBy !== number) broken.push(`${id} was charged by ${number}, not by ${paidBy}`);
    }
  }
  const known = new Set(intents.map(({ number }) => number));
  for (const [number, [charge]] of byNumber) {
    if (!known.has(number)) broken.push(`${charge?.payer} was charged for no intent: ${number}`);
  }
  return broken;
}

/**
 * Checks that a merchant has only one sale per order, even if an intent was lost and created again.
 */
function compareOrders({ settled, unbookable }: BothSides): string[] {
  const all = [...settled, ...unbookable];
  const byOrder = Map.groupBy(all, (one) => `${one.orderId} of merchant ${one.merchantNumber}`);
  return [...byOrder]
    .filter(([, charges]) => charges.length > 1)
    .map(([order, charges]) => `order ${order} was charged ${charges.length} times`);
}

interface TokenLog {
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly transactionHash: Hex;
}

async function readLogs(chain: Chain, address: Hex, topics: readonly unknown[]) {
  const { number: head } = await chain.newest();
  const logs: TokenLog[] = [];
  for (let from = 0n; from <= head; from += RANGE) {
    const end = from + RANGE - 1n;
    const range = { fromBlock: numberToHex(from), toBlock: numberToHex(end < head ? end : head) };
    const result = await chain.rpc.call('eth_getLogs', [{ address, topics, ...range }]);
    logs.push(...(result as TokenLog[]));
  }
  return logs;
}

function readTransfers(chain: Chain, way: 'to' | 'from'): Promise<TokenLog[]> {
  const { usdc, settlement } = chain.config;
  const args = { [way]: settlement };
  return readLogs(
    chain,
    usdc,
    encodeEventTopics({ abi: testUsdcAbi, eventName: 'Transfer', args }),
  );
}

/**
 * Reads how many atoms each address paid to the contract, minus the atoms that the contract paid to
 * the address.
 */
async function readFlows(chain: Chain): Promise<Map<string, bigint>> {
  const flows = new Map<string, bigint>();
  for (const [way, sign, party] of [['to', 1n, 1] as const, ['from', -1n, 2] as const]) {
    for (const { topics, data } of await readTransfers(chain, way)) {
      const who = `0x${topics[party]?.slice(-40)}`;
      flows.set(who, (flows.get(who) ?? 0n) + sign * hexToBigInt(data));
    }
  }
  return flows;
}

/** Checks that the sum of each payer's payments is the same on the chain and in the ledger. */
async function comparePayers({ db, chain, unbookable }: BothSides): Promise<string[]> {
  const rows = await db.query<{ payer: string; paid: bigint }>(
    `select lower(payer_address) as payer, sum(amount + fee_acquirer + fee_protocol - fee_cashback
       - amount_refunded)::bigint as paid
     from payments where livemode = $1 group by 1`,
    [chain.config.livemode],
  );
  const flows = await readFlows(chain);
  for (const one of unbookable) {
    const who = one.payer.toLowerCase();
    flows.set(who, (flows.get(who) ?? 0n) - takenBy(one));
  }
  const broken: string[] = [];
  const known = new Set(rows.map(({ payer }) => payer));
  for (const { payer, paid } of rows) {
    const moved = flows.get(payer) ?? 0n;
    if (moved === paid) continue;
    broken.push(`${payer} paid ${moved} atoms, the ledger says ${paid}`);
  }
  for (const [who, moved] of flows) {
    // Skips the zero address, because minted tokens have no payer, and merchants, because they
    // received more than they paid.
    if (known.has(who) || moved <= 0n || who === zeroAddress) continue;
    broken.push(`${who} paid ${moved} atoms, the ledger says nothing of it`);
  }
  return broken;
}

/**
 * Reads how many atoms reached the contract by plain transfers, in transactions that did not call
 * the contract.
 */
async function readSurplus(chain: Chain): Promise<bigint> {
  const own = await readLogs(chain, chain.config.settlement, []);
  const called = new Set(own.map(({ transactionHash }) => transactionHash));
  const arrived = await readTransfers(chain, 'to');
  const strange = arrived.filter(({ transactionHash }) => !called.has(transactionHash));
  return strange.reduce((sum, { data }) => sum + hexToBigInt(data), 0n);
}

/**
 * Accounts for every atom that the contract holds: merchants' balances, booked fees, and tokens
 * sent by mistake.
 */
async function explainTokens({ chain }: BothSides): Promise<string[]> {
  const { settlement } = chain.config;
  const merchants = { abi: settlementAbi, functionName: 'merchantCount' };
  const [count = 0n] = await readWords(chain, settlement, merchants);
  let owed = 0n;
  for (let merchant = 1n; merchant <= count; merchant++) owed += await heldBy(chain, merchant);
  const fees = { abi: settlementLensAbi, functionName: 'bookedFees' };
  const [acquirer = 0n, protocol = 0n] = await readWords(chain, lensOf(settlement), fees);
  const explained = owed + acquirer + protocol + (await readSurplus(chain));
  const held = await heldInAll(chain);
  if (held === explained) return [];
  return [`the contract holds ${held} USDC atoms, and ${explained} are explained`];
}

/**
 * Invariants that hold once everything has settled. Until then, the ledger or the chain is ahead.
 */
export const CONTRACT_INVARIANTS: readonly Invariant<BothSides>[] = [
  {
    promise: 'each payment has one settlement on the chain, equal in every figure, and vice versa',
    check: comparePayments,
  },
  { promise: 'an alarm names each settlement that cannot be booked', check: checkAlarms },
  { promise: 'the chain has paid the refunds of the ledger', check: compareRefunds },
  {
    promise: "each withdrawal has one transfer, and vice versa, except for a wallet's own",
    check: compareWithdrawals,
  },
  {
    promise: "a merchant's balance on the contract is what the ledger has not paid out",
    check: compareBalances,
  },
  { promise: 'the books of an account match its balance on the contract', check: compareBooks },
  { promise: 'the ledger accounts for all tokens of the contract', check: compareTokens },
  { promise: "the chain alone explains all of the contract's tokens", check: explainTokens },
];

/**
 * Invariants that compare each payer's charges with the token's transfers. They also hold only at
 * rest.
 */
export const CHARGE_INVARIANTS: readonly Invariant<BothSides>[] = [
  { promise: 'a payer is charged once per intent, which has succeeded', check: compareIntents },
  { promise: 'an order is charged once', check: compareOrders },
  { promise: 'each payer has paid what the ledger says', check: comparePayers },
];
