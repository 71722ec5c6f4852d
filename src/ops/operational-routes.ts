import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';
import { isLive, NETWORKS } from '#core/mode.ts';
import { checkReadiness, type HealthCheck } from '#ops/health.ts';
import type { Metrics } from '#ops/metrics.ts';
import type { Readiness } from '#settlement/readiness.ts';

/** Who may read the numbers: this machine and its own networks, not the public. */
const METRICS_RANGES = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal']);

function mayReadMetrics(address: string): boolean {
  return ipaddr.isValid(address) && METRICS_RANGES.has(ipaddr.process(address).range());
}

/**
 * `/livez`: the process runs. `/readyz`: it can serve requests; and which
 * networks settle. `/metrics`: numbers for
 * Prometheus, for callers from private addresses.
 */
export function addOperationalRoutes(
  app: FastifyInstance,
  deps: {
    readonly checks: readonly HealthCheck[];
    readonly readiness: Readiness;
    readonly metrics: Metrics;
    /** A process that stops takes no new work. */
    readonly isStopping: () => boolean;
  },
): void {
  app.get('/livez', async (_request, reply) =>
    reply.header('Cache-Control', 'no-store').send({ status: 'ok' }),
  );
  app.get('/readyz', async (_request, reply) => {
    const health = await checkReadiness(deps.checks);
    const status = deps.isStopping() ? 'not_ready' : health.status;
    // Told, and no reason for 503: everything but taking money goes on.
    const networks = Object.fromEntries(
      NETWORKS.map((network) => [network, deps.readiness.of(isLive(network))]),
    );
    return reply
      .code(status === 'ready' ? 200 : 503)
      .header('Cache-Control', 'no-store')
      .send({ ...health, status, networks });
  });
  app.get('/metrics', async (request, reply) => {
    if (!mayReadMetrics(request.ip)) return reply.callNotFound();
    const text = await deps.metrics.render();
    return reply.header('Content-Type', deps.metrics.contentType).send(text);
  });
}
