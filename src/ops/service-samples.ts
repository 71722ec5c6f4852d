import { isLive, NETWORKS, networkOf } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { DURABILITIES } from '#db/durability.ts';
import {
  selectArchiveAge,
  selectDatabaseAges,
  selectWaitingWork,
  selectWatchAges,
} from '#ops/metric-queries.ts';
import type { Sample, SampleSource } from '#ops/prometheus-metrics.ts';
import { checkReadiness, databaseCheck } from '#ops/readiness-checks.ts';
import type { DurabilityWatch } from '#ops/watch-durability.ts';
import type { RequestLog } from '#request-log/request-log.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { type Readiness, UNSETTLED_REASONS } from '#settlement/network-readiness.ts';
import { type RelayerStatus, readRelayerStatus } from '#settlement/status/relayer-status.ts';

type Labels = Readonly<Record<string, string>>;

function sample(name: string, help: string, value: number, labels: Labels = {}): Sample {
  return { name: `tapline_${name}`, help, labels, value };
}

/**
 * Samples the amount of waiting work, and values that show whether the database is still fast
 * enough as a queue.
 */
export function databaseSamples(db: Database): SampleSource {
  return {
    name: 'database',
    read: async () => {
      const [work, [ages], watched, archived] = await Promise.all([
        selectWaitingWork(db),
        selectDatabaseAges(db),
        selectWatchAges(db),
        selectArchiveAge(db),
      ]);
      const queues = work.flatMap(({ queue, count, oldest_seconds }) => [
        sample('queue_depth', 'Items of work that are due.', count, { queue }),
        sample('queue_oldest_seconds', 'How long the oldest item has been due.', oldest_seconds, {
          queue,
        }),
      ]);
      const looks = watched.map(({ livemode, seconds }) =>
        sample('watchtower_look_seconds', 'Time since the last poll of a watchtower.', seconds, {
          network: networkOf(livemode),
        }),
      );
      const archives = archived.map(({ seconds }) =>
        sample(
          'database_archived_seconds',
          'Time since the last file of the write-ahead log was archived.',
          seconds ?? 0,
        ),
      );
      const told = [...queues, ...looks, ...archives];
      if (ages === undefined) return told;
      return [
        ...told,
        sample('database_connections', 'Connections of all processes.', ages.connections),
        sample(
          'database_oldest_transaction_seconds',
          'Age of the oldest open transaction, which delays the vacuum of the queues.',
          ages.oldest_transaction_seconds,
        ),
        sample(
          'database_oldest_snapshot_age',
          'Transactions since the oldest snapshot in use.',
          ages.oldest_snapshot_age,
        ),
      ];
    },
  };
}

/** A separate source, because it must work when the database's other samples cannot be read. */
export function databaseUp(db: Database): SampleSource {
  return {
    name: 'database check',
    read: async () => {
      const { status } = await checkReadiness([databaseCheck(db)]);
      const value = status === 'ready' ? 1 : 0;
      return [sample('database_up', 'Whether the database answers this process.', value)];
    },
  };
}

const secondsSince = (at: Date | null, now: number) =>
  at === null ? 0 : Math.max(0, (now - at.getTime()) / 1000);

/** Converts wei to whole coins. A gauge may be inexact. */
const WEI_PER_COIN = 1e18;

type Sender = RelayerStatus['senders'][number];

function samplesOfSender(network: string, sender: Sender, now: number): Sample[] {
  const labels = { network, sender: String(sender.sender), role: sender.role };
  const unmined = secondsSince(sender.oldestUnmined, now);
  const own = [
    sample('relayer_unmined', 'Transactions that were sent but not mined.', sender.unmined, labels),
    sample('relayer_oldest_unmined_seconds', 'Age of the oldest of them.', unmined, labels),
    sample('relayer_low', '1 if the sender needs gas funds soon.', sender.low ? 1 : 0, labels),
  ];
  if (sender.balanceWei === null) return own;
  const coins = Number(sender.balanceWei) / WEI_PER_COIN;
  const left = sender.paymentsLeft;
  const help = 'Payments, each sent alone, that the gas balance of the sender covers.';
  return [
    ...own,
    sample('relayer_balance', 'Gas balance of the sender.', coins, labels),
    ...(left === null ? [] : [sample('relayer_payments_left', help, Number(left), labels)]),
  ];
}

function relayerSamplesOf(status: RelayerStatus): Sample[] {
  const { network, head, senders, queues } = status;
  const now = Date.now();
  const up = sample('chain_up', 'Whether a node of the network answers.', head === null ? 0 : 1, {
    network,
  });
  const headSamples =
    head === null
      ? []
      : [
          sample('chain_head', 'Number of the newest block.', Number(head.number), { network }),
          sample(
            'chain_head_age_seconds',
            'Age of the newest block.',
            secondsSince(head.time, now),
            {
              network,
            },
          ),
        ];
  const ofSenders = senders.flatMap((sender) => samplesOfSender(network, sender, now));
  const ofQueues = queues.flatMap(({ kind, status: state, count, oldest }) => {
    const labels = { network, kind, state };
    return [
      sample('chain_requests', 'Requests to the chain by their state.', count, labels),
      sample(
        'chain_requests_oldest_seconds',
        'Age of the oldest.',
        secondsSince(oldest, now),
        labels,
      ),
    ];
  });
  return [
    up,
    ...headSamples,
    ...ofSenders,
    ...daysSamples(status),
    ...ofQueues,
    sample('chain_alarms', 'Open alarms.', status.alarms.length, { network }),
    sample('reconciliation_differences', 'Open differences.', status.openDifferences, { network }),
  ];
}

function daysSamples({ network, daysLeft }: RelayerStatus): Sample[] {
  const help =
    "Minimum number of days that the gas balance of all active senders lasts at last week's rate.";
  return daysLeft === null ? [] : [sample('coin_days_left', help, daysLeft, { network })];
}

/**
 * Lifetime of a cached sample: scrapes come every few seconds, and requests to nodes cost money.
 */
const CHAIN_SAMPLE_MS = 60_000;

export function relayerSamples(db: Database, chain: Chain): SampleSource {
  return {
    name: `relayer ${chain.config.network}`,
    read: async () => relayerSamplesOf(await readRelayerStatus(db, chain, CHAIN_SAMPLE_MS)),
  };
}

/** Samples readiness, from memory, so that it works while the database is unreachable. */
export function readinessSamples(readiness: Readiness): SampleSource {
  const help = 'Whether the network takes payments now.';
  const why = '1 for each reason why the network takes no payments.';
  return {
    name: 'readiness',
    read: async () =>
      NETWORKS.flatMap((network) => {
        const { settles, reasons } = readiness.of(isLive(network));
        return [
          sample('network_settles', help, settles ? 1 : 0, { network }),
          ...UNSETTLED_REASONS.map((reason) =>
            sample('network_unsettled', why, reasons.includes(reason) ? 1 : 0, { network, reason }),
          ),
        ];
      }),
  };
}

/**
 * Counts requests to nodes, for comparison with a provider's count. A node's label is its position
 * in `…_RPC_URL`, from 1.
 */
export function nodeRequestSamples(chain: Chain): SampleSource {
  const { network } = chain.config;
  return {
    name: `node requests ${network}`,
    read: async () =>
      chain.rpc.counts().map(({ method, index, result, count }) =>
        sample('node_requests_total', 'Calls to nodes of the chain since the start.', count, {
          network,
          method,
          address: String(index + 1),
          result,
        }),
      ),
  };
}

export function durabilitySamples(watch: DurabilityWatch): SampleSource {
  return {
    name: 'durability',
    read: async () => {
      const seen = watch.seen();
      if (seen === null) return [];
      const { row, found } = seen;
      return [
        ...DURABILITIES.map((level) =>
          sample('database_durability', 'How durable commits are.', level === found ? 1 : 0, {
            level,
          }),
        ),
        sample(
          'database_durability_short',
          '1 if commits are less durable than DATABASE_DURABILITY says.',
          watch.isShort() ? 1 : 0,
        ),
        sample('database_standbys', 'Standbys that follow the primary.', row.standbys),
        sample('database_synchronous_standbys', 'Standbys that commits wait for.', row.synchronous),
        sample(
          'database_replication_lag_bytes',
          'Lag of the standby that is farthest behind.',
          row.lag_bytes,
        ),
      ];
    },
  };
}

export function requestLogSamples(requestLog: RequestLog): SampleSource {
  return {
    name: 'request log',
    read: async () => [
      sample('request_log_dropped', 'Requests that were not logged.', requestLog.dropped),
    ],
  };
}
