import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { NetworkSchema, shortListOf } from '#apis/payer/payer-schema.ts';
import { answerWith } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

/** This path needs no session, because a payer must know the chain to sign in. */
export const NETWORKS_PATH = '/networks';

/** Only payers of live mode need to buy USDC. */
function topUp(url: string | null, livemode: boolean) {
  return url === null || !livemode ? null : { url, host: new URL(url).host };
}

function renderNetwork({ outside, settings }: ApiContext, config: NetworkConfig) {
  const { passFiles } = outside;
  const { livemode, chainId, usdc, usdcDomain, settlement } = config;
  return {
    object: 'network',
    livemode,
    network: networkOf(livemode),
    chain_id: chainId,
    usdc,
    usdc_domain: usdcDomain,
    settlement,
    rpc_url: config.publicRpcUrl,
    settlement_timeout_seconds: settings.settleWithinS,
    top_up: topUp(settings.walletTopUpUrl, livemode),
    pass_files: (['apple', 'google'] as const).filter((wallet) => passFiles[wallet] !== null),
  };
}

/** Sorts the networks: in a sandbox, the test network is first; in production, the main network. */
function inOrder(networks: readonly NetworkConfig[], production: boolean): NetworkConfig[] {
  return [...networks].sort(
    (a, b) => (Number(a.livemode) - Number(b.livemode)) * (production ? -1 : 1),
  );
}

export function networkRoutes(ctx: ApiContext): PayerRoute[] {
  return [
    payerRoute({
      method: 'GET',
      path: NETWORKS_PATH,
      operationId: 'listPayerNetworks',
      moves: 'nothing',
      summary: 'List the networks that are served, and the contracts on them',
      description:
        'Needs no session. The network that a new wallet should open comes first: the test ' +
        'network of a sandbox, the main one in production.',
      responses: {
        200: { schema: shortListOf(NetworkSchema), description: 'Every network of this service.' },
      },
      handle: async () => {
        await Promise.all(ctx.chains.map((chain) => chain.refreshToken()));
        const configs = ctx.chains.map(({ config }) => config);
        const data = inOrder(configs, ctx.settings.production).map((config) =>
          renderNetwork(ctx, config),
        );
        return answerWith(200, { object: 'list', data, has_more: false, next_cursor: null });
      },
    }),
  ];
}
