import { connect } from 'node:tls';
import { Redis } from 'ioredis';
import { checkPeers } from '#cells/check-peers.ts';
import { DAY_MS } from '#core/durations.ts';
import { NETWORKS, type Network } from '#core/mode.ts';
import { StartError } from '#core/start-error.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { requireSameDirect, requireSessionSettings } from '#db/direct-connection.ts';
import { requireDurability } from '#db/durability.ts';
import { describeError, type Log, silentLog } from '#observability/log.ts';
import { requireSeparateKeys } from '#ops/separate-keys.ts';
import type { ServiceRole } from '#ops/settings-files-by-role.ts';
import { checkMailServer } from '#people/mail-outbox.ts';
import { type Config, readConfig } from '#settings/config.ts';
import type { Env } from '#settings/setting-names.ts';
import { requireOwnContract, requireSafeContract } from '#settlement/chain/check/check-contract.ts';
import { configuredSenders, requireRoles } from '#settlement/chain/fees/configure-senders.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import { describeProfile } from '#settlement/chain-profiles.ts';
import { requireCell } from '#settlement/database-cell.ts';
import type { NetworkSettings, SenderRole } from '#settlement/network-config.ts';
import { mostGasOf } from '#settlement/relayer/send/gas-limits.ts';
import { checkSigner, type SigningKey } from '#settlement/remote-signer.ts';
import { isLow, paymentsLeftOf, presentPrice } from '#settlement/status/low-gas-balance.ts';
import { knownHoles } from '../../cli/src/node-holes.ts';

/** The result of one check before a start, with the remedy if it failed. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

/**
 * Maximum clock difference that the service tolerates: see the reason `clock` in docs/operate.md.
 */
const CLOCK_SKEW_MS = 30_000;
const ANSWER_MS = 10_000;
/** Minimum validity of a TLS certificate: one that expires sooner was not renewed in time. */
const CERTIFICATE_DAYS = 7;
const MIN_SERVER_VERSION = 150_000;
const HTTPS_PORT = 443;

type Look = () => Promise<string>;

/** `look` returns the detail if the check passes, and throws the problem if it fails. */
async function finding(check: string, look: Look): Promise<Finding> {
  try {
    return { check, ok: true, detail: await look() };
  } catch (error) {
    return { check, ok: false, detail: describeError(error) };
  }
}

function requireClock(theirs: number, here: number, whose: string): string {
  const seconds = Math.abs(theirs - here) / 1000;
  const words = `${whose} and this clock are ${seconds.toFixed(1)} s apart`;
  if (seconds * 1000 <= CLOCK_SKEW_MS) return words;
  throw new Error(`${words}: correct the clock (chrony, systemd-timesyncd)`);
}

async function lookAtDatabase(config: Config): Promise<Finding[]> {
  const { databaseUrl, databaseDirectUrl: directUrl, production, durability, cells } = config;
  if (databaseUrl === null) return [];
  const cell = cells.own;
  const db = openDatabase({ url: databaseUrl, directUrl, maxConnections: 2, cell });
  try {
    return [
      await finding('database', () => describeDatabase(db, config)),
      await finding('settings of connections', () => requireSessionSettings(db)),
      ...(directUrl === null
        ? []
        : [await finding('database past the pooler', () => requireSameDirect(db))]),
      await finding('clock of the database', async () => {
        const rows = await db.query<{ now: Date }>('select clock_timestamp() as now');
        return requireClock(rows[0]?.now.getTime() ?? 0, Date.now(), 'the database');
      }),
      await finding('cell', async () => {
        await requireCell(db);
        const [silent] = await checkPeers(cells);
        if (silent !== undefined) {
          throw new Error(`${silent.url} does not answer, or has a different CELL_SECRET`);
        }
        return `cell ${cells.own}, with ${cells.others.length} beside it`;
      }),
      await finding('durability', async () => {
        if (production) await requireDurability(db, durability);
        return durability ?? 'commits wait for a standby, or this is not production';
      }),
    ];
  } finally {
    await db.close();
  }
}

interface DatabaseRow {
  readonly version: number;
  readonly encoding: string;
  readonly max_connections: number;
}

async function describeDatabase(db: Database, { maxConnections }: Config): Promise<string> {
  const [row] = await db.query<DatabaseRow>(
    `select current_setting('server_version_num')::int as version,
       current_setting('server_encoding') as encoding,
       current_setting('max_connections')::int as max_connections,
       (select system_identifier from pg_control_system()) as system`,
  );
  if (row === undefined) throw new Error('the database does not respond');
  const { version, encoding, max_connections: all } = row;
  if (version < MIN_SERVER_VERSION)
    throw new Error(`PostgreSQL 15 or newer is required, not ${version}`);
  if (encoding !== 'UTF8') throw new Error(`the database encoding must be UTF8, not ${encoding}`);
  if (maxConnections >= all) {
    throw new Error(
      `DATABASE_CONNECTIONS=${maxConnections} is for each process, but the server allows ` +
        `only ${all} in total`,
    );
  }
  return `PostgreSQL ${Math.floor(version / 10_000)}, ${all} connections`;
}

/**
 * Turns warnings into failures. The service starts despite warnings, because they may be temporary,
 * but an operator should see them first.
 */
function strictLog(): Log {
  const fail = (message: string) => {
    throw new Error(message);
  };
  return { ...silentLog, warn: fail, error: fail };
}

async function lookAtChain(
  settings: NetworkSettings,
  { production, cells }: Config,
): Promise<Finding[]> {
  const { network } = settings;
  const findings: Finding[] = [];
  const opened = await openChain(settings, strictLog()).catch((error) => {
    findings.push({ check: `${network}: chain`, ok: false, detail: describeError(error) });
    return null;
  });
  if (opened === null) return findings;
  try {
    const { chainId, rpcUrls, lowBalance, token, usdcDomain } = opened.config;
    const permits = token.hasPermit ? 'with permit' : 'payers approve by transaction';
    const profile = describeProfile(opened.config);
    findings.push({ check: `${network}: profile`, ok: true, detail: profile });
    findings.push({
      check: `${network}: chain`,
      ok: true,
      detail: `chain ${chainId}, ${rpcUrls.length} address(es), contract fits, token ${permits}`,
    });
    const { name, version } = usdcDomain;
    findings.push({
      check: `${network}: token`,
      ok: true,
      detail: `"${name}", version "${version}"`,
    });
    findings.push(
      await finding(`${network}: clock`, async () => {
        const { time } = await opened.newest();
        return requireClock(time.getTime(), Date.now(), 'the newest block');
      }),
      await finding(`${network}: delays of the contract`, async () => {
        if (production) await requireSafeContract(opened);
        return 'long enough';
      }),
      await finding(`${network}: cell of the contract`, async () => {
        await requireOwnContract(opened, cells.own);
        return `cell ${cells.own}, or none yet`;
      }),
      await finding(`${network}: roles of the keys`, async () => {
        await requireRoles(opened);
        return `${configuredSenders(opened.config).length} keys have their roles`;
      }),
      await finding(`${network}: gas funds`, async () => {
        const addresses = configuredSenders(opened.config).map(({ address }) => address);
        const balances = await opened.balances(addresses);
        const price = await presentPrice(opened, await opened.newest());
        const left = balances.map((balance) => paymentsLeftOf(balance, price));
        const poor = addresses.filter((_, index) => isLow(left[index] ?? null, lowBalance));
        const { symbol } = opened.config.profile.coin;
        if (poor.length > 0) throw new Error(`low on gas: send ${symbol} to ${poor.join(', ')}`);
        return `${addresses.length} addresses have enough for ${lowBalance} payments each`;
      }),
    );
  } finally {
    await opened.close();
  }
  return findings;
}

/** Checks the keys held by signers; the keys in the settings need no such check. */
export async function lookAtSigners(
  network: Network,
  keys: readonly (readonly [SenderRole, SigningKey | null])[],
): Promise<Finding[]> {
  const elsewhere = keys.flatMap(([role, key]) =>
    key === null || typeof key === 'string' ? [] : [{ role, key }],
  );
  if (elsewhere.length === 0) return [];
  const look = async () => {
    for (const { role, key } of elsewhere) {
      const [signed, needed] = [await checkSigner(key), mostGasOf(role)];
      if (signed === null || signed >= needed) continue;
      throw new StartError(
        `the signer of ${key.address} signs at most ${signed} gas, and this release needs ` +
          `${needed}: raise max_gas in the signer's settings`,
      );
    }
    return `the signers have the keys of ${elsewhere.length} addresses`;
  };
  return [await finding(`${network}: signer`, look)];
}

async function lookAtRedis(url: string): Promise<string> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => {});
  try {
    await redis.connect();
    await redis.ping();
    return 'it answers';
  } finally {
    redis.disconnect();
  }
}

/** Checks that the public URL's certificate matches its host name and that browsers accept it. */
function lookAtTls(publicUrl: string): Promise<string> {
  const { hostname, port, protocol } = new URL(publicUrl);
  if (protocol !== 'https:') throw new Error(`${publicUrl} is not an https address`);
  return new Promise((resolve, reject) => {
    const options = { host: hostname, port: Number(port || HTTPS_PORT), servername: hostname };
    const socket = connect(options, () => {
      const { valid_to: until } = socket.getPeerCertificate();
      const days = Math.floor((Date.parse(until) - Date.now()) / DAY_MS);
      socket.end();
      if (days >= CERTIFICATE_DAYS)
        resolve(`the certificate of ${hostname} is valid for ${days} days`);
      else reject(new Error(`the certificate of ${hostname} expires in ${days} days: renew it`));
    });
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error(`${hostname} does not answer`)));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const isAway = error.code === 'ECONNREFUSED' || error.code === 'ENOTFOUND';
      const hint = isAway ? ': start the proxy, and check the DNS entry' : '';
      reject(new Error(`${hostname}: ${describeError(error)}${hint}`));
    });
  });
}

export type EnvOfRole = Readonly<Record<ServiceRole, Env>>;

/** Reads the settings that each role would start with. */
function readRoles(envs: EnvOfRole): { findings: Finding[]; configs: Map<ServiceRole, Config> } {
  const findings: Finding[] = [];
  const configs = new Map<ServiceRole, Config>();
  for (const [role, env] of Object.entries(envs) as [ServiceRole, Env][]) {
    try {
      configs.set(role, readConfig(env, ['--roles', role]));
      findings.push({ check: `settings of ${role}`, ok: true, detail: 'they are valid' });
    } catch (error) {
      findings.push({ check: `settings of ${role}`, ok: false, detail: describeError(error) });
    }
  }
  return { findings, configs };
}

/** Checks everything that could make a start or the first payment fail. Changes nothing. */
export async function checkSettings(envs: EnvOfRole): Promise<Finding[]> {
  const { findings, configs } = readRoles(envs);
  const config = configs.get('api');
  if (config === undefined) return findings;
  const { node } = process.versions;
  const holes = knownHoles(node);
  findings.push({ check: 'node', ok: holes === null, detail: holes ?? `${node}, no known holes` });
  findings.push(...(await lookAtDatabase(config)));
  for (const network of NETWORKS) {
    const settings = config.chains[network];
    if (settings === null) continue;
    const worker = configs.get('worker')?.chains[network] ?? null;
    const { relayerKeys = [], sponsorKey = null } = worker ?? {};
    const registrar = configs.get('registrar')?.chains[network] ?? null;
    const registrarKey = registrar?.registrarKey ?? null;
    const whole = { ...settings, relayerKeys, registrarKey, sponsorKey };
    findings.push(...(await lookAtChain(whole, config)));
    if (config.production && worker !== null && registrar !== null) {
      const check = `${network}: separate keys`;
      findings.push(await finding(check, async () => requireSeparateKeys(worker, registrar)));
    }
    const keys = [
      ...relayerKeys.map((key) => ['operator', key] as const),
      ...([
        ['registrar', registrarKey],
        ['sponsor', sponsorKey],
      ] as const),
    ];
    findings.push(...(await lookAtSigners(network, keys)));
  }
  const { smtpUrl, redisUrl, publicUrl } = config;
  if (smtpUrl !== null) findings.push(await finding('mail', () => checkMailServer(smtpUrl)));
  if (redisUrl !== null) findings.push(await finding('Redis', () => lookAtRedis(redisUrl)));
  if (publicUrl !== null) findings.push(await finding('TLS', async () => lookAtTls(publicUrl)));
  return findings;
}
