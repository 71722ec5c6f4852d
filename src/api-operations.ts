import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiDeps } from '#api-role.ts';
import type { Call } from '#http/call.ts';
import type { Doc } from '#http/openapi-schemas.ts';
import { memoryRateLimiter, type RateLimiter } from '#http/rate-limit.ts';
import { redisRateLimiter } from '#http/redis-rate-limit.ts';
import { chainCheck, databaseCheck } from '#ops/health.ts';
import { createMetrics } from '#ops/metrics.ts';
import { addOperationalRoutes } from '#ops/operational-routes.ts';
import { addReferenceRoutes } from '#ops/reference-routes.ts';
import { createRequestLog } from '#ops/request-log.ts';
import {
  databaseSamples,
  databaseUp,
  nodeRequestSamples,
  readinessSamples,
  relayerSamples,
  requestLogSamples,
} from '#ops/service-samples.ts';

/** What is around the surfaces of an API process: limits, log, numbers, health, reference. */
export interface ApiOperations {
  readonly limiter: RateLimiter;
  onAnswered(request: FastifyRequest, call: Call, status: number): void;
  /** Adds the paths that have no surface, and the end of all this to the server's own. */
  addTo(app: FastifyInstance, documents: Readonly<Record<string, Doc>>): Promise<void>;
}

function createLimiter({ config, log }: ApiDeps): RateLimiter & { close?(): Promise<void> } {
  const { redisUrl, rateLimit } = config;
  if (redisUrl === null) return memoryRateLimiter(rateLimit);
  return redisRateLimiter({ url: redisUrl, limit: rateLimit, log });
}

export function createOperations(deps: ApiDeps): ApiOperations {
  const { db, chains, readiness } = deps;
  const limiter = createLimiter(deps);
  const requestLog = createRequestLog(deps);
  const metrics = createMetrics([
    databaseUp(db),
    databaseSamples(db),
    ...chains.map((chain) => relayerSamples(db, chain)),
    ...chains.map(nodeRequestSamples),
    readinessSamples(readiness),
    requestLogSamples(requestLog),
  ]);
  let isStopping = false;
  return {
    limiter,
    onAnswered: (request, call, status) => {
      requestLog.note(request, call, status);
      metrics.onAnswered(call, request.method, status);
    },
    addTo: async (app, documents) => {
      const checks = [databaseCheck(db), ...chains.map(chainCheck)];
      addOperationalRoutes(app, { checks, readiness, metrics, isStopping: () => isStopping });
      await addReferenceRoutes(app, documents);
      app.addHook('preClose', async () => {
        isStopping = true;
      });
      app.addHook('onClose', async () => {
        await requestLog.close();
        await limiter.close?.();
      });
    },
  };
}
