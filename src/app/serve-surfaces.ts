import type { FastifyInstance } from 'fastify';
import type { ApiDeps } from '#app/api-dependencies.ts';
import type { ApiOperations } from '#app/api-operations.ts';
import { operatorDoor } from '#app/restrict-operator-host.ts';
import type { Surface } from '#http/route.ts';
import { buildServer } from '#http/server.ts';
import { createHeldKeyCheck } from '#idempotency/held-key.ts';

export function serveSurfaces(
  deps: ApiDeps,
  surfaces: readonly Surface[],
  parts: { readonly operations: ApiOperations; readonly docsUrl: () => string },
): Promise<FastifyInstance> {
  const { operations, docsUrl } = parts;
  return buildServer({
    ...deps,
    surfaces,
    limiter: operations.limiter,
    trustedProxies: deps.config.trustedProxies,
    https: deps.config.publicUrl?.startsWith('https:') === true,
    docsUrl,
    onAnswered: operations.onAnswered,
    isThere: operatorDoor(deps.config),
    checkHeldKey: createHeldKeyCheck(deps.db),
  });
}
