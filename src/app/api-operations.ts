import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiDeps } from '#app/api-role.ts';
import { addReferenceRoutes } from '#app/reference-routes.ts';
import type { Call } from '#http/call.ts';
import type { Doc } from '#http/openapi-schemas.ts';
import { memoryRateLimiter, type RateLimiter } from '#http/rate-limit.ts';
import { redisRateLimiter } from '#http/redis-rate-limit.ts';
import { createRequestLines } from '#http/request-lines.ts';
import { addOperationalRoutes } from '#ops/operational-routes.ts';
import { createProcessHealth } from '#ops/process-health.ts';
import { requestLogSamples } from '#ops/service-samples.ts';
import { createRequestLog } from '#request-log/request-log.ts';

/** Begins and ends request lines of a running process. */
const LINES_SIGNAL = 'SIGUSR2';

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
  const lines = createRequestLines(deps.config.logRequests);
  // Asked for while the trouble is there, without a restart.
  process.on(LINES_SIGNAL, lines.toggle);
  health.metrics.watch(requestLogSamples(requestLog));
  return {
    limiter,
    onAnswered: (request, call, status) => {
      lines.note(request, call, status);
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
        process.off(LINES_SIGNAL, lines.toggle);
        await requestLog.close();
        await limiter.close?.();
      });
    },
  };
}
