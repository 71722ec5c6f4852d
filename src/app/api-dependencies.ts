import type { LocalAccount } from 'viem/accounts';
import type { TestPasses } from '#apis/device/test-pass-routes.ts';
import { relayPath } from '#app/chain-relay.ts';
import type { SandboxLinks } from '#app/sandbox-links.ts';
import type { IdKey } from '#core/ids.ts';
import { type Network, networkOf } from '#core/mode.ts';
import type { ProcessContext } from '#db/process-context.ts';
import type { Drain } from '#http/drain.ts';
import type { ServerOptions } from '#http/server.ts';
import type { ProcessHealth } from '#ops/process-health.ts';
import type { PassFiles } from '#payers/pass-files.ts';
import type { Config } from '#settings/config.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Readiness } from '#settlement/network-readiness.ts';
import type { Network as OutsideNetwork } from '#webhooks/connect-to-receivers.ts';
import { systemResolver } from '#webhooks/dns-resolver.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

export interface ApiDeps extends ProcessContext {
  readonly config: Config;
  readonly secret: Buffer;
  readonly idKey: IdKey;
  readonly chains: readonly Chain[];
  readonly readiness: Readiness;
  /** The process's health, if another port reports it as well. */
  readonly health?: ProcessHealth;
  /** Takes the server out of service. Default: never. */
  readonly drain?: Drain;
  /** Wraps each request's handler; default: none. */
  readonly around?: ServerOptions['around'];
  /** The demo pass that test helpers tap by default; `null` without demo data. */
  readonly defaultPass: string | null;
  /** The test passes of terminals in test mode; `null` without demo data. */
  readonly testPasses?: TestPasses | null;
  /** The wallets of the demo passes, by pass. */
  readonly signerOf?: (pass: string) => LocalAccount | null;
  /** Creates passes for phone wallets; default: none. */
  readonly passFiles?: PassFiles;
  /** The public origin of the web apps; default: as configured. */
  readonly webUrl?: () => string;
  /** The folder with the built web apps; `null` to serve only the APIs. */
  readonly webFolder?: string | null;
  /** Links for browsers on a sandbox's own machine; `null` without demo data. */
  readonly sandboxLinks?: SandboxLinks | null;
}

/**
 * Returns the network access for push services. It never includes this machine, even in a sandbox;
 * only the operator can allow private addresses (WEBHOOK_ALLOW_CIDRS).
 */
export function pushNetwork({
  webhookAllowCidrs,
}: Pick<Config, 'webhookAllowCidrs'>): OutsideNetwork {
  return { policy: addressPolicy(webhookAllowCidrs), resolver: systemResolver() };
}

/**
 * Returns the node that browsers may call, per network: the operator's, or in a sandbox the relay.
 */
export function publicNodes(deps: {
  readonly config: Config;
  readonly chains: readonly Chain[];
  readonly webUrl: () => string;
}): (network: Network) => string | null {
  return (network) => {
    const chain = deps.chains.find(({ config }) => networkOf(config.livemode) === network);
    if (chain === undefined) return null;
    if (chain.config.publicRpcUrl !== null) return chain.config.publicRpcUrl;
    if (deps.config.chains[network] !== null) return null;
    return `${deps.webUrl()}/${relayPath(network)}`;
  };
}
