import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { replaceFile } from '#files/replace-file.ts';
import { CREATE2_FACTORY } from '#ops/deploy-contract.ts';
import { freePort, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import type { SigningKey } from '#settlement/remote-signer.ts';
import {
  type SpawnedNetwork,
  type SpawnOptions,
  spawnMain,
  spawnNetwork,
} from '#testkit/network/spawn-network.ts';
import type { ChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';

export type ChaosRole = 'api' | 'worker' | 'watch';

/** One process of the service, which is restarted whenever it ends. */
export type ChaosProcess = Awaited<ReturnType<typeof startChaosProcess>>;

/**
 * A process's connections to its database and nodes. They lead through proxies that observe
 * messages and can hold them.
 */
export interface ProcessWires {
  /** Environment variables in which the proxies' addresses replace the real ones. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export interface ChaosProcessOptions {
  readonly name: string;
  readonly role: ChaosRole;
  /** The error of the process's clock, in milliseconds; `undefined` to use the real clock. */
  readonly clockOffMs?: number | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** Environment variables of the first instance only, such as a failpoint. */
  readonly firstEnv?: Readonly<Record<string, string>>;
  /** The folder of an earlier release, which the first instance runs. */
  readonly firstRoot?: string | undefined;
  /** The proxied connections to the database and nodes. They close with the process. */
  readonly wires?: ProcessWires;
}

/**
 * All nodes have one public address, as behind a load balancer. Responses contain the address, and
 * a replayed response must equal the original.
 */
export const PUBLIC_URL = 'http://127.0.0.1:4242';
/** Pause before a restart, as supervisors make. */
const RESTART_MS = 300;
/** Time limit for a start. During long tests, a start has taken more than a minute. */
const READY_MS = 180_000;
const LOG_LENGTH_MAX = 2_000_000;
/** Length of a crash report: enough for the error and its stack trace. */
const CRASH_LENGTH = 2_000;
const READY_LINE = 'Tapline is running';
const CLOCK = path.join(import.meta.dirname, 'chaos-clock.ts');

function textOf(keys: readonly (SigningKey | null)[]): string {
  return keys.map((key) => (typeof key === 'string' ? key : '')).join();
}

function chainEnv(config: NetworkConfig): Record<string, string> {
  const prefix = `CHAIN_${config.network.toUpperCase()}_`;
  return {
    // Off, as in the sandbox, because the runs use static passes and no payer is there to confirm.
    STATIC_PASS_CONFIRM_FROM: 'off',
    [`${prefix}RPC_URL`]: config.rpcUrls.join(),
    ...(config.headsUrl === null ? {} : { [`${prefix}WS_URL`]: config.headsUrl }),
    [`${prefix}CHAIN_ID`]: String(config.chainId),
    [`${prefix}PROFILE`]: config.profile.name,
    [`${prefix}USDC`]: config.usdc,
    [`${prefix}USDC_NAME`]: config.usdcDomain.name,
    [`${prefix}USDC_VERSION`]: config.usdcDomain.version,
    [`${prefix}SETTLEMENT`]: config.settlement,
    [`${prefix}RELAYER_KEYS`]: textOf(config.relayerKeys),
    [`${prefix}REGISTRAR_KEY`]: textOf([config.registrarKey]),
    [`${prefix}SPONSOR_KEY`]: textOf([config.sponsorKey]),
    // A contract that exists on every test chain. Wallets that are not deployed yet name it as
    // their factory.
    [`${prefix}WALLET_FACTORIES`]: CREATE2_FACTORY,
  };
}

/** Returns the environment variables of every process in a run. */
export function groundEnv(ground: {
  readonly databaseUrl: string;
  readonly secret: Buffer;
  readonly networks: readonly NetworkConfig[];
}): Record<string, string> {
  const sponsored = ground.networks.filter(({ sponsorKey }) => sponsorKey !== null);
  return {
    DATABASE_URL: ground.databaseUrl,
    GASLESS_TRANSFERS: sponsored.map(({ network }) => network).join() || 'none',
    TAPLINE_PUBLIC_URL: PUBLIC_URL,
    TAPLINE_SECRET: ground.secret.toString('hex'),
    RATE_LIMIT: '1000000/1',
    // Lets clients send a different IP address for each payer, because one address may deploy only
    // three wallets an hour.
    TRUSTED_PROXIES: '127.0.0.1/32',
    WALLET_DEPLOYMENT_GAS_PER_DAY: '100000000000',
    WALLET_PAYMENT_GAS_PER_DAY: '100000000000',
    APPROVAL_GAS_PER_DAY: '100000000000',
    GASLESS_TRANSFER_GAS_PER_DAY: '100000000000',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    ...Object.assign({}, ...ground.networks.map(chainEnv)),
  };
}

/** Returns the environment variables of a process on a run's database and chains. */
export function chaosEnv({
  database,
  secret,
  testnet,
  mainnet,
}: ChaosGround): Record<string, string> {
  const networks = [testnet.config, mainnet.config];
  return groundEnv({ databaseUrl: database.url, secret, networks });
}

const DEMO_FOLDER = 'first';

/**
 * Starts the first process, which creates the demo account. The other processes read the account's
 * secrets from a file.
 * @param release the release to run; default: this working copy
 */
export async function makeDemo(
  ground: ChaosGround,
  release: Pick<SpawnOptions, 'root'> = {},
): Promise<SpawnedNetwork> {
  const dataDir = path.join(ground.folder, DEMO_FOLDER);
  return spawnNetwork({ dataDir, env: chaosEnv(ground), ...release });
}

/** Makes the demo data only. */
export async function makeShop(...args: Parameters<typeof makeDemo>): Promise<SandboxFile> {
  const network = await makeDemo(...args);
  await network.stop();
  return network.sandbox;
}

async function prepareFolder(ground: ChaosGround, name: string): Promise<string> {
  const dataDir = path.join(ground.folder, name);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const demo = path.join(ground.folder, DEMO_FOLDER, 'demo.json');
  await copyFile(demo, path.join(dataDir, 'demo.json'));
  return dataDir;
}

const clockFile = (ground: ChaosGround, name: string) => path.join(ground.folder, name, 'clock');

function lifeEnv(ground: ChaosGround, options: ChaosProcessOptions, port: number) {
  const ownClock = {
    CHAOS_CLOCK_FILE: clockFile(ground, options.name),
    NODE_OPTIONS: `--import=file://${CLOCK} ${process.env.NODE_OPTIONS ?? ''}`,
  };
  return {
    ...chaosEnv(ground),
    ...options.wires?.env,
    ...options.env,
    PORT: String(port),
    ...(options.clockOffMs === undefined ? {} : ownClock),
  };
}

/**
 * Returns true if the process crashed. A process that a signal ended did not crash, because the
 * tests send signals. Nor did one that refused to start, which prints a line that begins with
 * `tapline: `.
 */
function crashed({ exitCode }: ChildProcess, logs: string): boolean {
  return exitCode !== null && exitCode !== 0 && !/^tapline: /m.test(logs);
}

/** Restarts the process whenever it ends, after a pause. */
function supervise(
  name: string,
  startLife: (number: number) => { readonly child: ChildProcess; logs(): string },
) {
  let closing = false;
  let starts = 0;
  let earlier = '';
  const crashes: string[] = [];
  let life: { readonly child: ChildProcess; logs(): string } | null = null;
  const lifeLogs = () => life?.logs() ?? '';
  const logs = () => (earlier + lifeLogs()).slice(-LOG_LENGTH_MAX);
  const run = async () => {
    while (!closing) {
      life = startLife(++starts);
      const { child } = life;
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      if (crashed(child, life.logs())) crashes.push(life.logs().slice(-CRASH_LENGTH));
      earlier = `${logs()}\n(${name} ended: ${child.signalCode ?? child.exitCode})\n`;
      life = null;
      await sleep(RESTART_MS);
    }
  };
  const done = run();
  return {
    child: () => life?.child,
    /** Returns how many times it was started. */
    starts: () => starts,
    /** Returns the output of the current instance only. */
    lifeLogs,
    /** Returns the recent output of all instances, oldest first, up to a size limit. */
    logs,
    /** Returns the last output of each instance that crashed. */
    crashes: (): readonly string[] => crashes,
    /** Ends the process and does not restart it. Resolves once it has ended. */
    end: () => {
      closing = true;
      return done;
    },
  };
}

/**
 * Drops environment variables that an earlier release does not know, because it would refuse to
 * start with them.
 */
function settingsOf(root: string, env: Readonly<Record<string, string>>): Record<string, string> {
  const page = readFileSync(path.join(root, 'docs/settings.md'), 'utf8');
  const isKnown = (name: string) => page.includes(`\`${name.replace(/^CHAIN_[A-Z]+_/, '')}\``);
  const isOurs = (name: string) => /^(CHAIN|WALLET|OFFLINE)_/.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name) || isKnown(name)));
}

async function freeze(child: ChildProcess | undefined, ms: number): Promise<void> {
  child?.kill('SIGSTOP');
  await sleep(ms);
  child?.kill('SIGCONT');
}

/** Starts one process and keeps it running. */
export async function startChaosProcess(ground: ChaosGround, options: ChaosProcessOptions) {
  const { name, role, clockOffMs = 0 } = options;
  const dataDir = await prepareFolder(ground, name);
  const stepClock = (offMs: number | null) =>
    replaceFile(clockFile(ground, name), String(offMs ?? clockOffMs));
  await stepClock(null);
  const port = role === 'api' ? await freePort() : 0;
  const env = lifeEnv(ground, options, port);
  let told: Readonly<Record<string, string>> = {};
  const { child, starts, lifeLogs, logs, crashes, end } = supervise(name, (number) => {
    const ofThisLife = { ...env, ...(number === 1 ? options.firstEnv : told) };
    const root = number === 1 ? options.firstRoot : undefined;
    const earlier = root === undefined ? {} : { root, env: settingsOf(root, ofThisLife) };
    const life = spawnMain({ dataDir, env: ofThisLife, args: ['--roles', role], ...earlier });
    if (life.child.pid !== undefined) ground.endWithUs(life.child.pid);
    return life;
  });
  const signal = (which: NodeJS.Signals) => void child()?.kill(which);
  if (!(await waitUntil(() => logs().includes(READY_LINE), READY_MS))) {
    const ended = end();
    signal('SIGKILL');
    await ended;
    throw new Error(`${name} did not start:\n${logs()}`);
  }
  return {
    name,
    role,
    /** The HTTP address; `null` for a process without the `api` role. */
    url: role === 'api' ? `http://127.0.0.1:${port}/api` : null,
    dataDir,
    starts,
    /** Returns true if the current instance is ready. */
    isReady: () => lifeLogs().includes(READY_LINE),
    logs,
    crashes,
    kill: () => signal('SIGKILL'),
    /** Sends SIGTERM, as a deployment would. */
    terminate: () => signal('SIGTERM'),
    /** Sets additional environment variables for later instances; `null` removes them. */
    tell: (other: Readonly<Record<string, string>> | null) => {
      told = other ?? {};
    },
    /** Sets the error of the process's clock. `null` restores the initial error. */
    stepClock,
    /** Freezes the process for this long. Its connections stay open, and its leases may expire. */
    freeze: (ms: number) => freeze(child(), ms),
    /** Ends the process without a restart. */
    close: async () => {
      const ended = end();
      signal('SIGCONT');
      signal('SIGTERM');
      await ended;
      await options.wires?.close();
    },
  };
}
