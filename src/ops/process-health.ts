import type { Network } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { createMetrics, type Metrics } from '#ops/prometheus-metrics.ts';
import { chainCheck, databaseCheck, type HealthCheck } from '#ops/readiness-checks.ts';
import {
  databaseSamples,
  databaseUp,
  nodeRequestSamples,
  readinessSamples,
  relayerSamples,
} from '#ops/service-samples.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import type { Readiness } from '#settlement/network-readiness.ts';

export interface ProcessHealth {
  readonly checks: readonly HealthCheck[];
  readonly readiness: Readiness;
  /** Each network's chain, as configured in this process. */
  readonly networks: ReadonlyMap<Network, NetworkConfig>;
  readonly metrics: Metrics;
  /** False while the process starts or stops, when it accepts no work. */
  serves: boolean;
}

export function createProcessHealth(deps: {
  readonly db: Database;
  readonly chains: readonly Chain[];
  readonly readiness: Readiness;
}): ProcessHealth {
  const { db, chains, readiness } = deps;
  const metrics = createMetrics([
    databaseUp(db),
    databaseSamples(db),
    ...chains.map((chain) => relayerSamples(db, chain)),
    ...chains.map(nodeRequestSamples),
    readinessSamples(readiness),
  ]);
  const checks = [databaseCheck(db), ...chains.map(chainCheck)];
  const networks = new Map(chains.map(({ config }) => [config.network, config]));
  return { checks, readiness, networks, metrics, serves: true };
}
