import { decodeFunctionResult, encodeFunctionData, hexToBigInt } from 'viem';
import type { Sql } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { readEvents, type SettlementEvent } from '#settlement/contract/contract-events.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

/** The number of a withdrawal that the merchant's wallet made itself. */
const OF_THE_WALLET = 0n;
/** Blocks per `eth_getLogs` call. */
const RANGE = 500n;

type Settled = Extract<SettlementEvent, { event: 'PaymentSettled' }>;
type Refunded = Extract<SettlementEvent, { event: 'PaymentRefunded' }>;
type Withdrawn = Extract<SettlementEvent, { event: 'Withdrawn' }>;

interface PaymentRow {
  id: string;
  settlement_number: bigint;
  payer_address: string;
  order_id: string;
  amount: bigint;
  fee_acquirer: bigint;
  fee_protocol: bigint;
  fee_cashback: bigint;
  /** `null` if the relayer has no record of it. */
  batch_number: bigint | null;
  tx_hash: string | null;
  /** The transaction according to the payment, as its receipt shows it. */
  shown_tx_hash: string | null;
  shown_block: bigint | null;
  shown_log_index: number | null;
  amount_refunded: bigint;
  merchant_number: bigint | null;
}

/** Reads every event that the settlement contract has ever emitted. */
export async function readLedger(chain: Chain): Promise<SettlementEvent[]> {
  const head = (await chain.block('latest'))?.number ?? 0n;
  const events: SettlementEvent[] = [];
  for (let fromBlock = 0n; fromBlock <= head; fromBlock += RANGE) {
    const end = fromBlock + RANGE - 1n;
    const logs = await chain.logs({ fromBlock, toBlock: end < head ? end : head });
    events.push(...readEvents(chain.config, logs));
  }
  return events;
}

/** Uses left joins, so that a payment with only its own row is not dropped. */
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
 * True if row and event agree in every amount, and in the block if the relayer knows it, because a
 * reorganization may move it.
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

/** Checks that each payment has one settlement, and vice versa, equal in every figure. */
function comparePayments(rows: readonly PaymentRow[], settled: readonly Settled[]): string[] {
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

function compareRefunds(rows: readonly PaymentRow[], refunded: readonly Refunded[]): string[] {
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
  /** `null` if neither the withdrawal nor its job has a number. */
  number: bigint | null;
  /** True if the withdrawal's number differs from its job's. */
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
 * Checks that each withdrawal has one transfer, and vice versa; wallets may also withdraw
 * themselves.
 */
function compareWithdrawals(
  rows: readonly WithdrawalRow[],
  withdrawn: readonly Withdrawn[],
): string[] {
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

async function readCall(chain: Chain, to: Hex, data: Hex): Promise<Hex> {
  const [answer] = await chain.calls([{ to, data, words: 'any' }]);
  if (answer?.ok !== true) throw new Error('a read of the chain reverted');
  return answer.data;
}

/** Returns a merchant's balance on the contract. */
async function heldBy(chain: Chain, merchant: bigint): Promise<bigint> {
  const call = { abi: settlementAbi, functionName: 'merchantAccount' } as const;
  const data = encodeFunctionData({ ...call, args: [Number(merchant)] });
  const [, held] = decodeFunctionResult({
    ...call,
    data: await readCall(chain, chain.config.settlement, data),
  });
  return held;
}

/**
 * Compares a merchant's balance on the contract with its payments less its refunds and withdrawals.
 */
async function compareBalances(
  chain: Chain,
  rows: readonly PaymentRow[],
  withdrawn: readonly Withdrawn[],
): Promise<string[]> {
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
  /** The sum of all entries, which the account's statements list. */
  readonly booked: bigint;
  /** Payouts by the merchant's own wallet that are booked, because they are final. */
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

/** Compares the books of each account with what the contract holds for it. */
async function compareBooks(
  db: Sql,
  chain: Chain,
  withdrawn: readonly Withdrawn[],
): Promise<string[]> {
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

/** Checks that the contract's tokens equal its merchants' balances plus the booked fees. */
async function compareTokens(
  chain: Chain,
  rows: readonly PaymentRow[],
  withdrawn: readonly Withdrawn[],
): Promise<string[]> {
  const data = encodeFunctionData({
    abi: testUsdcAbi,
    functionName: 'balanceOf',
    args: [chain.config.settlement],
  });
  const held = hexToBigInt(await readCall(chain, chain.config.usdc, data));
  const taken = withdrawn.reduce((sum, { amount }) => sum + amount, 0n);
  const owed = rows.reduce(
    (sum, row) =>
      sum +
      row.amount -
      row.amount_refunded +
      row.fee_acquirer +
      row.fee_protocol -
      row.fee_cashback,
    -taken,
  );
  return held === owed ? [] : [`the contract holds ${held} USDC atoms, the ledger knows ${owed}`];
}

/**
 * Compares the ledger with the contract's events and balances; call it at rest.
 * @returns the differences, as sentences; empty if there are none.
 */
export async function checkAgainstChain(db: Sql, chain: Chain): Promise<string[]> {
  const events = await readLedger(chain);
  const { livemode } = chain.config;
  const rows = await selectPayments(db, livemode);
  const settled = events.filter((event): event is Settled => event.event === 'PaymentSettled');
  const refunded = events.filter((event): event is Refunded => event.event === 'PaymentRefunded');
  const withdrawn = events.filter((event): event is Withdrawn => event.event === 'Withdrawn');
  return [
    ...comparePayments(rows, settled),
    ...compareRefunds(rows, refunded),
    ...compareWithdrawals(await selectWithdrawals(db, livemode), withdrawn),
    ...(await compareBalances(chain, rows, withdrawn)),
    ...(await compareBooks(db, chain, withdrawn)),
    ...(await compareTokens(chain, rows, withdrawn)),
  ];
}
