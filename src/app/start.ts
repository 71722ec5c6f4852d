import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiDeps } from '#app/api-dependencies.ts';
import { finishBuilds, finishBuildsLater } from '#app/finish-builds.ts';
import { OWN_WORKER_MS, requirePorts, type Served, serve } from '#app/listen.ts';
import { prepareChains } from '#app/prepare-chains.ts';
import { databaseAway, prepareDatabase, type StartInput } from '#app/prepare-database.ts';
import { demoPages } from '#app/sandbox-links.ts';
import { startWatchtowers } from '#app/watch-role.ts';
import { startDeclining, startWorkOfRoles } from '#app/worker-role.ts';
import type { IdKey } from '#core/ids.ts';
import { type Undo, undo } from '#core/undo.ts';
import { webUrlOf } from '#core/web-url.ts';
import { CommitUnknown, DatabaseUnavailable } from '#db/database-faults.ts';
import { startClock } from '#db/follow-database-clock.ts';
import { openIdKey } from '#db/id-key.ts';
import { reportDifferingZones } from '#db/time-zones.ts';
import { connectWakeups } from '#db/wakeups.ts';
import type { Log } from '#observability/log.ts';
import { startTraceExport } from '#ops/trace-export.ts';
import { loadPassFiles } from '#payers/load-pass-files.ts';
import { guardNetwork } from '#recovery/detect-lost-commits.ts';
import { openDataFolder } from '#sandbox/data-folder.ts';
import { ensureDemo } from '#sandbox/demo-account.ts';
import { prepareGround } from '#sandbox/prepare-ground.ts';
import { removeSandboxFile, type SandboxFile, writeSandboxFile } from '#sandbox/sandbox-file.ts';
import { type Config, idSealingKey, peopleKey, processKeys } from '#settings/config.ts';
import { prepareSenders } from '#settlement/chain/fees/configure-senders.ts';
import { ensureBuilt } from '#web/build-web-apps.ts';

export interface Running {
  /** The address that serves HTTP; `null` without the api role. */
  readonly webUrl: string | null;
  /** The address for phones; `null` without `--lan`. */
  readonly lan: Served['lan'];
  readonly sandbox: SandboxFile | null;
  /** Resolves with the reason when a component that this process started has failed. */
  readonly lost: Promise<string>;
  /**
   * Serves for another DRAIN_SECONDS (or until `hurry` aborts), then accepts nothing new, finishes
   * running work and releases leases, within 10 s.
   */
  stop(hurry?: AbortSignal): Promise<void>;
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

type Up = Omit<Running, 'stop'> & Pick<Served, 'turnAway'>;

/** The steps of a start, in order. Each records in `stops` how to undo it. */
async function bringUp(config: Config, { log, ends }: StartInput, stops: Undo): Promise<Up> {
  await requirePorts(config);
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
  const chains = await prepareChains(config, ground.networks, { db, log }, stops);
  const lost = Promise.race([...ground.lost, ...chains.map(({ refuted }) => refuted)]);
  const pages = receiptPages(config, idKey);
  const keys = processKeys(secret, idKey);
  const parts = { db, wakeups, clock, log, chains, passFiles };
  const deps = { ...parts, config, secret, idKey, keys, pages };
  if (config.roles.has('watch')) return { ...(await bringUpWatch(deps, stops)), lost };
  const guards = chains.map((chain) => guardNetwork(deps, chain));
  for (const guard of guards) stops.push(guard.stop);
  stops.push(startDeclining(deps).stop);
  await Promise.all(chains.map((chain) => prepareSenders({ chain, db })));
  stops.push(startWorkOfRoles(deps, folder).stop);
  const demo = config.production ? null : await ensureDemo({ ...deps, folder });
  await Promise.all(guards.map((guard) => guard.opened(OWN_WORKER_MS)));
  const webFolder = await building;
  if (webFolder !== null && config.production) await finishBuilds(webFolder, config);
  const shown = { webFolder, ...demoPages(demo, secret) };
  const { webUrl, lan, turnAway } = await serve({ ...deps, ...shown }, stops);
  pages.listensAt(webUrl);
  // Only now, because PostgreSQL reads a thousand files for it.
  const zones = reportDifferingZones(db, log, clock.now());
  stops.push(
    () => removeSandboxFile(folder),
    () => zones,
  );
  if (webFolder !== null && !config.production) finishBuildsLater(webFolder, deps, ends);
  const networks = chains.map((chain) => chain.config);
  const sandbox =
    demo === null || webUrl === null
      ? null
      : await writeSandboxFile(folder, { demo, webUrl, networks });
  return { webUrl, lan, sandbox, lost, turnAway };
}

/**
 * Starts the role `watch`. It changes no row of the ledger, so it needs no guard: see `src/watch`.
 */
async function bringUpWatch(
  deps: Omit<ApiDeps, 'readiness' | 'webFolder' | keyof ReturnType<typeof demoPages>>,
  stops: Undo,
) {
  const { secret } = deps;
  const watchtowers = await startWatchtowers(deps, { ...deps, peopleKey: peopleKey(secret) });
  stops.push(watchtowers.stop);
  const pages = { webFolder: null, ...demoPages(null, secret) };
  return { ...(await serve({ ...deps, ...pages }, stops)), sandbox: null };
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
