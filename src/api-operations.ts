import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiDeps } from '#api-role.ts';
import type { Call } from '#http/call.ts';
import type { Doc } from '#http/openapi-schemas.ts';
import { memoryRateLimiter, type RateLimiter } from '#http/rate-limit.ts';
import { redisRateLimiter } from '#http/redis-rate-limit.ts';
import { addOperationalRoutes } from '#ops/operational-routes.ts';
import { createProcessHealth } from '#ops/process-health.ts';
import { addReferenceRoutes } from '#ops/reference-routes.ts';
import { createRequestLog } from '#ops/request-log.ts';
import { requestLogSamples } from '#ops/service-samples.ts';

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
  const health = deps.health ?? createProcessHealth(deps);
  const limiter = createLimiter(deps);
  const requestLog = createRequestLog(deps);
  health.metrics.watch(requestLogSamples(requestLog));
  return {
    limiter,
    onAnswered: (request, call, status) => {
      requestLog.note(request, call, status);
      health.metrics.onAnswered(call, request.method, status);
    },
    addTo: async (app, documents) => {
      addOperationalRoutes(app, health, deps.config);
      await addReferenceRoutes(app, documents);
      app.addHook('preClose', async () => {
        health.serves = false;
      });
      app.addHook('onClose', async () => {
        await requestLog.close();
        await limiter.close?.();
      });
    },
  };
}
