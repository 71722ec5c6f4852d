import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { ApiDeps } from '#app/api-dependencies.ts';
import { buildApi } from '#app/api-role.ts';
import { StartError } from '#core/start-error.ts';
import type { Undo } from '#core/undo.ts';
import { createDrain, type Drain } from '#http/drain.ts';
import { describeError } from '#observability/log.ts';
import { buildOpsServer } from '#ops/operational-routes.ts';
import { createProcessHealth } from '#ops/process-health.ts';
import { durabilitySamples } from '#ops/service-samples.ts';
import { watchDurability } from '#ops/watch-durability.ts';
import { type LanServer, serveLan } from '#sandbox/lan-server.ts';
import type { Config } from '#settings/config.ts';
import { WHOLE_HOUR } from '#settlement/hourly-ceiling-and-shares.ts';
import { watchReadiness } from '#settlement/network-readiness.ts';

interface ListenAddress {
  readonly setting: 'PORT' | 'OPS_PORT';
  readonly host: string;
  readonly port: number;
}

function listenAddresses({ roles, host, port, opsPort }: Config): ListenAddress[] {
  const api: ListenAddress[] = roles.has('api') ? [{ setting: 'PORT', host, port }] : [];
  return opsPort === null ? api : [...api, { setting: 'OPS_PORT', host, port: opsPort }];
}

/** Checks early whether the ports are free, before anything slow is started. */
export async function requirePorts(config: Config): Promise<void> {
  for (const address of listenAddresses(config)) await requirePort(address);
}

async function requirePort(address: ListenAddress): Promise<void> {
  if (address.port === 0) return;
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => reject(portError(address, error)));
    probe.listen(address.port, address.host, () => probe.close(() => resolve()));
  });
}

function portError({ setting, port, host }: ListenAddress, error: unknown): StartError {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return new StartError(
    code === 'EADDRINUSE'
      ? `${setting} ${port} is taken on ${host}: stop the program that listens there, or set ` +
          `another ${setting}`
      : `cannot listen on ${host}:${port}: ${describeError(error)}`,
  );
}

/** Maximum time that a start waits for the first heartbeat of its own worker. */
export const OWN_WORKER_MS = 5_000;

export interface Served {
  /** `null` without the api role. */
  readonly webUrl: string | null;
  /** `null` without `--lan`. */
  readonly lan: LanServer | null;
  /** Makes load balancers stop sending requests. Requests that still arrive are served. */
  turnAway(): void;
}

/** Listens on all addresses of this process, once the networks' readiness is known. */
export async function serve(deps: Omit<ApiDeps, 'readiness'>, stops: Undo): Promise<Served> {
  const { config } = deps;
  const addresses = listenAddresses(config);
  if (addresses.length === 0) return { webUrl: null, lan: null, turnAway: () => {} };
  const isSandbox = config.chains.testnet === null;
  const ceilingShare = config.ceilingShare ?? (isSandbox ? WHOLE_HOUR : null);
  const readiness = await watchReadiness({ ...deps, ceilingShare });
  stops.push(readiness.stop);
  if (config.roles.has('worker')) await readiness.settled(OWN_WORKER_MS);
  const health = createProcessHealth({ ...deps, readiness });
  // Probes report "not ready" until requests can be served.
  health.serves = false;
  if (config.production) {
    const durability = watchDurability({ ...deps, declared: config.durability });
    stops.push(durability.stop);
    health.metrics.watch(durabilitySamples(durability));
  }
  let webUrl: string | null = null;
  let lan: LanServer | null = null;
  const drain = createDrain();
  // Stopping closes the servers in reverse order, so that the probes close last.
  for (const address of addresses.toReversed()) {
    const server = { address, drain: address.setting === 'PORT' ? drain : createDrain() };
    if (address.setting === 'OPS_PORT') await listen(buildOpsServer(health, config), server, stops);
    else {
      const app = await buildApi({ ...deps, readiness, health, drain });
      webUrl = await listen(app, server, stops);
      if (config.lan !== null) lan = await serveLan(app, config.lan);
    }
  }
  if (lan !== null) stops.push(lan.stop);
  health.serves = true;
  const turnAway = () => {
    health.serves = false;
  };
  return { webUrl, lan, turnAway };
}

async function listen(
  app: FastifyInstance,
  { address, drain }: { readonly address: ListenAddress; readonly drain: Drain },
  stops: Undo,
): Promise<string> {
  stops.push(() => drain.close(app));
  try {
    return await app.listen({ host: address.host, port: address.port });
  } catch (error) {
    throw portError(address, error);
  }
}
