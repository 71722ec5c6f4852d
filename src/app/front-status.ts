import type { FastifyInstance } from 'fastify';
import { isLive } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { limitByAddress, PROBES } from '#http/address-rate-limit.ts';
import { selectMedianPaidMs } from '#ops/metric-queries.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Readiness } from '#settlement/network-readiness.ts';

/** All readers of the front page share one reading of this age. */
const FRESH_MS = 1_000;

async function statusOf(chain: Chain, db: Database) {
  const livemode = isLive(chain.config.network);
  const [block, paidMs] = await chain.remember('front status', FRESH_MS, () =>
    Promise.all([chain.newest().catch(() => null), selectMedianPaidMs(db, livemode)]),
  );
  const age = block === null ? null : Math.max(0, Date.now() - block.time.getTime());
  return { last_block_ms: age, paid_ms: paidMs };
}

/** Adds what the front page shows of each network. A node that does not answer has no block. */
export function addFrontStatus(
  app: FastifyInstance,
  {
    db,
    chains,
    readiness,
  }: {
    readonly db: Database;
    readonly chains: readonly Chain[];
    readonly readiness: Readiness;
  },
): void {
  app.get('/front-status', { onRequest: limitByAddress(PROBES) }, async (_request, reply) => {
    const networks = await Promise.all(
      chains.map(async (chain) => {
        const { network } = chain.config;
        const state = readiness.of(isLive(network));
        return [network, { ...state, ...(await statusOf(chain, db)) }] as const;
      }),
    );
    return reply.header('Cache-Control', 'no-store').send(Object.fromEntries(networks));
  });
}
