import { silentLog } from '#core/log.ts';
import { isLive, NETWORKS } from '#core/mode.ts';
import { type Chain, openChain } from '#settlement/chain/chain.ts';
import { NETWORK_DEFAULTS } from '#settlement/networks.ts';

/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:1';

/** Both networks, with nodes that nobody can reach: what needs no chain works. */
export function openAwayChains(): Promise<Chain[]> {
  return Promise.all(
    NETWORKS.map((network, index) =>
      openChain(
        {
          ...NETWORK_DEFAULTS,
          network,
          livemode: isLive(network),
          chainId: 31_337 + index,
          rpcUrls: [NOWHERE],
          usdc: `0x${'11'.repeat(20)}`,
          settlement: `0x${'22'.repeat(20)}`,
          relayerKeys: [],
          registrarKey: `0x${'33'.repeat(32)}`,
        },
        silentLog,
      ),
    ),
  );
}
