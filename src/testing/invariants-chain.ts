import { encodeFunctionData, hexToBigInt } from 'viem';
import type { Database } from '#db/database.ts';
import type { Chain } from '#settlement/chain.ts';
import { readEvents, type SettlementEvent } from '#settlement/contract-events.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';

/** Blocks of one `eth_getLogs`. */
const RANGE = 500n;

type Settled = Extract<SettlementEvent, { event: 'PaymentSettled' }>;
type Refunded = Extract<SettlementEvent, { event: 'PaymentRefunded' }>;

interface PaymentRow {
  id: string;
  settlement_number: bigint;
  payer_address: string;
  order_id: string;
  amount: bigint;
  fee_acquirer: bigint;
  fee_protocol: bigint;
  fee_cashback: bigint;
  batch_number: bigint;
  tx_hash: string;
  amount_refunded: bigint;
  merchant_number: bigint;
}

/** Every event that the settlement contract has ever emitted. */
async function readLedger(chain: Chain): Promise<SettlementEvent[]> {
  const head = (await chain.block('latest'))?.number ?? 0n;
  const events: SettlementEvent[] = [];
  for (let fromBlock = 0n; fromBlock <= head; fromBlock += RANGE) {
    const end = fromBlock + RANGE - 1n;
    const logs = await chain.logs({ fromBlock, toBlock: end < head ? end : head });
    events.push(...readEvents(chain.config.settlement, logs));
  }
  return events;
}

async function selectPayments(db: Database, livemode: boolean): Promise<PaymentRow[]> {
  return db.query<PaymentRow>(
    `select p.id, p.settlement_number, p.payer_address, p.order_id, p.amount, p.fee_acquirer,
       p.fee_protocol, p.fee_cashback, c.batch_number, c.tx_hash, p.amount_refunded,
       m.merchant_number
     from payments p
     join chain_payments c on c.livemode = p.livemode and c.number = p.settlement_number
     join account_modes m on m.account_id = p.account_id and m.livemode = p.livemode
     where p.livemode = $1`,
    [livemode],
  );
}

/** Alike in every figure, and where the relayer knows it to be: a reorganisation may move it. */
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
    row.tx_hash === event.txHash
  );
}

/** One settlement per payment, one payment per settlement, alike in every figure. */
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
  const known = new Set(rows.map((row) => row.settlement_number));
  for (const number of byNumber.keys()) {
    if (!known.has(number)) broken.push(`settlement ${number} of the chain is no payment of ours`);
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

async function readCall(chain: Chain, to: Hex, data: Hex): Promise<Hex> {
  const [answer] = await chain.calls([{ to, data }]);
  if (answer?.ok !== true) throw new Error('a read of the chain reverted');
  return answer.data;
}

/** What the contract holds for a merchant: its payments less its refunds and withdrawals. */
async function compareBalances(
  chain: Chain,
  rows: readonly PaymentRow[],
  events: readonly SettlementEvent[],
): Promise<string[]> {
  const broken: string[] = [];
  for (const [merchant, payments] of Map.groupBy(rows, (row) => row.merchant_number)) {
    const paid = payments.reduce((sum, row) => sum + row.amount - row.amount_refunded, 0n);
    const withdrawn = events.reduce((sum, event) => {
      const own = event.event === 'Withdrawn' && event.merchantNumber === merchant;
      return own ? sum + event.amount : sum;
    }, 0n);
    const data = encodeFunctionData({
      abi: settlementAbi,
      functionName: 'merchantAccount',
      args: [Number(merchant)],
    });
    const held = BigInt(`0x${(await readCall(chain, chain.config.settlement, data)).slice(66)}`);
    if (held !== paid - withdrawn) {
      broken.push(
        `merchant ${merchant} has ${held} on the chain, ${paid - withdrawn} in the ledger`,
      );
    }
  }
  return broken;
}

/** The tokens of the contract are its merchants' balances and the fees that it kept. */
async function compareTokens(chain: Chain, rows: readonly PaymentRow[]): Promise<string[]> {
  const data = encodeFunctionData({
    abi: testUsdcAbi,
    functionName: 'balanceOf',
    args: [chain.config.settlement],
  });
  const held = hexToBigInt(await readCall(chain, chain.config.usdc, data));
  const owed = rows.reduce(
    (sum, row) =>
      sum +
      row.amount -
      row.amount_refunded +
      row.fee_acquirer +
      row.fee_protocol -
      row.fee_cashback,
    0n,
  );
  return held === owed ? [] : [`the contract holds ${held} USDC atoms, the ledger knows ${owed}`];
}

/**
 * Compares the ledger with the contract's own events and balances; call it at rest.
 * @returns what differs, as sentences; empty when the ledger is what the chain says.
 */
export async function checkAgainstChain(db: Database, chain: Chain): Promise<string[]> {
  const events = await readLedger(chain);
  const rows = await selectPayments(db, chain.config.livemode);
  const settled = events.filter((event): event is Settled => event.event === 'PaymentSettled');
  const refunded = events.filter((event): event is Refunded => event.event === 'PaymentRefunded');
  const withdrawn = events.some((event) => event.event === 'Withdrawn');
  return [
    ...comparePayments(rows, settled),
    ...compareRefunds(rows, refunded),
    ...(await compareBalances(chain, rows, events)),
    ...(withdrawn ? [] : await compareTokens(chain, rows)),
  ];
}
