import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiDeps } from '#app/api-dependencies.ts';
import { memoryRateLimiter, type RateLimiter } from '#http/rate-limit.ts';
import { redisRateLimiter } from '#http/redis-rate-limit.ts';
import { createRequestLines } from '#http/request-lines.ts';
import type { Call } from '#http/request-state.ts';
import { addOperationalRoutes } from '#ops/operational-routes.ts';
import { createProcessHealth } from '#ops/process-health.ts';
import { requestLogSamples } from '#ops/service-samples.ts';
import { createRequestLog } from '#request-log/request-log.ts';

/** This signal turns request lines in the log on and off. */
const LINES_SIGNAL = 'SIGUSR2';

export interface ApiOperations {
  readonly limiter: RateLimiter;
  onAnswered(request: FastifyRequest, call: Call, status: number): void;
  /** Adds health and metrics, and closes limits and logs together with the server. */
  addTo(app: FastifyInstance): void;
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
  // Lets an operator turn request lines on during an incident, without a restart.
  process.on(LINES_SIGNAL, lines.toggle);
  health.metrics.watch(requestLogSamples(requestLog));
  return {
    limiter,
    onAnswered: (request, call, status) => {
      lines.note(request, call, status);
      requestLog.note(request, call, status);
      health.metrics.onAnswered(call, request.method, status);
    },
    addTo: (app) => {
      addOperationalRoutes(app, health, deps.config);
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
