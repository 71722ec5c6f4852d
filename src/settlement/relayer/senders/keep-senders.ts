import { present } from '#core/assert.ts';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { configureSenders } from '#settlement/chain/fees/configure-senders.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { contractVersionAt } from '#settlement/contract-versions.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import { KINDS } from '#settlement/relayer/jobs/request-kinds.ts';
import {
  leasesOf,
  leaveSharing,
  releaseSenders,
  renewLeases,
  takeSenders,
  upsertWorker,
} from '#settlement/relayer/jobs/sender-queries.ts';
import { askElsewhere, broadcast } from '#settlement/relayer/send/sign-and-broadcast.ts';
import {
  checkBalances,
  createBalanceRound,
} from '#settlement/relayer/senders/check-sender-balances.ts';
import { watchIdleNonces } from '#settlement/relayer/senders/detect-foreign-key-use.ts';
import { catchUpNonce, loadOpen, rereadOpen } from '#settlement/relayer/senders/repair-nonces.ts';
import {
  createSender,
  type OnError,
  type RelayerState,
} from '#settlement/relayer/state-machine/relayer-state.ts';
import type { SenderRow } from '#settlement/sender-rows.ts';

/** Renewals per lease, so that a few may fail. */
const RENEWALS_PER_LEASE = 4;
/** Interval between balance checks of the active senders. */
const BALANCES_MS = 10_000;
/**
 * Interval at which rows are read again: the longest time for which a commit that a database crash
 * has undone goes unnoticed.
 */
const REREAD_MS = 3_000;

export function startKeeper(relayer: RelayerState, wake: () => void, onError: OnError): Loop {
  let configured = false;
  let balancesDueAt = 0;
  let rereadDueAt = 0;
  const balancesDue = createBalanceRound(relayer);
  return startLoop({
    name: 'relayer senders',
    pollMs: relayer.leaseMs / RENEWALS_PER_LEASE,
    onError,
    run: async () => {
      if (!configured) await configureSenders(relayer);
      configured = true;
      if (relayer.fees === null) return false;
      const before = relayer.senders.size;
      await keepSenders(relayer);
      const grown = relayer.senders.size > before;
      if (grown) wake();
      if (grown || performance.now() > balancesDueAt) {
        balancesDueAt = performance.now() + BALANCES_MS;
        const senders = grown ? [...relayer.senders.values()] : balancesDue();
        await checkBalances(relayer, senders);
        // Senders that were just taken need no check, because taking them checks their nonces.
        if (!grown) await watchIdleNonces(relayer, senders);
      }
      if (performance.now() > rereadDueAt) {
        rereadDueAt = performance.now() + REREAD_MS;
        await rereadOpen(relayer);
      }
      return false;
    },
  });
}

/**
 * Keeps this worker's leases and its fair share of the senders. Call this several times per lease.
 */
export async function keepSenders(relayer: RelayerState): Promise<void> {
  const { db, owner, livemode, leaseMs, configured } = relayer;
  if (!db.watch.signs(livemode)) {
    // The database may not be the one from which the senders were taken. Their rows will show
    // whether it is.
    relayer.letGo(...relayer.senders.keys());
    return;
  }
  await renew(relayer);
  // A worker that shares no senders, such as a separate registrar process, takes all of its own.
  const workers = settles(relayer)
    ? await db.transaction((tx) => upsertWorker(tx, { livemode, owner, forgetMs: leaseMs }))
    : 1;
  const share = Math.ceil(configured.length / workers);
  await release(relayer, share);
  if (relayer.senders.size >= share || relayer.fees === null) return;
  const held = [...relayer.senders.values()].map((sender) => sender.address);
  const addresses = configured.map((one) => one.address).filter((one) => !held.includes(one));
  const limit = share - relayer.senders.size;
  const taken = await takeSenders(db, { livemode, owner, addresses, limit, leaseMs });
  for (const row of taken) await open(relayer, row);
}

/**
 * True if this process settles payments. A process with only the registrar's key does not count as
 * a worker.
 */
export function settles({ configured }: Pick<RelayerState, 'configured'>): boolean {
  return configured.some((sender) => sender.role === 'operator');
}

async function renew(relayer: RelayerState): Promise<void> {
  const { db, leaseMs } = relayer;
  const held = [...relayer.senders.values()];
  if (held.length === 0) return;
  const kept = new Set(await renewLeases(db, { ...leasesOf(relayer, held), leaseMs }));
  for (const sender of held) {
    if (kept.has(sender.sender)) continue;
    relayer.letGo(sender.sender);
    relayer.log.warn('the lease of a sender was lost', { sender: sender.sender });
  }
}

/** Senders beyond the share take no new work, and are released once they are idle. */
async function release(relayer: RelayerState, share: number): Promise<void> {
  const held = [...relayer.senders.values()];
  held.forEach((sender, index) => {
    sender.see({ isDraining: index >= share });
  });
  const idle = held.filter((sender) => sender.isDraining && sender.open.size === 0);
  if (idle.length === 0) return;
  relayer.letGo(...idle.map(({ sender }) => sender));
  await releaseSenders(relayer.db, leasesOf(relayer, idle));
}

/** Resumes a sender where its last worker stopped: stored transactions are sent again. */
async function open(relayer: RelayerState, row: SenderRow): Promise<void> {
  const known = relayer.configured.find((one) => one.address === row.address);
  const own = present(known, 'configured sender');
  const { sender: number, role, fencing_token: fencingToken, stopped: isStopped } = row;
  const leased = { relayer, sender: number, role, fencingToken, isStopped };
  const sender = createSender({ ...own, ...leased });
  if (!(await catchUpNonce(sender, row.next_nonce))) return;
  const open = await loadOpen(sender);
  // Deployments are exempt: they call factories, which the settings do not name as contracts, and
  // whose events are not read.
  const asking = open.filter(({ requests }) => requests.some(({ kind }) => !KINDS[kind].triedOnce));
  if (!asking.every(({ target }) => isKnown(relayer.chain.config, target))) {
    const what = 'a sender has transactions for a contract that the settings omit';
    relayer.log.error(what, { sender: number });
    return;
  }
  relayer.hold(sender);
  askElsewhere(sender, open);
  await broadcast(sender, open);
  if (sender.open.size === 0) return;
  relayer.log.info('resumed unfinished transactions', { sender: number, count: sender.open.size });
}

/** A contract's events can be read only if the settings name it. */
function isKnown(config: NetworkConfig, target: Hex): boolean {
  const isToken = target.toLowerCase() === config.usdc.toLowerCase();
  return isToken || contractVersionAt(config, target) !== null;
}

/** Releases all senders, so that other workers need not wait for the leases to expire. */
export async function releaseAll(relayer: RelayerState): Promise<void> {
  const leases = leasesOf(relayer, [...relayer.senders.values()]);
  await releaseSenders(relayer.db, leases);
  await leaveSharing(relayer.db, leases);
  relayer.letGo(...leases.senders);
}
