import type { Network } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { Chain } from '#settlement/chain.ts';
import type { LaneRole } from '#settlement/networks.ts';
import type { Hex } from '#settlement/requests.ts';
import { RpcRefusal, RpcUnavailable } from '#settlement/rpc.ts';
import {
  type AlarmRow,
  countOpenDifferences,
  type QueueStatusRow,
  selectLaneStatus,
  selectOpenAlarms,
  selectQueueStatus,
} from '#settlement/status-queries.ts';

/** One network's relayer as operators and metrics see it. */
export interface RelayerStatus {
  readonly network: Network;
  /** null: no node answers. */
  readonly head: { readonly number: bigint; readonly time: Date } | null;
  readonly lanes: readonly LaneStatus[];
  readonly queues: readonly QueueStatusRow[];
  readonly alarms: readonly AlarmRow[];
  readonly openDifferences: number;
}

interface LaneStatus {
  readonly lane: number;
  readonly role: LaneRole;
  readonly address: Hex;
  readonly nextNonce: bigint;
  /** The worker that holds the lease. */
  readonly owner: string | null;
  readonly unmined: number;
  readonly oldestUnmined: Date | null;
  /** The chain's coin, in wei; null: no node answers. */
  readonly balanceWei: bigint | null;
  /** Below the configured mark: somebody has to send coin to the address soon. */
  readonly low: boolean;
}

/** More are a flood, and the first of them tell its story. */
const MAX_ALARMS = 50;

/** Reads the rows, and balances and head from the chain when a node answers. */
export async function readRelayerStatus(sql: Sql, chain: Chain): Promise<RelayerStatus> {
  const { livemode, network, lowBalanceWei } = chain.config;
  const rows = await selectLaneStatus(sql, livemode);
  const seen = await readChain(
    chain,
    rows.map((row) => row.address),
  );
  return {
    network,
    head: seen === null ? null : seen.head,
    lanes: rows.map((row, index) => {
      const balanceWei = seen?.balances[index] ?? null;
      return {
        lane: row.lane,
        role: row.role,
        address: row.address,
        nextNonce: row.next_nonce,
        owner: row.owner,
        unmined: row.unmined,
        oldestUnmined: row.oldest_unmined,
        balanceWei,
        low: balanceWei !== null && balanceWei < lowBalanceWei,
      };
    }),
    queues: await selectQueueStatus(sql, livemode),
    alarms: await selectOpenAlarms(sql, { livemode, limit: MAX_ALARMS }),
    openDifferences: await countOpenDifferences(sql, livemode),
  };
}

async function readChain(chain: Chain, addresses: readonly Hex[]) {
  try {
    const head = await chain.block('latest');
    return { head, balances: await chain.balances(addresses) };
  } catch (error) {
    if (error instanceof RpcUnavailable || error instanceof RpcRefusal) return null;
    throw error;
  }
}
