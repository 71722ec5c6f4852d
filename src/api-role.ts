import type { FastifyInstance } from 'fastify';
import { createKeyAuthenticator } from '#accounts/authenticate.ts';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import type { Config } from '#config.ts';
import { deriveKey } from '#config.ts';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { memoryRateLimiter } from '#http/rate-limit.ts';
import type { Surface } from '#http/route.ts';
import { buildServer } from '#http/server.ts';
import { createIntentCreator } from '#payments/create.ts';
import { createIntentReader } from '#payments/read-intent.ts';
import { paymentRoutes } from '#payments/routes.ts';
import { refundRoutes } from '#refunds/routes.ts';
import type { Chain } from '#settlement/chain.ts';

export interface ApiDeps {
  readonly config: Config;
  readonly secret: Buffer;
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly log: Log;
  readonly chains: readonly Chain[];
}

/** The merchant API: `/api/v1`. */
function merchantSurface(deps: ApiDeps): Surface<MerchantCaller> {
  const cursorKey = deriveKey(deps.secret, 'cursors');
  const shared = { ...deps, cursorKey };
  return {
    root: '/api/v1',
    authenticate: createKeyAuthenticator(deps.db),
    routes: [
      ...paymentRoutes({
        ...shared,
        createIntent: createIntentCreator(deps),
        readIntent: createIntentReader(deps),
      }),
      ...refundRoutes(shared),
    ],
  };
}

/** The HTTP server with every surface; the caller listens. */
export async function buildApi(deps: ApiDeps): Promise<FastifyInstance> {
  return buildServer({
    ...deps,
    surfaces: [merchantSurface(deps) as unknown as Surface],
    limiter: memoryRateLimiter(deps.config.rateLimit),
    trustedProxies: deps.config.trustedProxies,
  });
}
