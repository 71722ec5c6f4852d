import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import type { Database } from '#db/database.ts';
import { tellOfProposal } from '#payouts/foreign-proposal.ts';
import type { Config } from '#settings/config.ts';
import { type Chain, openChain } from '#settlement/chain/chain.ts';
import type { NetworkConfig } from '#settlement/networks.ts';
import { startWatchtower } from '#watch/watchtower.ts';

interface WatchRoleDeps {
  readonly config: Pick<Config, 'watch' | 'databaseUrl' | 'chains'>;
  readonly chains: readonly Chain[];
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Seals what waits to be mailed. */
  readonly peopleKey: Buffer;
}

/** The same network by each of its addresses alone: what one says, another has to say too. */
function byAddress(config: NetworkConfig): NetworkConfig[] {
  const { rpcUrls, rpcHeaders, rpcTimeoutsMs } = config;
  return rpcUrls.map((url, at) => ({
    ...config,
    rpcUrls: [url],
    rpcHeaders: rpcHeaders.slice(at, at + 1),
    rpcTimeoutsMs: [rpcTimeoutsMs[at] ?? rpcTimeoutsMs.at(-1) ?? 0],
  }));
}

/**
 * Watches the contracts of both networks.
 * @throws StartError without a database and chains that others work on.
 */
export async function startWatchtowers(deps: WatchRoleDeps): Promise<{ stop(): Promise<void> }> {
  const { config, log } = deps;
  const { testnet, mainnet } = config.chains;
  if (config.databaseUrl === null || testnet === null || mainnet === null) {
    throw new StartError('--roles watch needs DATABASE_URL and the settings of both chains');
  }
  const tellMerchant = tellOfProposal(deps.peopleKey);
  const opened: Chain[] = [];
  const towers: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    await Promise.all(towers.map((tower) => tower.stop()));
    await Promise.all(opened.map((chain) => chain.close()));
  };
  try {
    for (const { config: ofNetwork } of deps.chains) {
      const { network } = ofNetwork;
      const chains = await Promise.all(byAddress(ofNetwork).map((one) => openChain(one, log)));
      opened.push(...chains);
      const [first, ...others] = chains;
      if (first === undefined) throw new StartError(`${network} has no address of a node`);
      const { key: watchKey, pauseFrom } = config.watch[network];
      log.info(tellWatch({ network, addresses: chains.length, stops: watchKey !== null }));
      const own = { watchKey, pauseFrom, tellMerchant };
      towers.push(startWatchtower({ ...deps, ...own, chains: [first, ...others] }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

/** One line at the start. */
function tellWatch(tower: {
  readonly network: string;
  readonly addresses: number;
  readonly stops: boolean;
}): string {
  const { network, addresses, stops } = tower;
  if (!stops) return `${network}: the watchtower tells, and stops nothing: it has no key`;
  if (addresses < 2)
    return `${network}: the watchtower tells, and stops nothing: it has one address only`;
  return `${network}: the watchtower tells, and stops what two addresses name`;
}
