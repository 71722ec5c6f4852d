import { createServer } from 'node:net';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { fileMailer, type Mailer, smtpMailer } from '#accounts/mail.ts';
import { type ApiDeps, buildApi } from '#api-role.ts';
import { type Config, idSealingKey, peopleKey, webhookKey } from '#config.ts';
import { AlignedClock } from '#core/clock.ts';
import { describeError, type Log } from '#core/log.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import { NETWORKS, type Network } from '#core/mode.ts';
import { StartError } from '#core/start-error.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { openIdKey } from '#db/id-key.ts';
import { migrate } from '#db/migrate.ts';
import { connectWakeups } from '#db/wakeups.ts';
import type { AnchorTarget } from '#ops/audit-anchors.ts';
import { buildOpsServer } from '#ops/operational-routes.ts';
import { createProcessHealth } from '#ops/process-health.ts';
import { declineOverdue, type SettleDeps } from '#payments/settle.ts';
import { type ChainNode, startChainNode } from '#sandbox/chain-node.ts';
import { type DataFolder, openDataFolder } from '#sandbox/data-folder.ts';
import { ensureDemo } from '#sandbox/demo.ts';
import { prepareNetwork } from '#sandbox/deploy.ts';
import { startPostgres } from '#sandbox/postgres.ts';
import { removeSandboxFile, type SandboxFile, writeSandboxFile } from '#sandbox/sandbox-file.ts';
import { openChain } from '#settlement/chain.ts';
import { requireContractDelays } from '#settlement/check-contract.ts';
import { prepareLanes } from '#settlement/configure-lanes.ts';
import { whenItCounts } from '#settlement/confirmations.ts';
import { guardNetwork } from '#settlement/network-guard.ts';
import type { NetworkSettings } from '#settlement/networks.ts';
import { watchReadiness } from '#settlement/readiness.ts';
import { startWorkers } from '#worker-role.ts';

export interface Running {
  /** Where HTTP is served; null without the api role. */
  readonly webUrl: string | null;
  readonly sandbox: SandboxFile | null;
  /** Resolves with the reason when a part that this process started has died. */
  readonly lost: Promise<string>;
  /** Stops accepting, finishes what runs, gives leases back. Within 10 s. */
  stop(): Promise<void>;
}

/** Ids of the embedded chains (decisions.md section 1). */
const CHAIN_IDS: Readonly<Record<Network, number>> = { testnet: 31_337, mainnet: 31_338 };
const MIN_SERVER_VERSION = 150_000;
/** How often the clock is compared with the database's. */
const ALIGN_EVERY_MS = 10_000;
/** Requests that run get this long to finish; then their sockets are closed. */
const DRAIN_MS = 5_000;

/** Undo steps of a start, run in reverse: a start that fails half-way leaves nothing running. */
type Undo = (() => Promise<void>)[];

async function undo(steps: Undo): Promise<void> {
  for (const step of steps.reverse()) await step().catch(() => {});
}

/** Learns early that the port is taken, before anything slow has been started. */
async function requirePort(place: Place): Promise<void> {
  if (place.port === 0) return;
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => reject(portError(place, error)));
    probe.listen(place.port, place.host, () => probe.close(() => resolve()));
  });
}

/** Where a process listens, and the setting that says so. */
interface Place {
  readonly setting: 'PORT' | 'OPS_PORT';
  readonly host: string;
  readonly port: number;
}

function placesOf({ roles, host, port, opsPort }: Config): Place[] {
  const api: Place[] = roles.has('api') ? [{ setting: 'PORT', host, port }] : [];
  return opsPort === null ? api : [...api, { setting: 'OPS_PORT', host, port: opsPort }];
}

function portError({ setting, port, host }: Place, error: unknown): StartError {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return new StartError(
    code === 'EADDRINUSE'
      ? `${setting} ${port} is taken on ${host}: end what listens there, or set another ${setting}`
      : `cannot listen on ${host}:${port}: ${describeError(error)}`,
  );
}

async function checkDatabase(db: Database, config: Config): Promise<void> {
  const name = config.databaseUrl === null ? 'the embedded PostgreSQL' : 'DATABASE_URL';
  try {
    const rows = await db.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    const version = rows[0]?.version ?? 0;
    if (version >= MIN_SERVER_VERSION) return;
    throw new StartError(`${name}: PostgreSQL 15 or newer is needed, this is ${version}`);
  } catch (error) {
    if (error instanceof StartError) throw error;
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw new StartError(`${name} cannot be reached: ${describeError(cause)}`);
  }
}

async function alignClock(db: Database, clock: AlignedClock): Promise<void> {
  const before = Date.now();
  const rows = await db.query<{ now: Date }>('select clock_timestamp() as now');
  const after = Date.now();
  const theirs = rows[0]?.now.getTime();
  if (theirs !== undefined) clock.align(theirs - (before + after) / 2);
}

function startAligning(db: Database, clock: AlignedClock): Loop {
  return startLoop({
    name: 'clock alignment',
    pollMs: ALIGN_EVERY_MS,
    run: async () => {
      await alignClock(db, clock);
      return false;
    },
    // The last known offset stays good while the database is away.
    onError: () => {},
  });
}

/** How late a payment that nobody has signed is declined at most. */
const OVERDUE_POLL_MS = 1_000;

/** In every process, whatever its roles: it is needed most while no worker is alive. */
function startDeclining(deps: SettleDeps): Loop {
  const { log } = deps;
  return startLoop({
    name: 'decline of overdue payments',
    pollMs: OVERDUE_POLL_MS,
    run: () => declineOverdue(deps),
    onError: (name, error) => log.error(`the ${name} failed`, { error: describeError(error) }),
  });
}

interface Ground {
  readonly databaseUrl: string;
  readonly networks: readonly NetworkSettings[];
  readonly lost: readonly Promise<string>[];
}

/** Whatever of database and chains is not configured is embedded. */
async function prepareGround(
  config: Config,
  of: { readonly folder: DataFolder; readonly secret: Buffer; readonly log: Log },
  stops: Undo,
): Promise<Ground> {
  const { folder, secret } = of;
  const log = (line: string) => of.log.info(line);
  const lost: Promise<string>[] = [];
  const startDatabase = async () => {
    if (config.databaseUrl !== null) return config.databaseUrl;
    const postgres = await startPostgres({ folder, log });
    stops.push(postgres.stop);
    lost.push(postgres.lost);
    return postgres.url;
  };
  const startNetwork = async (network: Network) => {
    const external = config.chains[network];
    if (external !== null) {
      log(whenItCounts(external));
      return external;
    }
    if (config.secret?.previous !== undefined) {
      throw new StartError(
        'TAPLINE_SECRET_PREVIOUS: embedded chains were set up under TAPLINE_SECRET, which cannot ' +
          'change there; start with a fresh data folder instead',
      );
    }
    const name = network;
    const node: ChainNode = await startChainNode({
      folder,
      name,
      chainId: CHAIN_IDS[network],
      log,
    });
    stops.push(node.stop);
    lost.push(node.lost);
    return prepareNetwork(node, network, secret);
  };
  const started = await Promise.allSettled([
    startDatabase(),
    ...NETWORKS.map((network) => startNetwork(network)),
  ]);
  const failed = started.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const [databaseUrl, ...networks] = started.map((result) =>
    result.status === 'fulfilled' ? result.value : '',
  );
  return { databaseUrl: databaseUrl as string, networks: networks as NetworkSettings[], lost };
}

/** A worker of this process is just starting: it gets this long to be heard of. */
const OWN_WORKER_MS = 5_000;

/** Listens wherever this process does, once it is known what the networks can do. */
async function serve(deps: Omit<ApiDeps, 'readiness'>, stops: Undo): Promise<string | null> {
  const { config } = deps;
  const places = placesOf(config);
  if (places.length === 0) return null;
  const readiness = await watchReadiness(deps);
  stops.push(readiness.stop);
  if (config.roles.has('worker')) await readiness.settled(OWN_WORKER_MS);
  const health = createProcessHealth({ ...deps, readiness });
  let webUrl: string | null = null;
  for (const place of places) {
    if (place.setting === 'OPS_PORT') await listen(buildOpsServer(health), place, stops);
    else webUrl = await listen(await buildApi({ ...deps, readiness, health }), place, stops);
  }
  // The first step of a stop: balancers hear of it before anything is closed.
  stops.push(async () => {
    health.serves = false;
  });
  return webUrl;
}

async function listen(app: FastifyInstance, place: Place, stops: Undo): Promise<string> {
  stops.push(async () => {
    const closing = app.close();
    const timer = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
    await closing;
    clearTimeout(timer);
  });
  try {
    return await app.listen({ host: place.host, port: place.port });
  } catch (error) {
    throw portError(place, error);
  }
}

/** Without a mail server every mail becomes a file in the data folder. */
function mailerOf({ smtpUrl, mailFrom }: Config, folder: DataFolder): Mailer {
  if (smtpUrl === null) return fileMailer(path.join(folder.path, 'mail'));
  return smtpMailer({ url: smtpUrl, from: mailFrom });
}

function anchorTargetOf({ auditAnchors, smtpUrl }: Config, folder: DataFolder): AnchorTarget {
  if (auditAnchors !== null) return auditAnchors;
  if (smtpUrl !== null) return { to: 'operators' };
  return { to: 'file', path: path.join(folder.path, 'audit-anchors.jsonl') };
}

/** Brings a process up: everything it was told to run, in one order, undone in reverse. */
async function bringUp(config: Config, log: Log, stops: Undo): Promise<Omit<Running, 'stop'>> {
  for (const place of placesOf(config)) await requirePort(place);
  const folder = await openDataFolder(config.dataDir);
  stops.push(folder.close);
  const secret = config.secret ?? (await folder.secret('service'));
  const ground = await prepareGround(config, { folder, secret, log }, stops);
  const db = openDatabase({
    url: ground.databaseUrl,
    maxConnections: config.maxConnections,
  });
  stops.push(db.close);
  await checkDatabase(db, config);
  await migrate(db);
  const idKey = await openIdKey(db, idSealingKey(secret));
  const clock = new AlignedClock();
  await alignClock(db, clock);
  const aligning = startAligning(db, clock);
  stops.push(aligning.stop);
  const wakeups = await connectWakeups(db);
  stops.push(wakeups.close);
  const chains = await Promise.all(ground.networks.map((network) => openChain(network, log)));
  for (const chain of chains) stops.push(chain.close);
  const networks = chains.map((chain) => chain.config);
  const deps = { config, secret, idKey, db, wakeups, clock, log, chains };
  if (config.production) {
    await Promise.all(chains.map((chain) => requireContractDelays(chain, log)));
  }
  const guards = chains.map((chain) => guardNetwork({ ...deps, chain }));
  for (const guard of guards) stops.push(guard.stop);
  stops.push(startDeclining(deps).stop);
  if (config.roles.has('worker')) {
    await Promise.all(chains.map((chain) => prepareLanes({ chain, db, log })));
    const workers = startWorkers({
      ...deps,
      webhookKey: webhookKey(secret),
      webhookAllowCidrs: config.webhookAllowCidrs,
      peopleKey: peopleKey(secret),
      mailer: mailerOf(config, folder),
      anchorTarget: anchorTargetOf(config, folder),
    });
    stops.push(workers.stop);
  }
  const demo = config.production ? null : await ensureDemo({ ...deps, folder, networks });
  const defaultPass = demo?.test.passes.ok ?? null;
  await Promise.all(guards.map((guard) => guard.opened(OWN_WORKER_MS)));
  const webUrl = await serve({ ...deps, defaultPass }, stops);
  stops.push(() => removeSandboxFile(folder));
  const sandbox =
    demo === null || webUrl === null
      ? null
      : await writeSandboxFile(folder, { demo, webUrl, networks });
  return { webUrl, sandbox, lost: Promise.race(ground.lost) };
}

/** @throws StartError for what a person can put right; nothing is left running then. */
export async function start(config: Config, log: Log): Promise<Running> {
  const stops: Undo = [];
  try {
    const running = await bringUp(config, log, stops);
    return { ...running, stop: () => undo(stops) };
  } catch (error) {
    await undo(stops);
    throw error;
  }
}
