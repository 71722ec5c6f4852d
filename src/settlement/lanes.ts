import { privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { StartError } from '#core/start-error.ts';
import { broadcast } from '#settlement/broadcast.ts';
import {
  countUnfinished,
  deleteWorker,
  type LaneRow,
  lockLanes,
  releaseLanes,
  renewLeases,
  takeLanes,
  upsertLane,
  upsertWorker,
} from '#settlement/lane-queries.ts';
import { loadOpen } from '#settlement/load-open.ts';
import { type LaneRole, type NetworkConfig, REGISTRAR_LANE } from '#settlement/networks.ts';
import { insertAlarms } from '#settlement/outcome-queries.ts';
import { catchUpNonce } from '#settlement/recovery.ts';
import { type HeldLane, inNonceOrder, type RelayerState } from '#settlement/relayer-state.ts';
import type { Hex } from '#settlement/requests.ts';

interface ConfiguredLane {
  readonly lane: number;
  readonly role: LaneRole;
  readonly key: Hex;
}

export function configuredLanes(config: NetworkConfig): ConfiguredLane[] {
  const operators = config.relayerKeys.map((key, lane) => ({
    lane,
    role: 'operator' as const,
    key,
  }));
  return [...operators, { lane: REGISTRAR_LANE, role: 'registrar', key: config.registrarKey }];
}

/**
 * Writes the configured lanes down. A lane may get another key only while nothing of its old one is
 * under way, because only the old key can finish that.
 * @throws StartError otherwise. @throws RpcUnavailable: a new lane's nonce could not be read.
 */
export async function configureLanes(relayer: RelayerState): Promise<void> {
  const { db, chain } = relayer;
  const { livemode, network } = chain.config;
  const wanted = configuredLanes(chain.config).map(({ lane, role, key }) => ({
    lane,
    role,
    address: privateKeyToAccount(key).address,
  }));
  const nonces = await chain.nonces(wanted.map((lane) => lane.address));
  await db.transaction(async (tx) => {
    const known = new Map((await lockLanes(tx, livemode)).map((row) => [row.lane, row]));
    for (const [index, lane] of wanted.entries()) {
      if (known.get(lane.lane)?.address === lane.address) continue;
      if ((await countUnfinished(tx, { livemode, lane: lane.lane })) > 0) {
        throw new StartError(
          `lane ${lane.lane} of ${network} has unfinished transactions of ` +
            `${known.get(lane.lane)?.address}: start with that key until they are done`,
        );
      }
      const nextNonce = present(nonces[index], 'nonce of a lane');
      await upsertLane(tx, { livemode, ...lane, nextNonce });
    }
  });
}

/**
 * Keeps this worker's leases and its fair share of the lanes: with two workers each gets half.
 * Call it several times per lease.
 */
export async function keepLanes(relayer: RelayerState): Promise<void> {
  const { chain, db, owner } = relayer;
  const { livemode } = chain.config;
  const { leaseMs } = relayer;
  await renew(relayer);
  const workers = await db.transaction((tx) =>
    upsertWorker(tx, { livemode, owner, forgetMs: leaseMs }),
  );
  const configured = configuredLanes(chain.config);
  const share = Math.ceil(configured.length / workers);
  await release(relayer, share);
  if (relayer.lanes.size >= share || relayer.fees === null) return;
  const lanes = configured.map((one) => one.lane).filter((lane) => !relayer.lanes.has(lane));
  const limit = share - relayer.lanes.size;
  const taken = await takeLanes(db, { livemode, owner, lanes, limit, leaseMs });
  for (const row of taken) await open(relayer, configured, row);
}

async function renew(relayer: RelayerState): Promise<void> {
  const { chain, db, owner, lanes } = relayer;
  const { livemode } = chain.config;
  const held = [...lanes.values()];
  if (held.length === 0) return;
  const kept = new Set(
    await renewLeases(db, {
      livemode,
      owner,
      lanes: held.map((lane) => lane.lane),
      fences: held.map((lane) => lane.fence),
      leaseMs: relayer.leaseMs,
    }),
  );
  for (const lane of held) {
    if (kept.has(lane.lane)) continue;
    lanes.delete(lane.lane);
    relayer.log.warn('a lane was lost', { network: chain.config.network, lane: lane.lane });
  }
}

/** Lanes beyond the share take no new work, and go once nothing of theirs is under way. */
async function release(relayer: RelayerState, share: number): Promise<void> {
  const held = [...relayer.lanes.values()];
  held.forEach((lane, index) => {
    lane.draining = index >= share;
  });
  const idle = held.filter((lane) => lane.draining && lane.open.size === 0);
  if (idle.length === 0) return;
  for (const lane of idle) relayer.lanes.delete(lane.lane);
  await releaseLanes(relayer.db, {
    livemode: relayer.chain.config.livemode,
    owner: relayer.owner,
    lanes: idle.map((lane) => lane.lane),
  });
}

/** Takes up a lane where its last worker left it: stored transactions are sent again. */
async function open(
  relayer: RelayerState,
  configured: readonly ConfiguredLane[],
  row: LaneRow,
): Promise<void> {
  const key = present(
    configured.find((one) => one.lane === row.lane),
    'configured lane',
  ).key;
  const lane: HeldLane = {
    lane: row.lane,
    role: row.role,
    address: row.address,
    account: privateKeyToAccount(key),
    fence: row.fence,
    open: new Map(),
    draining: false,
  };
  await catchUpNonce(relayer, lane, row.next_nonce);
  await loadOpen(relayer, lane);
  relayer.lanes.set(lane.lane, lane);
  await broadcast(relayer, lane, inNonceOrder(lane));
  if (lane.open.size === 0) return;
  const fields = { network: relayer.chain.config.network, lane: lane.lane };
  relayer.log.info('took up unfinished transactions', { ...fields, count: lane.open.size });
}

/** Gives everything back, so that another worker need not wait for the leases to run out. */
export async function releaseAll(relayer: RelayerState): Promise<void> {
  const { chain, db, owner } = relayer;
  const { livemode } = chain.config;
  await releaseLanes(db, { livemode, owner, lanes: [...relayer.lanes.keys()] });
  await db.transaction((tx) => deleteWorker(tx, { livemode, owner }));
  relayer.lanes.clear();
}

export async function raiseAlarm(
  relayer: RelayerState,
  alarm: { readonly kind: string; readonly subject: string; readonly details: object },
): Promise<void> {
  const { chain, db, clock, log } = relayer;
  const details = { ...alarm.details };
  log.error(`settlement alarm: ${alarm.kind}`, { subject: alarm.subject, ...details });
  await db.transaction((tx) =>
    insertAlarms(tx, chain.config.livemode, [{ ...alarm, details }], clock.now()),
  );
}
