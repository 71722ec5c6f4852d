import { createHash } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { equalInConstantTime } from '#core/bearer-secrets.ts';
import { isLive, NETWORKS, type Network } from '#core/mode.ts';
import { isOwnAddress } from '#core/private-address.ts';
import { limitByAddress, PROBES } from '#http/address-rate-limit.ts';
import { isAskedAt, isOwnName } from '#http/asked-host.ts';
import { checkFraming } from '#http/check-framing.ts';
import { RELEASE } from '#observability/release-version.ts';
import type { ProcessHealth } from '#ops/process-health.ts';
import { checkReadiness } from '#ops/readiness-checks.ts';
import { CUSTOM } from '#settlement/chain-profiles.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

export interface MetricsAccess {
  readonly production: boolean;
  /** `null` if there is no operations port. */
  readonly opsPort: number | null;
  readonly metricsToken: string | null;
  /** The public URL. Its host is one of the names under which /metrics may be read. */
  readonly publicUrl: string | null;
}

const BAD_REQUEST = 400;

/** Hashes both texts to equal lengths, so that the comparison takes constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** In production the token is required, because a proxy may change the caller's address. */
function mayReadMetrics(request: FastifyRequest, access: MetricsAccess): boolean {
  const { production, metricsToken, publicUrl } = access;
  if (metricsToken === null) {
    const isOwn = isOwnAddress(request.ip) && isAskedAt(request, isOwnName(publicUrl));
    return !production && isOwn;
  }
  const sent = digest(request.headers.authorization ?? '');
  return equalInConstantTime(sent, digest(`Bearer ${metricsToken}`));
}

/**
 * Adds `/livez` (the process is running) and `/readyz` (it can serve requests, and which networks
 * settle).
 */
function addProbes(app: FastifyInstance, health: ProcessHealth): void {
  app.get('/livez', async (_request, reply) =>
    reply.header('Cache-Control', 'no-store').send({ status: 'ok' }),
  );
  // Limits requests to /readyz, because it queries the database, unlike /livez.
  const onRequest = limitByAddress(PROBES);
  app.get('/readyz', { onRequest }, async (request, reply) => {
    const checked = await checkReadiness(health.checks, graceMsOf(request));
    const status = health.serves ? checked.status : 'not_ready';
    // Reports a network's problem without a 503, because everything except taking payments works.
    const networks = Object.fromEntries(
      NETWORKS.map((network) => [network, networkOf(health, network)]),
    );
    return reply
      .code(status === 'ready' ? 200 : 503)
      .header('Cache-Control', 'no-store')
      .send({ ...checked, status, version: RELEASE, networks });
  });
}

/** Maximum grace period: a database that is away for longer is no pause. */
const MAX_GRACE_S = 60;

/** Returns `grace`, the seconds for which a load balancer tolerates a pause of the database. */
function graceMsOf({ query }: FastifyRequest): number {
  const { grace } = query as { readonly grace?: unknown };
  const seconds = typeof grace === 'string' && /^\d{1,2}$/.test(grace) ? Number(grace) : 0;
  return Math.min(seconds, MAX_GRACE_S) * 1_000;
}

function networkOf({ readiness, networks }: ProcessHealth, network: Network) {
  const { settles, reasons } = readiness.of(isLive(network));
  const config = networks.get(network);
  return {
    settles,
    reasons,
    profile: config?.profile.name ?? CUSTOM.name,
    payments_left: readiness.paymentsLeft(isLive(network)),
    token: config === undefined ? null : tokenOf(config),
  };
}

/** Returns the token domain that wallets sign, and a warning if it may be wrong. */
function tokenOf({ usdcDomain, token }: NetworkConfig) {
  return { ...usdcDomain, problem: token.domainProblem };
}

function addMetrics(
  app: FastifyInstance,
  { metrics }: ProcessHealth,
  mayRead: (request: FastifyRequest) => boolean,
): void {
  app.get('/metrics', async (request, reply) => {
    if (!mayRead(request)) return reply.callNotFound();
    const text = await metrics.render();
    return reply.header('Content-Type', metrics.contentType).send(text);
  });
}

/** Adds the routes on the API's port: probes, and /metrics unless it has a separate port. */
export function addOperationalRoutes(
  app: FastifyInstance,
  health: ProcessHealth,
  access: MetricsAccess,
): void {
  addProbes(app, health);
  if (access.opsPort === null) {
    addMetrics(app, health, (request) => mayReadMetrics(request, access));
  }
}

/**
 * Builds a server for probes and /metrics only, on a port that is not published. It accepts any
 * host name: Prometheus uses the names that a cluster gives to processes, and no browser can reach
 * the port.
 */
export function buildOpsServer(
  health: ProcessHealth,
  { production, publicUrl }: Pick<MetricsAccess, 'production' | 'publicUrl'>,
): FastifyInstance {
  const app = fastify({ logger: false, exposeHeadRoutes: false, forceCloseConnections: true });
  app.addHook('onRequest', async (request, reply) => {
    const refusal = checkFraming(request.raw, request.originalUrl);
    if (refusal === null) return;
    await reply
      .code(BAD_REQUEST)
      .headers(refusal.headers ?? {})
      .send({ error: refusal.message });
  });
  addProbes(app, health);
  addMetrics(app, health, (request) => production || isAskedAt(request, isOwnName(publicUrl)));
  return app;
}
