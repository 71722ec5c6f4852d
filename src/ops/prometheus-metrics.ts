import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { NETWORKS, networkOf } from '#core/mode.ts';
import { type Call, tookMs } from '#http/request-state.ts';
import { meters } from '#observability/process-metrics.ts';
import { RELEASE } from '#observability/release-version.ts';

export interface Sample {
  readonly name: string;
  readonly help: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A source of numbers that are read for each scrape. */
export interface SampleSource {
  readonly name: string;
  read(): Promise<readonly Sample[]>;
}

export interface Metrics {
  watch(source: SampleSource): void;
  readonly contentType: string;
  onAnswered(call: Call, method: string, status: number): void;
  /** Renders the Prometheus text format. */
  render(): Promise<string>;
}

/**
 * In seconds. The buckets include the promised times: 20 ms for a create, and at most 30 s for any
 * route.
 */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];
/**
 * Minimum interval between queries of the database and the chains, however often Prometheus
 * scrapes.
 */
const SAMPLE_EVERY_MS = 2_000;
/** Time limit per source, so that one that hangs does not block the others. */
const SOURCE_TIMEOUT_MS = 3_000;

async function readInTime(source: SampleSource): Promise<readonly Sample[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${source.name} did not answer`)), SOURCE_TIMEOUT_MS);
  });
  try {
    return await Promise.race([source.read(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Creates a gauge or counter when its name first appears in a sample, and removes samples that
 * their source no longer reports. A source that cannot be read keeps its last values, and a gauge
 * marks them as outdated.
 */
function createSampler(registry: Registry, sources: SampleSource[]) {
  const shown = new Map<string, Gauge | Counter>();
  const failures = new Counter({
    name: 'tapline_metrics_source_failures_total',
    help: 'Failed reads of a source of metrics.',
    labelNames: ['source'],
    registers: [registry],
  });
  const up = new Gauge({
    name: 'tapline_metrics_source_up',
    help: '1 if its numbers are current; 0 if it cannot be read, so that they are the last known.',
    labelNames: ['source'],
    registers: [registry],
  });
  const latest = new Map<string, readonly Sample[]>();
  let reading: Promise<void> | null = null;
  let readAt = Number.NEGATIVE_INFINITY;

  const show = (sample: Sample) => {
    const { name, help, labels, value } = sample;
    const options = { name, help, labelNames: Object.keys(labels), registers: [registry] };
    // Counters are recognized by name. All are reset before each reading, so `inc` sets the value.
    const isCounter = name.endsWith('_total');
    const one = shown.get(name) ?? (isCounter ? new Counter(options) : new Gauge(options));
    shown.set(name, one);
    one.inc(labels, value);
  };
  const readAll = async () => {
    const results = await Promise.allSettled(sources.map(readInTime));
    for (const one of shown.values()) one.reset();
    for (const [index, result] of results.entries()) {
      const source = sources[index]?.name ?? '';
      const isUp = result.status === 'fulfilled';
      if (isUp) latest.set(source, result.value);
      else failures.inc({ source });
      up.set({ source }, isUp ? 1 : 0);
      latest.get(source)?.forEach(show);
    }
    readAt = performance.now();
    reading = null;
  };
  return async () => {
    if (performance.now() - readAt < SAMPLE_EVERY_MS) return;
    reading ??= readAll();
    await reading;
  };
}

export function createMetrics(first: readonly SampleSource[]): Metrics {
  const sources = [...first];
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'tapline_http_request_duration_seconds',
    help: 'Answered requests by operation and status.',
    labelNames: ['method', 'operation', 'status'],
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
  const requests = new Counter({
    name: 'tapline_requests_total',
    help: 'Requests by network ("none" before a caller is known) and by whether they failed (5xx).',
    labelNames: ['network', 'result'],
    registers: [registry],
  });
  // Starts each counter at 0, because a rate needs a value before the first increment.
  for (const network of [...NETWORKS, 'none']) {
    for (const result of ['failed', 'answered']) requests.inc({ network, result }, 0);
  }
  const refusals = new Counter({
    name: 'tapline_http_refusals_total',
    help: 'Refused requests by error code.',
    labelNames: ['code'],
    registers: [registry],
  });
  const build = new Gauge({
    name: 'tapline_build_info',
    help: 'Always 1; the label is the release of this process.',
    labelNames: ['version', 'node'],
    registers: [registry],
  });
  build.set({ version: RELEASE, node: process.version }, 1);
  const sample = createSampler(registry, sources);
  return {
    contentType: registry.contentType,
    watch: (source) => {
      sources.push(source);
    },
    onAnswered: (call, method, status) => {
      const operation = call.route?.operationId ?? 'none';
      durations.observe({ method, operation, status }, tookMs(call) / 1000);
      const network = call.caller === null ? 'none' : networkOf(call.caller.tenant.livemode);
      requests.inc({ network, result: status >= 500 ? 'failed' : 'answered' });
      if (call.code !== null) refusals.inc({ code: call.code });
    },
    render: async () => {
      await sample();
      return `${await registry.metrics()}\n${await meters.metrics()}`;
    },
  };
}
