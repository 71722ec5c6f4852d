import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { ApiDeps } from '#app/api-dependencies.ts';
import { buildApi } from '#app/api-role.ts';
import { sandboxLinks } from '#app/sandbox-links.ts';
import { startWatchtowers } from '#app/watch-role.ts';
import { startRegistrar, startWorkers } from '#app/worker-role.ts';
import type { AnchorTarget } from '#audit/anchor-target.ts';
import { checkPeers } from '#cells/check-peers.ts';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { AlignedClock, StepDetector } from '#core/clock.ts';
import type { IdKey } from '#core/ids.ts';
import { NETWORKS, type Network } from '#core/mode.ts';
import { StartError } from '#core/start-error.ts';
import { webUrlOf } from '#core/web-url.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { CommitUnknown, DatabaseUnavailable } from '#db/database-faults.ts';
import { keepWatermark, readWatermark } from '#db/detect-restore-while-stopped.ts';
import { requireSameDirect } from '#db/direct-connection.ts';
import { requireDurability } from '#db/durability.ts';
import { openIdKey } from '#db/id-key.ts';
import { migrate, requireMigrated } from '#db/migrate.ts';
import { reportDifferingZones } from '#db/time-zones.ts';
import { connectWakeups } from '#db/wakeups.ts';
import { createDrain, type Drain } from '#http/drain.ts';
import { describeError, type Log } from '#observability/log.ts';
import { buildOpsServer } from '#ops/operational-routes.ts';
import { createProcessHealth } from '#ops/process-health.ts';
import { durabilitySamples } from '#ops/service-samples.ts';
import { startTraceExport } from '#ops/trace-export.ts';
import { watchDurability } from '#ops/watch-durability.ts';
import { ensurePackages, packagesIn } from '#packages/build-packages.ts';
import { loadPassFiles } from '#payers/load-pass-files.ts';
import { declineOverdue, type ResultContext } from '#payments/apply-settlements.ts';
import { fileMailer, type Mailer, smtpMailer } from '#people/mail-outbox.ts';
import { guardNetwork } from '#recovery/detect-lost-commits.ts';
import { type ChainNode, startChainNode } from '#sandbox/chain-node.ts';
import { type DataFolder, openDataFolder } from '#sandbox/data-folder.ts';
import { type Demo, ensureDemo } from '#sandbox/demo-account.ts';
import { prepareNetwork } from '#sandbox/deploy-sandbox-network.ts';
import { payerWalletName, wallet } from '#sandbox/derive-wallets.ts';
import { type LanServer, serveLan } from '#sandbox/lan-server.ts';
import { removeSandboxFile, type SandboxFile, writeSandboxFile } from '#sandbox/sandbox-file.ts';
import { startPostgres } from '#sandbox/start-postgres.ts';
import { type Config, idSealingKey, peopleKey, processKeys } from '#settings/config.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { keepOwnContracts, requireSafeContract } from '#settlement/chain/check/check-contract.ts';
import { prepareSenders } from '#settlement/chain/fees/configure-senders.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import { describeProfile } from '#settlement/chain-profiles.ts';
import { whenItCounts } from '#settlement/choose-confirmations.ts';
import { keepCell } from '#settlement/database-cell.ts';
import { WHOLE_HOUR } from '#settlement/hourly-ceiling-and-shares.ts';
import { NETWORK_DEFAULTS, type NetworkSettings } from '#settlement/network-config.ts';
import { watchReadiness } from '#settlement/network-readiness.ts';
import { ensureBuilt, ensureCompressed } from '#web/build-web-apps.ts';

export interface Running {
  /** The address that serves HTTP; `null` without the api role. */
  readonly webUrl: string | null;
  /** The address for phones; `null` without `--lan`. */
  readonly lan: LanServer | null;
  readonly sandbox: SandboxFile | null;
  /** Resolves with the reason when a component that this process started has failed. */
  readonly lost: Promise<string>;
  /**
   * Serves for another DRAIN_SECONDS (or until `hurry` aborts), then accepts nothing new, finishes
   * running work and releases leases, within 10 s.
   */
  stop(hurry?: AbortSignal): Promise<void>;
}

/** Interval at which the clock is compared with the database's clock, in milliseconds. */
const ALIGN_EVERY_MS = 10_000;

/**
 * The steps that undo a start, run in reverse order, so that a failed start leaves nothing running.
 */
type Undo = (() => Promise<void>)[];

async function undo(steps: Undo): Promise<void> {
  for (const step of steps.reverse()) await step().catch(() => {});
}

/** Checks early whether the port is free, before anything slow is started. */
async function requirePort(address: ListenAddress): Promise<void> {
  if (address.port === 0) return;
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => reject(portError(address, error)));
    probe.listen(address.port, address.host, () => probe.close(() => resolve()));
  });
}

interface ListenAddress {
  readonly setting: 'PORT' | 'OPS_PORT';
  readonly host: string;
  readonly port: number;
}

function listenAddresses({ roles, host, port, opsPort }: Config): ListenAddress[] {
  const api: ListenAddress[] = roles.has('api') ? [{ setting: 'PORT', host, port }] : [];
  return opsPort === null ? api : [...api, { setting: 'OPS_PORT', host, port: opsPort }];
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

async function alignClock(db: Database, clock: AlignedClock): Promise<void> {
  const before = Date.now();
  const rows = await db.query<{ now: Date }>('select clock_timestamp() as now');
  const after = Date.now();
  const theirs = rows[0]?.now.getTime();
  if (theirs !== undefined) clock.align({ before, after, theirs });
}

function startAligning(db: Database, clock: AlignedClock): Loop {
  return startLoop({
    name: 'clock alignment',
    pollMs: ALIGN_EVERY_MS,
    run: async () => {
      await alignClock(db, clock);
      return false;
    },
    // While the database is unreachable, the clock keeps its last known offset.
    onError: () => {},
  });
}

/** Poll interval for clock steps. Short, because a step affects the service immediately. */
const STEPS_POLL_MS = 1_000;

/** Logs each step of this machine's clock once. @returns a function that stops watching. */
function watchSteps(log: Log): () => Promise<void> {
  const steps = new StepDetector();
  const check = () => {
    const stepMs = steps.check(Date.now(), performance.now());
    if (stepMs === null) return;
    log.warn('the clock of this machine has stepped', { seconds: Math.round(stepMs / 1000) });
  };
  check();
  const timer = setInterval(check, STEPS_POLL_MS).unref();
  return async () => clearInterval(timer);
}

/** Maximum delay before an overdue unsigned payment is declined. */
const OVERDUE_POLL_MS = 1_000;

/**
 * Declines overdue payments. Runs in processes of every role, because it matters most while no
 * worker is running.
 */
function startDeclining(deps: ResultContext): Loop {
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

/**
 * Starts an embedded database and an embedded chain per network, except where external ones are
 * configured.
 */
async function prepareGround(
  config: Config,
  ground: { readonly folder: DataFolder; readonly secret: Buffer; readonly log: Log },
  stops: Undo,
): Promise<Ground> {
  const { folder, secret } = ground;
  const log = (line: string) => ground.log.info(line);
  const lost: Promise<string>[] = [];
  const startDatabase = async () => {
    if (config.databaseUrl !== null) return config.databaseUrl;
    const postgres = await startPostgres({ folder, log, readyMs: config.sandboxStartMs });
    stops.push(postgres.stop);
    lost.push(postgres.lost);
    return postgres.url;
  };
  const startNetwork = async (network: Network) => {
    const external = config.chains[network];
    const rules = external ?? { ...NETWORK_DEFAULTS, network, ...config.embedded[network] };
    log(describeProfile(rules));
    log(whenItCounts(rules));
    if (external !== null) return external;
    if (config.secret?.previous !== undefined) {
      throw new StartError(
        'TAPLINE_SECRET_PREVIOUS: embedded chains were set up under TAPLINE_SECRET, which cannot ' +
          'change there; start with a new data folder instead',
      );
    }
    const name = network;
    const node: ChainNode = await startChainNode({
      folder,
      name,
      chainId: rules.chainId,
      blockMs: config.embedded[network].blockMs,
      log,
      readyMs: config.sandboxStartMs,
    });
    stops.push(node.stop);
    lost.push(node.lost);
    const { blockMs: _, ...own } = config.embedded[network];
    return { ...(await prepareNetwork(node, network, secret)), ...own };
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

interface StartInput {
  readonly log: Log;
  /** Aborts when the process receives a stop signal, which ends all waits during the start. */
  readonly ends?: AbortSignal | undefined;
}

async function prepareDatabase(
  config: Config,
  { url, folder, log, ends }: StartInput & { readonly url: string; readonly folder: DataFolder },
  stops: Undo,
): Promise<Database> {
  const { maxConnections, databaseReadUrl: readUrl, databaseDirectUrl: directUrl } = config;
  const cell = config.cells.own;
  const db = openDatabase({ url, maxConnections, readUrl, directUrl, cell });
  stops.push(db.close);
  const watermark = await readWatermark(folder, db.watch);
  await checkDatabase(db, config);
  if (config.roles.has('watch')) await requireMigrated(db);
  else {
    const tell = (why: string) => log.info('the start waits for migrations', { why });
    await migrate(db, { tell, ...(ends && { ends }) });
    await keepCell(db);
    await checkPeers(config.cells);
  }
  const keeping = await keepWatermark(db, { folder, log }, watermark);
  stops.push(keeping.stop);
  return db;
}

/**
 * Records the order of the contracts on external chains. (An embedded chain is only as old as its
 * data folder.)
 * @throws StartError if the settings omit a contract that the ledger has used, or name one on which
 * another cell settles.
 */
async function keepOrder(
  { chains, roles }: Config,
  db: Database,
  opened: readonly Chain[],
): Promise<void> {
  const external = opened.filter(({ config }) => chains[config.network] !== null);
  if (roles.has('watch')) return;
  for (const chain of external) {
    await keepOwnContracts(db, chain);
  }
}

/**
 * Runs the safety checks of a start in production.
 * @throws StartError
 */
async function requireSafety(
  roles: Config['roles'],
  chains: readonly Chain[],
  log: Log,
): Promise<void> {
  await Promise.all(chains.map((chain) => chain.checkAtStart(() => requireSafeContract(chain))));
  if (!roles.has('worker') || !roles.has('registrar')) return;
  log.warn('one process holds both relayer keys and the registrar key', {
    remedy: 'run --roles api,worker and --roles registrar apart',
  });
}

/**
 * Returns only the keys with which this process signs. In production, a worker leaves the
 * registrar's key to a separate process, even if its settings contain that key: a thief of both
 * keys could register a shop and settle payments to it. Outside production, a worker also registers
 * shops.
 */
function withKeysOf({ roles, production }: Config, network: NetworkSettings): NetworkSettings {
  const works = roles.has('worker');
  const registers = roles.has('registrar') || (works && !production);
  return {
    ...network,
    relayerKeys: works ? network.relayerKeys : [],
    registrarKey: registers ? network.registrarKey : null,
    sponsorKey: works ? network.sponsorKey : null,
  };
}

/** Maximum time that a start waits for the first heartbeat of its own worker. */
const OWN_WORKER_MS = 5_000;

interface Served {
  /** `null` without the api role. */
  readonly webUrl: string | null;
  /** `null` without `--lan`. */
  readonly lan: LanServer | null;
  /** Makes load balancers stop sending requests. Requests that still arrive are served. */
  turnAway(): void;
}

/** Listens on all addresses of this process, once the networks' readiness is known. */
async function serve(deps: Omit<ApiDeps, 'readiness'>, stops: Undo): Promise<Served> {
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

/** Returns the mailer. Without a mail server, mails become files in the data folder. */
function mailerOf({ smtpUrl, mailFrom }: Config, folder: DataFolder): Mailer {
  if (smtpUrl === null) return fileMailer(path.join(folder.path, 'mail'));
  return smtpMailer({ url: smtpUrl, from: mailFrom });
}

function anchorTargetOf({ auditAnchors, smtpUrl }: Config, folder: DataFolder): AnchorTarget {
  if (auditAnchors !== null) return auditAnchors;
  if (smtpUrl !== null) return { to: 'operators' };
  return { to: 'file', path: path.join(folder.path, 'audit-anchors.jsonl') };
}

/** Returns the parts of receipt URLs. With PORT=0, the port is known only once the API listens. */
function receiptPages(config: Config, idKey: IdKey) {
  let { port } = config;
  return {
    idKey,
    webUrl: () => webUrlOf({ ...config, port }),
    listensAt: (url: string | null) => {
      if (port === 0 && url !== null) port = Number(new URL(url).port);
    },
  };
}

type Up = Omit<Running, 'stop'> & Pick<Served, 'turnAway'>;

/** Starts the process's clock, which follows the database's clock. */
async function startClock(db: Database, log: Log, stops: Undo): Promise<AlignedClock> {
  const clock = new AlignedClock();
  await alignClock(db, clock);
  stops.push(startAligning(db, clock).stop, watchSteps(log));
  return clock;
}

/**
 * Logs time zones that differ from PostgreSQL's. Runs once the process serves requests, because
 * PostgreSQL reads a thousand files for the comparison.
 */
function reportZones({ db, log, clock }: Pick<ApiDeps, 'db' | 'log' | 'clock'>): Undo[number] {
  const reported = reportDifferingZones(db, log, clock.now());
  return () => reported;
}

/**
 * Builds the packages, and compresses the web apps by another 10 %. In production, the start waits
 * for this; a sandbox serves requests first.
 */
async function finishBuilds(webFolder: string, config: Config): Promise<void> {
  const { dataDir, sandboxStartMs: ms } = config;
  await Promise.all([ensureCompressed(webFolder, ms), ensurePackages(packagesIn(dataDir), ms)]);
}

/**
 * Finishes the builds in the background. Stopping does not wait for them, because each file is
 * replaced in one step.
 */
function finishBuildsLater(
  webFolder: string,
  { config, log }: Pick<ApiDeps, 'config' | 'log'>,
  ends: AbortSignal | undefined,
) {
  finishBuilds(webFolder, config).catch((error) => {
    // A stop also ends the programs that build.
    if (ends?.aborted) return;
    log.warn('a background build failed', { error: describeError(error) });
  });
}

/**
 * Starts every configured part of a process in a fixed order, and records how to undo each step.
 */
async function bringUp(config: Config, { log, ends }: StartInput, stops: Undo): Promise<Up> {
  for (const address of listenAddresses(config)) await requirePort(address);
  const folder = await openDataFolder(config.dataDir);
  stops.push(folder.close, startTraceExport(config.tracing, log));
  const secret = config.secret ?? (await folder.secret('service'));
  // Build concurrently. After the first start, there is usually nothing to build.
  const building = config.roles.has('api') ? ensureBuilt(folder.path, config.sandboxStartMs) : null;
  building?.catch(() => {});
  const ground = await prepareGround(config, { folder, secret, log }, stops);
  const db = await prepareDatabase(config, { url: ground.databaseUrl, folder, log, ends }, stops);
  const passFiles = await loadPassFiles(config.passFiles);
  const idKey = await openIdKey(db, idSealingKey(secret));
  const clock = await startClock(db, log, stops);
  const wakeups = await connectWakeups(db);
  stops.push(wakeups.close);
  const ofRoles = ground.networks.map((network) => withKeysOf(config, network));
  const chains = await Promise.all(ofRoles.map((network) => openChain(network, log)));
  for (const chain of chains) stops.push(chain.close);
  const networks = chains.map((chain) => chain.config);
  await keepOrder(config, db, chains);
  const pages = receiptPages(config, idKey);
  const keys = processKeys(secret, idKey);
  const parts = { db, wakeups, clock, log, chains, passFiles };
  const deps = { ...parts, config, secret, idKey, keys, pages };
  if (config.production) await requireSafety(config.roles, chains, log);
  if (config.roles.has('watch')) return bringUpWatch(deps, ground, stops);
  const guards = chains.map((chain) => guardNetwork(deps, chain));
  for (const guard of guards) stops.push(guard.stop);
  stops.push(startDeclining(deps).stop);
  await Promise.all(chains.map((chain) => prepareSenders({ chain, db })));
  if (config.roles.has('worker')) {
    const workers = startWorkers({
      ...deps,
      settings: config,
      mailer: mailerOf(config, folder),
      anchorTarget: anchorTargetOf(config, folder),
    });
    stops.push(workers.stop);
  } else if (config.roles.has('registrar')) {
    stops.push(startRegistrar(deps).stop);
  }
  const demo = config.production ? null : await ensureDemo({ ...deps, folder });
  await Promise.all(guards.map((guard) => guard.opened(OWN_WORKER_MS)));
  const webFolder = await building;
  if (webFolder !== null && config.production) await finishBuilds(webFolder, config);
  const shown = { webFolder, ...demoPages(demo, secret) };
  const { webUrl, lan, turnAway } = await serve({ ...deps, ...shown }, stops);
  pages.listensAt(webUrl);
  stops.push(() => removeSandboxFile(folder), reportZones(deps));
  if (webFolder !== null && !config.production) finishBuildsLater(webFolder, deps, ends);
  const sandbox =
    demo === null || webUrl === null
      ? null
      : await writeSandboxFile(folder, { demo, webUrl, networks });
  const lost = Promise.race([...ground.lost, ...chains.map(({ refuted }) => refuted)]);
  return { webUrl, lan, sandbox, lost, turnAway };
}

/**
 * Starts the role `watch`. It changes no row of the ledger, so it needs no guard: see `src/watch`.
 */
async function bringUpWatch(
  deps: Omit<ApiDeps, 'readiness' | 'webFolder' | keyof ReturnType<typeof demoPages>>,
  ground: Ground,
  stops: Undo,
): Promise<Up> {
  const { secret, chains } = deps;
  const watchtowers = await startWatchtowers(deps, { ...deps, peopleKey: peopleKey(secret) });
  stops.push(watchtowers.stop);
  const pages = { webFolder: null, ...demoPages(null, secret) };
  const { webUrl, lan, turnAway } = await serve({ ...deps, ...pages }, stops);
  const lost = Promise.race([...ground.lost, ...chains.map(({ refuted }) => refuted)]);
  return { webUrl, lan, sandbox: null, lost, turnAway };
}

/**
 * Returns the demo data for pages and test passes, and a function for the wallets of these passes.
 */
function demoPages(demo: Demo | null, secret: Buffer) {
  if (demo === null) return { testPasses: null, defaultPass: null, sandboxLinks: null };
  const { passes } = demo.test;
  const nameOf = new Map(Object.entries(passes).map(([name, credential]) => [credential, name]));
  const signerOf = (pass: string) => {
    const name = nameOf.get(pass) ?? pass;
    return Object.hasOwn(passes, name) ? wallet(secret, payerWalletName('testnet', name)) : null;
  };
  return {
    testPasses: passes,
    defaultPass: passes.ok ?? null,
    signerOf,
    sandboxLinks: sandboxLinks(demo),
  };
}

/** @throws StartError for a problem that the operator can fix; nothing is left running then. */
export async function start(config: Config, log: Log, ends?: AbortSignal): Promise<Running> {
  const stops: Undo = [];
  try {
    const { turnAway, ...running } = await bringUp(config, { log, ends }, stops);
    const stop = async (hurry?: AbortSignal) => {
      turnAway();
      const options = hurry === undefined ? {} : { signal: hurry };
      await sleep(config.drainSeconds * 1000, undefined, options).catch(() => {});
      await undo(stops);
    };
    return { ...running, stop };
  } catch (error) {
    await undo(stops);
    // If the database became unavailable during the start, the supervisor starts the process again.
    const isAway = error instanceof DatabaseUnavailable || error instanceof CommitUnknown;
    if (isAway) throw databaseAway(config, error);
    throw error;
  }
}

function databaseAway({ databaseUrl }: Config, error: unknown): StartError {
  const name = databaseUrl === null ? 'the embedded PostgreSQL' : 'DATABASE_URL';
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return new StartError(`${name} cannot be reached: ${describeError(cause)}`);
}

/** The first PostgreSQL version that has all features used by our statements. */
const MIN_SERVER_VERSION = 150_000;

/** @throws StartError if it is too old, or if losing its primary would lose more than declared. */
async function checkDatabase(db: Database, config: Config): Promise<void> {
  const name = config.databaseUrl === null ? 'the embedded PostgreSQL' : 'DATABASE_URL';
  try {
    const rows = await db.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    const version = rows[0]?.version ?? 0;
    if (version < MIN_SERVER_VERSION) {
      throw new StartError(`${name}: PostgreSQL 15 or newer is required, not ${version}`);
    }
    if (config.production) await requireDurability(db, config.durability);
    if (config.databaseDirectUrl !== null) await requireSameDirect(db);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw databaseAway(config, error);
  }
}
