import { DAY_MS } from '#core/durations.ts';
import type { Sql } from '#db/database.ts';
import type { Block, Chain } from '#settlement/chain/chain.ts';
import { blocksLasting } from '#settlement/chain/check/timeout-blocks.ts';
import { dataFees } from '#settlement/chain/fees/data-fee.ts';
import {
  type Fees,
  lowerTips,
  suggestFees,
  TIP_BLOCKS,
  TIP_PERCENTILE,
} from '#settlement/chain/fees/gas-fees.ts';
import { isWellFormed } from '#settlement/chain/rpc/node-answers.ts';
import { independentProviders } from '#settlement/chain/rpc/provider-quorum.ts';
import type { Address } from '#settlement/chain/rpc/rpc-address.ts';
import type { Hex } from '#settlement/chain-requests.ts';

/**
 * The maximum age of tips while nothing is paid. The first payment afterwards may offer fees that
 * are some minutes old.
 */
export const IDLE_TIPS_MS = 300_000;

export async function presentPrice(chain: Chain, head: Block): Promise<Price> {
  const blocks = blocksLasting(chain.config, { blocks: TIP_BLOCKS, intervalMs: null });
  const tips = await recentTips(chain, { blocks, maxAgeMs: IDLE_TIPS_MS });
  const { maxPriorityFeePerGas: tip } = feesAt(chain, head, tips ?? []);
  const [dataFee = 0n] = await dataFees(chain, [SIZES.one]);
  return { baseFeePerGas: head.baseFeePerGas, tip, dataFee };
}

export function feesAt({ config }: Chain, head: Block, recent: readonly bigint[]): Fees {
  return suggestFees({
    baseFeePerGas: head.baseFeePerGas,
    recentTips: recent,
    ceiling: config.maxFeePerGasCeiling,
    highestTip: config.profile.highestTip,
  });
}

/**
 * The number of nodes that are asked for tips. The lowest answer counts, because a single node
 * could inflate the price a thousandfold.
 */
const ASKED = 2;

/** Returns the tips paid in this many recent blocks; `null` if no node answered. */
export function recentTips(
  chain: Chain,
  { blocks, maxAgeMs }: { readonly blocks: bigint; readonly maxAgeMs: number },
): Promise<readonly bigint[] | null> {
  return chain.remember('tips', maxAgeMs, async () => {
    const params = [`0x${blocks.toString(16)}`, 'latest', [TIP_PERCENTILE]];
    const addresses = independentProviders(chain.rpc.inOrder());
    const told: (readonly bigint[])[] = [];
    while (told.length < ASKED && addresses.length > 0) {
      const next = addresses.splice(0, ASKED - told.length);
      const answers = await Promise.all(next.map((address) => tipsOf(address, params)));
      told.push(...answers.filter((answer) => answer !== null));
    }
    return lowerTips(told);
  });
}

/** Returns one node's tips; `null` if its answer is invalid. */
async function tipsOf(
  address: Address,
  params: readonly unknown[],
): Promise<readonly bigint[] | null> {
  const call = { method: 'eth_feeHistory', params };
  const [reply] = await address.ask([call], { urgent: false });
  if (reply?.status !== 'answered' || !isWellFormed(call, reply.result)) return null;
  const { reward } = reply.result as { readonly reward?: Hex[][] | null };
  return (reward ?? []).flatMap(([tip]) => (tip === undefined ? [] : [BigInt(tip)]));
}

/**
 * Gas of a payment that is alone in its transaction, measured with Circle's token
 * (contracts/README.md).
 */
const GAS_OF_ONE_PAYMENT = 95_000n;

/** Bytes of a signed transaction with one payment, and with the maximum number of payments. */
export const SIZES = { one: 420, full: 420 + 99 * 96 } as const;

/** The current cost of a payment, in wei. */
export interface Price {
  readonly baseFeePerGas: bigint;
  /** The tip, in wei per unit of gas. */
  readonly tip: bigint;
  /** The cost of publishing one payment, in wei; 0 unless the chain charges for it. */
  readonly dataFee: bigint;
}

/**
 * Returns how many payments, each sent alone, a balance covers; `null` if unknown, or if gas is
 * free. Log, console, metrics and readiness show this number.
 */
export function paymentsLeftOf(balanceWei: bigint | null, price: Price | null): bigint | null {
  if (balanceWei === null || price === null) return null;
  const cost = GAS_OF_ONE_PAYMENT * (price.baseFeePerGas + price.tip) + price.dataFee;
  return cost === 0n ? null : balanceWei / cost;
}

/**
 * Returns how many whole days the balance lasts at this rate; `null` if unknown, or if there are no
 * payments.
 */
export function daysLeftOf(paymentsLeft: bigint | null, perDay: number): number | null {
  if (paymentsLeft === null || perDay <= 0) return null;
  return Math.min(MANY_DAYS, Math.floor(Number(paymentsLeft) / perDay));
}

/** Ten years. A larger number would be of no use. */
const MANY_DAYS = 3_650;

/** True if an operator must soon send gas to the sender. */
export function isLow(paymentsLeft: bigint | null, lowBalance: number): boolean {
  return paymentsLeft !== null && paymentsLeft < BigInt(lowBalance);
}

/** Counts the settling senders that any worker holds. */
export async function countSendersAtWork(sql: Sql, livemode: boolean): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `select count(*)::int as count from relayer_senders
     where livemode = $1 and role = 'operator' and lease_until > now()`,
    [livemode],
  );
  return rows[0]?.count ?? 0;
}

/** Maximum number of ids to look up. If there are more, an evenly spaced sample is looked up. */
const LOOKED_AT = 20_000n;
const WEEK_DAYS = 7;

/**
 * Returns how many payments this network has settled per day within the last week; on a younger
 * network since its first job, but over at least a day. There is no index by time. Ids increase
 * with time, so the week's first id is found by bisection, and if there are many rows, a sample is
 * counted.
 */
export async function paymentsPerDay(sql: Sql, livemode: boolean, now: Date): Promise<number> {
  const weekAgo = new Date(now.getTime() - WEEK_DAYS * DAY_MS);
  const [ends] = await sql.query<{ first: bigint; last: bigint; since: Date }>(
    `with recursive halves as (
       select coalesce(min(id), 1) as low, coalesce(max(id), 0) + 1 as high from chain_requests
       union all
       select case when at.created < $1 then at.id + 1 else low end,
         case when at.created < $1 then high else (low + high) / 2 end
       from halves, lateral (
         select id, created from chain_requests where id >= (low + high) / 2 order by id limit 1
       ) as at
       where low < high
     )
     select low as first, (select max(id) from chain_requests) as last,
       (select created from chain_requests where id >= low order by id limit 1) as since
     from halves where low >= high
       and exists (select from chain_requests where id >= low) limit 1`,
    [weekAgo],
  );
  if (ends === undefined) return 0;
  const span = ends.last - ends.first + 1n;
  const step = (span + LOOKED_AT - 1n) / LOOKED_AT;
  const [counted] = await sql.query<{ count: number }>(
    `select count(*)::int as count
     from generate_series($1::bigint, $2::bigint, $3::bigint) as asked (id)
     join chain_requests r on r.id = asked.id
     where r.livemode = $4 and r.kind = 'payment' and r.status = 'succeeded'`,
    [ends.first, ends.last, step, livemode],
  );
  const days = Math.max(1, (now.getTime() - ends.since.getTime()) / DAY_MS);
  return ((counted?.count ?? 0) * Number(step)) / days;
}

/**
 * A measured rate is reused for this long. It changes slowly, and each count reads thousands of
 * rows.
 */
const RATE_AGE_MS = 600_000;

/** Returns the result of {@link paymentsPerDay}, at most some minutes old. */
export function weeklyRate(sql: Sql, { config, remember }: Chain): Promise<number> {
  const count = () => paymentsPerDay(sql, config.livemode, new Date());
  return remember('payments a day', RATE_AGE_MS, count);
}
