import type { Network } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { checked } from '#db/plan-shapes.ts';
import { type AlarmRow, selectOpenAlarms } from '#settlement/alarms.ts';
import type { Block, Chain } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { SenderRole } from '#settlement/network-config.ts';
import {
  daysLeftOf,
  isLow,
  type Price,
  paymentsLeftOf,
  presentPrice,
  weeklyRate,
} from '#settlement/status/low-gas-balance.ts';

/** The state of one network's relayer, for operators and metrics. */
export interface RelayerStatus {
  readonly network: Network;
  /** The newest block; `null` if no node answers. */
  readonly head: { readonly number: bigint; readonly time: Date } | null;
  readonly senders: readonly SenderState[];
  /**
   * The number of days for which the active senders' gas balance lasts at last week's rate. It is a
   * lower limit, because payments that share a transaction cost less. `null` if unknown, or if
   * there were no payments.
   */
  readonly daysLeft: number | null;
  readonly queues: readonly QueueStatusRow[];
  readonly alarms: readonly AlarmRow[];
  readonly openDifferences: number;
}

interface SenderRow {
  readonly sender: number;
  readonly role: SenderRole;
  readonly address: Hex;
  readonly nextNonce: bigint;
  /** The worker that holds the sender's lease; `null` if none does. */
  readonly owner: string | null;
  readonly unmined: number;
  readonly oldestUnmined: Date | null;
}

interface SenderState extends SenderRow {
  /** Native balance in wei; `null` if no node answers. */
  readonly balanceWei: bigint | null;
  /**
   * The number of payments, each sent alone, that the balance covers at the newest block's base fee
   * and the relayer's tip.
   */
  readonly paymentsLeft: bigint | null;
  /** True if the balance covers fewer payments than the configured threshold. */
  readonly low: boolean;
}

/** Maximum number of open alarms shown. If there are more, the newest are shown. */
const MAX_ALARMS = 50;

/**
 * Reads the relayer's state from the rows, and balances and head from the chain if a node answers.
 */
export async function readRelayerStatus(
  sql: Sql,
  chain: Chain,
  /**
   * The maximum age of values from the chain, in milliseconds. Each read costs a request per
   * sender.
   */
  maxAgeMs = 0,
): Promise<RelayerStatus> {
  const { livemode, network, lowBalance } = chain.config;
  const rows = await selectSenderStates(sql, livemode);
  const seen = await readChain(
    chain,
    rows.map((row) => row.address),
    maxAgeMs,
  );
  const senders = rows.map((row, index): SenderState => {
    const balanceWei = seen?.balances[index] ?? null;
    const paymentsLeft = paymentsLeftOf(balanceWei, seen?.price ?? null);
    return { ...row, balanceWei, paymentsLeft, low: isLow(paymentsLeft, lowBalance) };
  });
  const perDay = await weeklyRate(sql, chain);
  return {
    network,
    head: seen === null ? null : seen.head,
    senders,
    daysLeft: daysLeftOf(ofOperators(senders), perDay),
    queues: await selectQueueStatus(sql, livemode),
    alarms: await selectOpenAlarms(sql, { livemode, limit: MAX_ALARMS }),
    openDifferences: await countOpenDifferences(sql, livemode),
  };
}

/**
 * Percentage of the sponsor's target balance (`…_LOW_BALANCE` payments) that is reserved for
 * accepted transfers, which would otherwise wait until they expire.
 */
const SPONSOR_RESERVE_PERCENT = 2n;
const SPONSOR_BALANCE_AGE_MS = 1_000;

/** True if the sponsor can pay for another transfer, or if that is unknown. */
export async function canSponsor(sql: Sql, chain: Chain): Promise<boolean> {
  const { livemode, lowBalance } = chain.config;
  const rows = await selectSenderStates(sql, livemode);
  const sponsors = rows.filter(({ role }) => role === 'sponsor').map(({ address }) => address);
  if (sponsors.length === 0) return true;
  const seen = await readChain(chain, sponsors, SPONSOR_BALANCE_AGE_MS);
  if (seen === null) return true;
  const balance = seen.balances.reduce((sum, one) => sum + one, 0n);
  const left = paymentsLeftOf(balance, seen.price);
  return left === null || left * 100n >= BigInt(lowBalance) * SPONSOR_RESERVE_PERCENT;
}

/**
 * Adds up the payments that active senders' balances cover; a removed key cannot spend its balance.
 * `null` if unknown.
 */
function ofOperators(senders: readonly SenderState[]): bigint | null {
  const known = senders.flatMap(({ role, owner, paymentsLeft }) =>
    role === 'operator' && owner !== null ? (paymentsLeft ?? []) : [],
  );
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0n);
}

interface Seen {
  readonly head: Block;
  readonly balances: readonly bigint[];
  readonly price: Price;
}

/**
 * The longest time for which the head is cached, because an old head would look like a stalled
 * chain.
 */
const HEAD_AGE_MS = 15_000;

async function readChain(
  chain: Chain,
  addresses: readonly Hex[],
  maxAgeMs: number,
): Promise<Seen | null> {
  const newest = Math.min(maxAgeMs, HEAD_AGE_MS);
  try {
    const head = await chain.remember('head', newest, () => chain.newest());
    const balances = await chain.remember(`balances of ${addresses.join()}`, maxAgeMs, () =>
      chain.balances(addresses),
    );
    return { head, balances, price: await presentPrice(chain, head) };
  } catch (error) {
    if (error instanceof RpcUnavailable) return null;
    throw error;
  }
}

export async function selectSenderStates(sql: Sql, livemode: boolean): Promise<SenderRow[]> {
  return sql.query(
    `select l.sender, l.role, l.address, l.next_nonce as "nextNonce",
       case when l.lease_until > now() then l.lease_owner end as owner,
       count(t.id)::int as unmined, min(t.created) as "oldestUnmined"
     from relayer_senders l
     left join chain_transactions t
       on t.status = 'signed' and ${checked('t.livemode = l.livemode and t.sender = l.sender')}
       and t.included_at is null
     where l.livemode = $1
     group by l.livemode, l.sender order by l.sender`,
    [livemode],
  );
}

export interface QueueStatusRow {
  kind: string;
  status: 'queued' | 'submitted' | 'answered';
  count: number;
  oldest: Date;
}

/** Counts jobs in progress, and results that the responsible domain has not applied. */
export async function selectQueueStatus(sql: Sql, livemode: boolean): Promise<QueueStatusRow[]> {
  return sql.query(
    `select kind,
       case when status in ('succeeded', 'failed') then 'answered' else status end as status,
       count(*)::int as count, min(created) as oldest
     from chain_requests
     where livemode = $1 and (status in ('queued', 'submitted')
       or (status in ('succeeded', 'failed') and applied_at is null
         and kind in ('payment', 'refund', 'withdrawal', 'merchant_registration')))
     group by 1, 2 order by 1, 2`,
    [livemode],
  );
}

export async function countOpenDifferences(sql: Sql, livemode: boolean): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `select count(*)::int as count from reconciliation_differences
     where livemode = $1 and resolved_at is null and accepted_at is null`,
    [livemode],
  );
  return rows[0]?.count ?? 0;
}
