import { hkdfSync } from 'node:crypto';
import type { AnchorTarget } from '#audit/anchor-target.ts';
import type { CellSettings } from '#cells/ask-other-cells.ts';
import { type RotatingKey, withPrevious } from '#core/bearer-secrets.ts';
import type { IdKey } from '#core/ids.ts';
import type { Network } from '#core/mode.ts';
import { type Atoms, atoms, MAX_AMOUNT } from '#core/money.ts';
import type { ProcessKeys } from '#core/process-keys.ts';
import { StartError } from '#core/start-error.ts';
import { DECLARED_DURABILITIES, type DeclaredDurability } from '#db/durability.ts';
import type { RateLimit } from '#http/rate-limit.ts';
import { LOGGED_REQUESTS, type LoggedRequests } from '#http/request-lines.ts';
import type { TraceSettings } from '#observability/tracing.ts';
import { feedAddresses, type RateSettings, readRateSettings } from '#prices/rate-settings.ts';
import { cellSettings } from '#settings/cell-settings.ts';
import {
  chain,
  type EmbeddedRules,
  embeddedRules,
  gaslessTransfers,
  type WatchSettings,
  watchSettings,
} from '#settings/chain-settings.ts';
import { type Lan, lanOf } from '#settings/lan-address.ts';
import { type PassFileSettings, readPassFileSettings } from '#settings/pass-file-settings.ts';
import { type PushSettings, readPushSettings } from '#settings/push-settings.ts';
import { cidrs, integer, percentDecoded, readSetting, url } from '#settings/read-setting.ts';
import { type Env, refuseUnknown, type SettingName } from '#settings/setting-names.ts';
import { type Role, readRoles, takeLan } from '#settings/start-arguments.ts';
import {
  readWalletConnectSettings,
  type WalletConnectSettings,
} from '#settings/walletconnect-settings.ts';
import { DEPLOY_FROM, GAS_PER_DAY, type GasPolicy } from '#settlement/gas-budget.ts';
import type { GasKind } from '#settlement/gas-spending-queries.ts';
import type { NetworkSettings } from '#settlement/network-config.ts';

/** When a pass that can be copied requires its payer's confirmation (the rule STATIC_PASS). */
interface StaticPass {
  readonly confirmFrom: Atoms;
  /**
   * True to require confirmation also for a payer's first payment at a merchant, whatever the
   * amount.
   */
  readonly asksFirst: boolean;
}

/** A process's settings, read once at the start. Error messages name the environment variable. */
export interface Config {
  readonly roles: ReadonlySet<Role>;
  readonly host: string;
  readonly port: number;
  /** A port for probes and metrics only; `null` if `port` serves them. */
  readonly opsPort: number | null;
  /**
   * Time for which a stopping process keeps serving, so that load balancers notice its failing
   * probe.
   */
  readonly drainSeconds: number;
  /**
   * The bearer token that `/metrics` on `port` requires. `mayReadMetrics` defines what `null`
   * means.
   */
  readonly metricsToken: string | null;
  readonly dataDir: string;
  readonly production: boolean;
  /** `null` for the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  /** A standby for lists, exports and statistics; `null` if there is none. */
  readonly databaseReadUrl: string | null;
  /** The database URL that bypasses a pooler in transaction mode; `null` if there is no pooler. */
  readonly databaseDirectUrl: string | null;
  readonly maxConnections: number;
  /**
   * The declared loss of data if the primary fails; `null` if undeclared, which production refuses.
   */
  readonly durability: DeclaredDurability | null;
  readonly redisUrl: string | null;
  readonly cells: CellSettings;
  readonly watch: Readonly<Record<Network, WatchSettings>>;
  /** `null` for the embedded chain. */
  readonly chains: Readonly<Record<Network, NetworkSettings | null>>;
  readonly embedded: Readonly<Record<Network, EmbeddedRules>>;
  readonly rateLimit: RateLimit;
  /**
   * Seconds from a tap, or from the payer's confirmation, within which the payment must be in a
   * block.
   */
  readonly settleWithinS: number;
  /** When a pass that can be copied requires its payer's confirmation; `null` for never. */
  readonly staticPass: StaticPass | null;
  /**
   * The networks on which the operator pays the gas of transfers; `null` for a sandbox's embedded
   * chains only.
   */
  readonly gaslessTransfers: readonly Network[] | null;
  /** Hourly limits of gas-free transfers: per IP address, and in total. */
  readonly gaslessLimits: { readonly perAddress: number; readonly perHour: number };
  readonly gas: GasPolicy;
  /** The most requests to nodes for the movements of one wallet, per UTC day. */
  readonly walletReadsPerDay: number;
  /** Where payers of live mode can get USDC; `null` if the operator names no such page. */
  readonly walletTopUpUrl: string | null;
  readonly rates: RateSettings;
  /**
   * Percent of the hourly ceiling that one account may use. `commonShare` defines what `null`
   * means.
   */
  readonly ceilingShare: number | null;
  readonly webhookAllowCidrs: readonly string[];
  /** Time limit for each embedded part (database, chain) to become ready. */
  readonly sandboxStartMs: number;
  /** The only URL of the console and its API; `null` if every address serves them. */
  readonly operatorUrl: string | null;
  /** Client addresses that may reach the console and its API; empty for all. */
  readonly operatorAllowCidrs: readonly string[];
  /** True if the test network is embedded. Test-mode webhooks may then go to this machine. */
  readonly isSandbox: boolean;
  readonly trustedProxies: readonly string[];
  /** The service's secret; `null` if it is in the data folder. */
  readonly secret: RotatingKey | null;
  /** The mail server; `null` if mails become files in the data folder. */
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  /**
   * The destination of the audit log's anchors; `null` to mail them to the operators, or to write a
   * file in the data folder if there is no mail server.
   */
  readonly auditAnchors: AnchorTarget | null;
  /** The requests that get a line in the log, until a signal changes the selection. */
  readonly logRequests: LoggedRequests;
  /** `null` if tracing is off. */
  readonly tracing: TraceSettings | null;
  /** The public origin of the web apps; `null` for this machine's port. */
  readonly publicUrl: string | null;
  /** The Web Push keys for payers' browsers; `null` if notifications are off. */
  readonly push: PushSettings | null;
  /**
   * The settings of WalletConnect; `null` if the pay page does not offer wallets on other devices.
   */
  readonly walletConnect: WalletConnectSettings | null;
  readonly passFiles: PassFileSettings;
  /** The address for phones if the sandbox was started with `--lan`, otherwise `null`. */
  readonly lan: Lan | null;
}

function metricsToken(env: Env): string | null {
  const token = readSetting(env, 'METRICS_TOKEN');
  if (token === null || /^[\x21-\x7e]{16,}$/.test(token)) return token;
  throw new StartError('METRICS_TOKEN must have 16 or more printable characters without spaces');
}

function opsPort(env: Env): number | null {
  if (readSetting(env, 'OPS_PORT') === null) return null;
  return integer(env, 'OPS_PORT', { min: 0, max: 65_535, default: 0 });
}

/** Range of the hourly limits. GASLESS_TRANSFERS=none turns transfers off. */
const TRANSFERS = { min: 1, max: 100_000 } as const;

function gaslessLimits(env: Env): Config['gaslessLimits'] {
  return {
    perAddress: integer(env, 'GASLESS_TRANSFERS_PER_ADDRESS', { ...TRANSFERS, default: 30 }),
    perHour: integer(env, 'GASLESS_TRANSFERS_PER_HOUR', { ...TRANSFERS, default: 600 }),
  };
}

function gasPolicy(env: Env, isSandbox: boolean): GasPolicy {
  const deployFrom = { min: 0, max: MAX_AMOUNT, default: isSandbox ? 0 : DEPLOY_FROM };
  const perDay = (name: SettingName, kind: GasKind) =>
    integer(env, name, { min: 1e6, max: 1e11, default: GAS_PER_DAY[kind] });
  return {
    perDay: {
      payment: perDay('WALLET_PAYMENT_GAS_PER_DAY', 'payment'),
      enrolment: perDay('APPROVAL_GAS_PER_DAY', 'enrolment'),
      transfer: perDay('GASLESS_TRANSFER_GAS_PER_DAY', 'transfer'),
      wallet_deployment: perDay('WALLET_DEPLOYMENT_GAS_PER_DAY', 'wallet_deployment'),
    },
    approvalsPerAddress: integer(env, 'APPROVALS_PER_ADDRESS', { ...TRANSFERS, default: 30 }),
    deployFrom: integer(env, 'WALLET_DEPLOYMENT_FROM', deployFrom),
  };
}

/** At least the newest blocks once an hour: 9 requests (src/payers/movements/read-movements.ts). */
const WALLET_READS = { min: 216, max: 1_000_000, default: 2_000 } as const;

/**
 * Returns the page exactly as it is set: the wallet opens it with nothing added. A payer is shown
 * its host, so the address must name it plainly.
 */
function topUpUrl(env: Env): string | null {
  const text = url(env, 'WALLET_TOP_UP_URL', ['https:']);
  if (text === null) return null;
  const { username, password } = new URL(text);
  if (/^https:\/\/[!-~]+$/i.test(text) && username === '' && password === '') return text;
  throw new StartError(
    'WALLET_TOP_UP_URL must begin with https:// and have no user name or password; its host must ' +
      'be in ASCII (xn--…)',
  );
}

function rateLimit(env: Env): RateLimit {
  const text = readSetting(env, 'RATE_LIMIT') ?? '100/1';
  const [, requests, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,4})$/.exec(text) ?? [];
  if (requests === undefined || seconds === undefined) {
    throw new StartError(`RATE_LIMIT=${text} must be <requests>/<seconds>, for example 100/1`);
  }
  return { requests: Number(requests), seconds: Number(seconds) };
}

/**
 * Default amount from which a copyable pass requires confirmation. 20 USDC lets a copied pass pay
 * for a lunch, but not for a phone.
 */
const STATIC_PASS_FROM = 20_000_000;

/** A sandbox requires confirmation only if an amount is set. */
function staticPass(env: Env, isSandbox: boolean): StaticPass | null {
  const text = readSetting(env, 'STATIC_PASS_CONFIRM_FROM');
  if (text === 'off' || (text === null && isSandbox)) return null;
  const range = { min: 0, max: MAX_AMOUNT, default: STATIC_PASS_FROM };
  return {
    confirmFrom: atoms(integer(env, 'STATIC_PASS_CONFIRM_FROM', range)),
    asksFirst: !isSandbox,
  };
}

function ceilingShare(env: Env): number | null {
  if (readSetting(env, 'MAX_ACCOUNT_SHARE_PERCENT') === null) return null;
  return integer(env, 'MAX_ACCOUNT_SHARE_PERCENT', { min: 1, max: 100, default: 100 });
}

function durability(env: Env): DeclaredDurability | null {
  const text = readSetting(env, 'DATABASE_DURABILITY');
  const known = DECLARED_DURABILITIES.find((one) => one === text);
  if (text === null || known !== undefined) return known ?? null;
  throw new StartError(`DATABASE_DURABILITY=${text} must be ${DECLARED_DURABILITIES.join(', ')}`);
}

function logRequests(env: Env): LoggedRequests {
  const text = readSetting(env, 'LOG_REQUESTS') ?? 'none';
  const known = LOGGED_REQUESTS.find((one) => one === text);
  if (known !== undefined) return known;
  throw new StartError(`LOG_REQUESTS=${text} must be ${LOGGED_REQUESTS.join(', ')}`);
}

/**
 * Parses `name=value` pairs separated by commas, with percent-encoded values, as OpenTelemetry
 * defines.
 */
function traceHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  const entries = pairs.map((pair) => /^\s*([A-Za-z0-9-]+)=([^\s,]+)\s*$/.exec(pair)?.slice(1));
  if (entries.some((entry) => entry === undefined)) {
    throw new StartError('OTEL_EXPORTER_OTLP_HEADERS must be name=value, separated by commas');
  }
  const decoded = entries.map(([name, value] = []) => [name, percentDecoded(value ?? '')]);
  if (decoded.some(([, value]) => value === null)) {
    throw new StartError(
      'OTEL_EXPORTER_OTLP_HEADERS has an unescaped % in a value: write it as %25',
    );
  }
  return Object.fromEntries(decoded);
}

function tracing(env: Env): TraceSettings | null {
  const endpoint = url(env, 'OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']);
  const headers = traceHeaders(readSetting(env, 'OTEL_EXPORTER_OTLP_HEADERS') ?? '');
  const text = readSetting(env, 'OTEL_TRACES_SAMPLER_ARG') ?? '1';
  const ratio = Number(text);
  if (!(ratio >= 0 && ratio <= 1)) {
    throw new StartError(`OTEL_TRACES_SAMPLER_ARG=${text} must be a number from 0 to 1`);
  }
  return endpoint === null ? null : { endpoint, headers, ratio };
}

const SECRET_BYTES = 32;

function secretBytes(env: Env, name: SettingName): Buffer | null {
  const text = readSetting(env, name);
  if (text === null) return null;
  const bytes = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64');
  if (bytes.length === SECRET_BYTES && new Set(bytes).size > 1) return bytes;
  throw new StartError(`${name} must be 32 random bytes in hex or base64`);
}

/** Returns the secret, and the previous one during a rotation. */
function secret(env: Env): RotatingKey | null {
  const current = secretBytes(env, 'TAPLINE_SECRET');
  const previous = secretBytes(env, 'TAPLINE_SECRET_PREVIOUS');
  if (previous === null) return current;
  if (current === null) throw new StartError('TAPLINE_SECRET_PREVIOUS needs TAPLINE_SECRET');
  return withPrevious(current, previous);
}

/** Returns where the audit log's daily anchors are sent. */
function auditAnchors(env: Env): AnchorTarget | null {
  const text = readSetting(env, 'AUDIT_ANCHORS');
  if (text === null) return null;
  const [, address] = /^mail:([^\s@,<>]+@[^\s@,<>]+)$/.exec(text) ?? [];
  if (address !== undefined) return { to: 'mail', address };
  const [, path] = /^file:(?:\/\/)?(\/.+)$/.exec(text) ?? [];
  if (path !== undefined) return { to: 'file', path };
  if (text.startsWith('https://') && URL.canParse(text)) return { to: 'url', url: text };
  throw new StartError('AUDIT_ANCHORS must be mail:<address>, https://… or file:/<path>');
}

/** Checks what production requires: nothing embedded, and all required settings set. */
function checkProduction(config: Config): void {
  const missing = [
    config.databaseUrl === null && 'DATABASE_URL',
    config.chains.testnet === null && 'CHAIN_TESTNET_RPC_URL',
    config.chains.mainnet === null && 'CHAIN_MAINNET_RPC_URL',
    config.secret === null && 'TAPLINE_SECRET',
    config.publicUrl === null && 'TAPLINE_PUBLIC_URL',
    config.smtpUrl === null && 'SMTP_URL',
  ].filter((name) => name !== false);
  if (missing.length > 0) {
    throw new StartError(`NODE_ENV=production needs ${missing.join(', ')}: see docs/operate.md`);
  }
  if (config.lan !== null)
    throw new StartError('--lan is for sandboxes only: in production, set TAPLINE_PUBLIC_URL');
  for (const [name, address] of [
    ['TAPLINE_PUBLIC_URL', config.publicUrl],
    ['OPERATOR_URL', config.operatorUrl],
    // Over plain HTTP, an attacker on the network could set the price.
    ...feedAddresses(config.rates).map((feed) => ['RATES_URL', feed]),
    // Over plain HTTP, an attacker on the network could read passwords and the cells' secret.
    ...config.cells.others.map(({ url }) => ['CELL_ADDRESSES', url]),
  ]) {
    if (address?.startsWith('http:') !== true) continue;
    throw new StartError(`${name} must begin with https: in production`);
  }
}

function sandboxParts(env: Env) {
  const seconds = integer(env, 'SANDBOX_START_SECONDS', { min: 5, max: 3_600, default: 120 });
  const testnet = embeddedRules(env, 'testnet');
  const mainnet = embeddedRules(env, 'mainnet');
  return { embedded: { testnet, mainnet }, sandboxStartMs: seconds * 1000 };
}

function databases(env: Env) {
  return {
    databaseUrl: url(env, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    databaseReadUrl: url(env, 'DATABASE_READ_URL', ['postgres:', 'postgresql:']),
    databaseDirectUrl: url(env, 'DATABASE_DIRECT_URL', ['postgres:', 'postgresql:']),
    maxConnections: integer(env, 'DATABASE_CONNECTIONS', { min: 4, max: 500, default: 20 }),
    durability: durability(env),
    redisUrl: url(env, 'REDIS_URL', ['redis:', 'rediss:']),
  };
}

/** @throws StartError for the first setting that is missing, unknown or invalid. */
export function readConfig(env: Env, args: readonly string[]): Config {
  refuseUnknown(env);
  const { lan, others } = takeLan(args);
  const roles = readRoles(others);
  const port = integer(env, 'PORT', { min: 0, max: 65_535, default: 4242 });
  const chains = { testnet: chain(env, 'testnet', roles), mainnet: chain(env, 'mainnet', roles) };
  const isSandbox = env.NODE_ENV !== 'production' && chains.testnet === null;
  const config: Config = {
    roles,
    host: readSetting(env, 'HOST') ?? '127.0.0.1',
    port,
    opsPort: opsPort(env),
    drainSeconds: integer(env, 'DRAIN_SECONDS', { min: 0, max: 300, default: 0 }),
    metricsToken: metricsToken(env),
    dataDir: readSetting(env, 'TAPLINE_DATA_DIR') ?? '.tapline',
    production: env.NODE_ENV === 'production',
    ...databases(env),
    cells: cellSettings((name) => readSetting(env, name)),
    watch: { testnet: watchSettings(env, 'testnet'), mainnet: watchSettings(env, 'mainnet') },
    chains,
    ...sandboxParts(env),
    rateLimit: rateLimit(env),
    settleWithinS: integer(env, 'SETTLEMENT_TIMEOUT_SECONDS', { min: 30, max: 600, default: 60 }),
    staticPass: staticPass(env, isSandbox),
    gaslessTransfers: gaslessTransfers(env),
    gaslessLimits: gaslessLimits(env),
    gas: gasPolicy(env, isSandbox),
    walletReadsPerDay: integer(env, 'WALLET_READS_PER_DAY', WALLET_READS),
    walletTopUpUrl: topUpUrl(env),
    // In production, made-up rates would price real money.
    rates: readRateSettings((name) => readSetting(env, name), {
      madeUp: isSandbox && chains.mainnet === null,
    }),
    ceilingShare: ceilingShare(env),
    webhookAllowCidrs: cidrs(env, 'WEBHOOK_ALLOW_CIDRS'),
    operatorUrl: url(env, 'OPERATOR_URL', ['http:', 'https:']),
    operatorAllowCidrs: cidrs(env, 'OPERATOR_ALLOW_CIDRS'),
    isSandbox,
    trustedProxies: cidrs(env, 'TRUSTED_PROXIES'),
    secret: secret(env),
    smtpUrl: url(env, 'SMTP_URL', ['smtp:', 'smtps:']),
    mailFrom: readSetting(env, 'MAIL_FROM') ?? 'Tapline <no-reply@localhost>',
    auditAnchors: auditAnchors(env),
    logRequests: logRequests(env),
    tracing: tracing(env),
    publicUrl: url(env, 'TAPLINE_PUBLIC_URL', ['http:', 'https:']),
    push: readPushSettings((name) => readSetting(env, name)),
    walletConnect: readWalletConnectSettings((name) => readSetting(env, name)),
    passFiles: readPassFileSettings((name) => readSetting(env, name)),
    lan: lan ? lanOf(port) : null,
  };
  if (config.production) checkProduction(config);
  return config;
}

/** Derives a separate key for each purpose from the process's secret. */
export function deriveKey(secretKey: RotatingKey, purpose: string): RotatingKey {
  const derive = (key: Buffer) =>
    Buffer.from(hkdfSync('sha256', key, 'tapline', purpose, SECRET_BYTES));
  const { previous } = secretKey;
  return withPrevious(derive(secretKey), previous && derive(previous));
}

/** Returns the key that encrypts the key from which ids are derived. */
export function idSealingKey(secretKey: RotatingKey): RotatingKey {
  return deriveKey(secretKey, 'id key');
}

/** Returns the key that encrypts webhook endpoints' signing secrets. */
export function webhookKey(secretKey: RotatingKey): RotatingKey {
  return deriveKey(secretKey, 'webhook secrets');
}

/** Returns the key that encrypts the keys of payers' cards. */
export function cardKey(secretKey: RotatingKey): RotatingKey {
  return deriveKey(secretKey, 'cards');
}

/** Returns the key that encrypts and signs data of people and their sessions. */
export function peopleKey(secretKey: RotatingKey): RotatingKey {
  return deriveKey(secretKey, 'people');
}

export function processKeys(secretKey: RotatingKey, id: IdKey): ProcessKeys {
  return {
    id,
    card: cardKey(secretKey),
    cursor: deriveKey(secretKey, 'cursors'),
    webhook: webhookKey(secretKey),
    people: peopleKey(secretKey),
  };
}
