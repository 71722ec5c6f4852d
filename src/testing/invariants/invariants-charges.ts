import { encodeEventTopics, hexToBigInt, numberToHex, zeroAddress } from 'viem';
import type { Sql } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { PaymentSettled } from '#settlement/contract/contract-events.ts';
import type { Hex } from '#settlement/requests.ts';
import { readLedger } from '#testing/invariants/invariants-chain.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

/** Blocks per `eth_getLogs` call. */
const RANGE = 500n;

interface ChargedIntent {
  number: bigint;
  id: string;
  status: string;
  /** `null` if it has no payment. */
  paid_by: bigint | null;
}

/** Selects intents whose number the chain has settled. */
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

/** Checks that a charged payer has bought what the charge was for, once. */
function compareIntents(
  intents: readonly ChargedIntent[],
  settled: readonly PaymentSettled[],
): string[] {
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
 * Checks that an order is one sale of one merchant, even if its intent was lost and created again.
 */
function compareOrders(settled: readonly PaymentSettled[]): string[] {
  const byOrder = Map.groupBy(settled, (one) => `${one.orderId} of merchant ${one.merchantNumber}`);
  return [...byOrder]
    .filter(([, charges]) => charges.length > 1)
    .map(([order, charges]) => `order ${order} was charged ${charges.length} times`);
}

interface TokenLog {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

/** Reads the atoms that each address paid to the contract, less what it received. */
async function readFlows(chain: Chain): Promise<Map<string, bigint>> {
  const { usdc: address, settlement } = chain.config;
  const { number: head } = await chain.newest();
  const filters = [
    { args: { to: settlement }, sign: 1n, party: 1 },
    { args: { from: settlement }, sign: -1n, party: 2 },
  ];
  const flows = new Map<string, bigint>();
  for (let from = 0n; from <= head; from += RANGE) {
    const end = from + RANGE - 1n;
    const range = { fromBlock: numberToHex(from), toBlock: numberToHex(end < head ? end : head) };
    for (const { args, sign, party } of filters) {
      const topics = encodeEventTopics({ abi: testUsdcAbi, eventName: 'Transfer', args });
      const logs = await chain.rpc.call('eth_getLogs', [{ address, topics, ...range }]);
      for (const log of logs as TokenLog[]) {
        const who = `0x${log.topics[party]?.slice(-40)}`;
        flows.set(who, (flows.get(who) ?? 0n) + sign * hexToBigInt(log.data));
      }
    }
  }
  return flows;
}

/** Checks that each payer's payments on the chain equal the ledger's. */
async function comparePayers(db: Sql, chain: Chain): Promise<string[]> {
  const rows = await db.query<{ payer: string; paid: bigint }>(
    `select lower(payer_address) as payer, sum(amount + fee_acquirer + fee_protocol - fee_cashback
       - amount_refunded)::bigint as paid
     from payments where livemode = $1 group by 1`,
    [chain.config.livemode],
  );
  const flows = await readFlows(chain);
  const broken: string[] = [];
  const known = new Set(rows.map(({ payer }) => payer));
  for (const { payer, paid } of rows) {
    const moved = flows.get(payer) ?? 0n;
    if (moved === paid) continue;
    broken.push(`${payer} paid ${moved} atoms, the ledger says ${paid}`);
  }
  for (const [who, moved] of flows) {
    // Skips tokens minted for the contract, which have no payer, and merchants, who received more
    // than they paid.
    if (known.has(who) || moved <= 0n || who === zeroAddress) continue;
    broken.push(`${who} paid ${moved} atoms, the ledger says nothing of it`);
  }
  return broken;
}

/**
 * Compares payers' payments on the chain with the ledger, per intent and per payer. Call it at
 * rest.
 * @returns the differences, as sentences; empty if there are none.
 */
export async function checkCharges(db: Sql, chain: Chain): Promise<string[]> {
  const events = await readLedger(chain);
  const settled = events.filter((event) => event.event === 'PaymentSettled');
  const numbers = [...new Set(settled.map(({ number }) => number))];
  const intents = await selectCharged(db, chain.config.livemode, numbers);
  return [
    ...compareIntents(intents, settled),
    ...compareOrders(settled),
    ...(await comparePayers(db, chain)),
  ];
}
