import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Bug } from '#core/assert.ts';
import { describeError } from '#core/log.ts';
import { CommitUnknown } from '#db/database.ts';
import { createFollower } from '#settlement/relayer/follow/follower.ts';
import { startHeadWatcher } from '#settlement/relayer/follow/head-watcher.ts';
import { configuredLanes } from '#settlement/relayer/lanes/configure-lanes.ts';
import { releaseAll, settles, startKeeper } from '#settlement/relayer/lanes/keep-lanes.ts';
import { createState } from '#settlement/relayer/machine/memory.ts';
import type { OnError, RelayerDeps, RelayerState } from '#settlement/relayer/machine/state.ts';
import { startReporter } from '#settlement/relayer/report.ts';
import { LaneLost } from '#settlement/relayer/rows/lane-queries.ts';
import { startPayments, startSingles } from '#settlement/relayer/send/senders.ts';

export interface Relayer {
  /** Requests may be waiting. */
  wake(): void;
  /** Finishes what is running and gives the lanes back. Nothing is lost when it is not called. */
  stop(): Promise<void>;
}

/**
 * Works one network's requests in this process: claims them, signs and stores transactions, sends
 * them, and writes back their outcomes. Any number of processes may do so at once.
 */
export function startRelayer(deps: RelayerDeps): Relayer {
  const relayer = createState({
    ...deps,
    owner: `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`,
    configured: configuredLanes(deps.chain.config),
  });
  const { network } = deps.chain.config;
  const onError = createErrorPolicy(relayer);
  const payments = startPayments(relayer, onError);
  const singles = startSingles(relayer, onError);
  const wake = () => {
    payments.wake();
    singles.wake();
  };
  const keeper = startKeeper(relayer, wake, onError);
  const follow = createFollower(relayer, { senders: wake, keeper: keeper.wake });
  const watcher = startHeadWatcher(relayer, follow, onError);
  const reporter = settles(relayer) ? startReporter(relayer, onError) : null;
  const unlisten = deps.wakeups.on('chain-requests', network, wake);
  return {
    wake,
    stop: async () => {
      unlisten();
      const loops = [payments, singles, watcher, keeper, reporter];
      await Promise.all(loops.map((loop) => loop?.stop()));
      await releaseAll(relayer).catch((error) => onError('release of the lanes', error));
    },
  };
}

/** Where what this process remembers may differ from the rows, the keeper reads them again. */
function createErrorPolicy(relayer: RelayerState): OnError {
  const { network } = relayer.chain.config;
  return (name, error) => {
    if (error instanceof LaneLost) relayer.letGo(error.lane);
    const isUncertain = error instanceof CommitUnknown || error instanceof Bug;
    if (isUncertain) relayer.letGo(...relayer.lanes.keys());
    relayer.log.error(`the ${name} failed`, { network, error: describeError(error) });
  };
}
