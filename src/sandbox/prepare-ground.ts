import { NETWORKS, type Network } from '#core/mode.ts';
import { StartError } from '#core/start-error.ts';
import type { Undo } from '#core/undo.ts';
import type { Log } from '#observability/log.ts';
import { type ChainNode, startChainNode } from '#sandbox/chain-node.ts';
import type { DataFolder } from '#sandbox/data-folder.ts';
import { prepareNetwork } from '#sandbox/deploy-sandbox-network.ts';
import { startPostgres } from '#sandbox/start-postgres.ts';
import type { Config } from '#settings/config.ts';
import { describeProfile } from '#settlement/chain-profiles.ts';
import { whenItCounts } from '#settlement/choose-confirmations.ts';
import { NETWORK_DEFAULTS, type NetworkSettings } from '#settlement/network-config.ts';

export interface Ground {
  readonly databaseUrl: string;
  readonly networks: readonly NetworkSettings[];
  readonly lost: readonly Promise<string>[];
}

/**
 * Starts an embedded database and an embedded chain per network, except where external ones are
 * configured.
 */
export async function prepareGround(
  config: Config,
  ground: { readonly folder: DataFolder; readonly secret: Buffer; readonly log: Log },
  stops: Undo,
): Promise<Ground> {
  const { folder, secret } = ground;
  const log = (line: string) => ground.log.info(line);
  const lost: Promise<string>[] = [];
  const startDatabase = async () => {
    if (config.databaseUrl !== null) return config.databaseUrl;
    const postgres = await startPostgres({ folder, log, readyMs: config.sandboxStartMs });
    stops.push(postgres.stop);
    lost.push(postgres.lost);
    return postgres.url;
  };
  const startNetwork = async (network: Network) => {
    const external = config.chains[network];
    const rules = external ?? { ...NETWORK_DEFAULTS, network, ...config.embedded[network] };
    log(describeProfile(rules));
    log(whenItCounts(rules));
    if (external !== null) return external;
    if (config.secret?.previous !== undefined) {
      throw new StartError(
        'TAPLINE_SECRET_PREVIOUS: embedded chains were set up under TAPLINE_SECRET, which cannot ' +
          'change there; start with a new data folder instead',
      );
    }
    const name = network;
    const node: ChainNode = await startChainNode({
      folder,
      name,
      chainId: rules.chainId,
      blockMs: config.embedded[network].blockMs,
      log,
      readyMs: config.sandboxStartMs,
    });
    stops.push(node.stop);
    lost.push(node.lost);
    const { blockMs: _, ...own } = config.embedded[network];
    return { ...(await prepareNetwork(node, network, secret)), ...own };
  };
  const started = await Promise.allSettled([
    startDatabase(),
    ...NETWORKS.map((network) => startNetwork(network)),
  ]);
  const failed = started.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const [databaseUrl, ...networks] = started.map((result) =>
    result.status === 'fulfilled' ? result.value : '',
  );
  return { databaseUrl: databaseUrl as string, networks: networks as NetworkSettings[], lost };
}
