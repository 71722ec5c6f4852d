import { hkdfSync } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { AnchorTarget } from '#audit/anchor-target.ts';
import { NETWORKS, type Network } from '#core/mode.ts';
import { type Atoms, atoms, MAX_AMOUNT } from '#core/money.ts';
import { type RotatingKey, withPrevious } from '#core/secrets.ts';
import { StartError } from '#core/start-error.ts';
import type { TraceSettings } from '#core/tracing.ts';
import { DECLARED_DURABILITIES, type DeclaredDurability } from '#db/durability.ts';
import type { RateLimit } from '#http/rate-limit.ts';
import { LOGGED_REQUESTS, type LoggedRequests } from '#http/request-lines.ts';
import { type AskedRules, readChainRules } from '#settings/chain-rules.ts';
import { readKeyTexts } from '#settings/key-files.ts';
import { type Lan, lanOf } from '#settings/lan.ts';
import { readNodeSettings } from '#settings/node-settings.ts';
import { type PassFileSettings, readPassFileSettings } from '#settings/pass-file-settings.ts';
import { type PushSettings, readPushSettings } from '#settings/push-settings.ts';
import {
  chainPrefix,
  type Env,
  EXTERNAL_SETTINGS,
  isOfService,
  refuseUnknown,
  type SettingName,
} from '#settings/setting-names.ts';
import { confirmationsFor } from '#settlement/confirmations.ts';
import { NETWORK_DEFAULTS, type NetworkRules, type NetworkSettings } from '#settlement/networks.ts';
import type { Hex } from '#settlement/requests.ts';
import { readRemoteKey, type SigningKey } from '#settlement/signer.ts';

/**
 * `registrar`: of a worker nothing but what is sent with the registrar's key. `watch`: a
 * watchtower, which has a process of its own.
 */
export type Role = 'api' | 'worker' | 'registrar' | 'watch';
/** Of a process that is told nothing. */
const ROLES: readonly Role[] = ['api', 'worker', 'registrar'];

/** When a pass that can be copied needs its payer's yes (the rule STATIC_PASS). */
interface StaticPass {
  readonly confirmFrom: Atoms;
  /** At the first payment at a merchant too, whatever its amount. */
  readonly asksFirst: boolean;
}

type EmbeddedRules = NetworkRules &
  Pick<NetworkSettings, 'confirmations' | 'confirmationsMs'> & {
    readonly chainId: number;
    /** From one block to the next. */
    readonly blockMs: number;
  };

/** What a watchtower stops with, and from which sum on. */
interface WatchSettings {
  /** With the contract's WATCH_ROLE; null: it only tells. */
  readonly key: SigningKey | null;
  /** Atoms that strangers settled or refunded in a day. */
  readonly pauseFrom: Atoms;
}

/** Ids of the embedded chains (behavior.md 20.3). */
const EMBEDDED_IDS: Readonly<Record<Network, number>> = { testnet: 31_337, mainnet: 31_338 };

/** What a process was told, read once. Every message of a wrong value names its variable. */
export interface Config {
  readonly roles: ReadonlySet<Role>;
  readonly host: string;
  readonly port: number;
  /** Where only probes and numbers are served; null: they are on `port`. */
  readonly opsPort: number | null;
  /** How long a process that was told to stop goes on serving, so that balancers notice. */
  readonly drainSeconds: number;
  /** The bearer token that `/metrics` on `port` asks for; null: see `mayReadMetrics`. */
  readonly metricsToken: string | null;
  readonly dataDir: string;
  readonly production: boolean;
  /** null: the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  /** A standby that lists, exports and statistics are read from; null: none. */
  readonly databaseReadUrl: string | null;
  /** The database past a pooler in transaction mode; null: there is none. */
  readonly databaseDirectUrl: string | null;
  readonly maxConnections: number;
  /** What losing the primary may cost; null: nothing, and the start checks it in production. */
  readonly durability: DeclaredDurability | null;
  readonly redisUrl: string | null;
  /** null: the embedded chain. */
  /** What a watchtower has of each network. */
  readonly watch: Readonly<Record<Network, WatchSettings>>;
  readonly chains: Readonly<Record<Network, NetworkSettings | null>>;
  /** What holds for the embedded chain of a network. */
  readonly embedded: Readonly<Record<Network, EmbeddedRules>>;
  readonly rateLimit: RateLimit;
  /** Seconds from a tap, or from the payer's yes, to the payment's place on the chain. */
  readonly settleWithinS: number;
  /** From how many atoms a pass that can be copied needs its payer's yes; null: never. */
  readonly staticPass: StaticPass | null;
  /** Where the operator pays the gas of what wallets send out; null: on a sandbox's own chains. */
  readonly gaslessTransfers: readonly Network[] | null;
  /** Percent of the hourly ceiling that one account may use; null: see `commonShare`. */
  readonly ceilingShare: number | null;
  readonly webhookAllowCidrs: readonly string[];
  /** Where staff reach the console and its API, and nowhere else; null: where all others do. */
  readonly operatorUrl: string | null;
  /** From where they do; empty: from everywhere. */
  readonly operatorAllowCidrs: readonly string[];
  /** Its test network is embedded. Receivers of test mode may run beside it. */
  readonly isSandbox: boolean;
  readonly trustedProxies: readonly string[];
  /** null: kept in the data folder. */
  readonly secret: RotatingKey | null;
  /** null: messages are written to files in the data folder. */
  readonly smtpUrl: string | null;
  /** The sender of all mails. */
  readonly mailFrom: string;
  /** null: mails to the operators, or without a mail server a file in the data folder. */
  readonly auditAnchors: AnchorTarget | null;
  /** Which requests are a line of the log, until a signal says otherwise. */
  readonly logRequests: LoggedRequests;
  /** null: nothing is traced. */
  readonly tracing: TraceSettings | null;
  /** Where people reach the web apps; null: this machine and port. */
  readonly publicUrl: string | null;
  /** The keys of Web Push to payers' browsers; null: there is none. */
  readonly push: PushSettings | null;
  /** What passes for phones are signed with. */
  readonly passFiles: PassFileSettings;
  /** Where phones on the network reach a sandbox started with `--lan`; null: nowhere. */
  readonly lan: Lan | null;
}

function readSetting(env: Env, name: SettingName): string | null {
  const value = env[name]?.trim();
  return value === undefined || value === '' || isOfService(name, value) ? null : value;
}

function integer(
  env: Env,
  name: SettingName,
  range: { min: number; max: number; default: number },
) {
  const text = readSetting(env, name);
  if (text === null) return range.default;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= range.min && value <= range.max) return value;
  throw new StartError(`${name}=${text} must be an integer from ${range.min} to ${range.max}`);
}

function metricsToken(env: Env): string | null {
  const token = readSetting(env, 'METRICS_TOKEN');
  if (token === null || /^[\x21-\x7e]{16,}$/.test(token)) return token;
  throw new StartError('METRICS_TOKEN must have 16 or more printable characters without spaces');
}

function url(env: Env, name: SettingName, protocols: readonly string[]): string | null {
  const text = readSetting(env, name);
  if (text === null) return null;
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (parsed !== null && protocols.includes(parsed.protocol)) return text;
  throw new StartError(`${name} must be a URL that begins with ${protocols.join(' or ')}`);
}

function cidrs(env: Env, name: SettingName): string[] {
  const entries = (readSetting(env, name) ?? '').split(',').map((entry) => entry.trim());
  return entries
    .filter((entry) => entry !== '')
    .map((entry) => {
      if (ipaddr.isValidCIDR(entry)) return entry;
      if (ipaddr.isValid(entry)) return `${entry}/${entry.includes(':') ? 128 : 32}`;
      throw new StartError(`${name}: ${entry} is neither an address nor a CIDR range`);
    });
}

function rateLimit(env: Env): RateLimit {
  const text = readSetting(env, 'RATE_LIMIT') ?? '100/1';
  const [, requests, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,4})$/.exec(text) ?? [];
  if (requests === undefined || seconds === undefined) {
    throw new StartError(`RATE_LIMIT=${text} must be <requests>/<seconds>, for example 100/1`);
  }
  return { requests: Number(requests), seconds: Number(seconds) };
}

/** 20 USDC: a pass that anybody can copy pays for a lunch, not for a telephone. */
const STATIC_PASS_FROM = 20_000_000;

/** In a sandbox nobody is asked, unless an amount is set. */
function staticPass(env: Env, isSandbox: boolean): StaticPass | null {
  const text = readSetting(env, 'STATIC_PASS');
  if (text === 'off' || (text === null && isSandbox)) return null;
  const range = { min: 0, max: MAX_AMOUNT, default: STATIC_PASS_FROM };
  return { confirmFrom: atoms(integer(env, 'STATIC_PASS', range)), asksFirst: !isSandbox };
}

function gaslessTransfers(env: Env): readonly Network[] | null {
  const text = readSetting(env, 'GASLESS_TRANSFERS');
  if (text === null) return null;
  if (text === 'none') return [];
  const asked = text.split(',').map((one) => one.trim());
  const networks = NETWORKS.filter((network) => asked.includes(network));
  if (networks.length === asked.length) return networks;
  const form = `${NETWORKS.join(', ')}, both separated by a comma, or none`;
  throw new StartError(`GASLESS_TRANSFERS=${text} must be ${form}`);
}

function ceilingShare(env: Env): number | null {
  if (readSetting(env, 'CEILING_SHARE') === null) return null;
  return integer(env, 'CEILING_SHARE', { min: 1, max: 100, default: 100 });
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

/** `name=value` pairs by comma, values percent-encoded, as OpenTelemetry has them. */
function traceHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  const entries = pairs.map((pair) => /^\s*([A-Za-z0-9-]+)=([^\s,]+)\s*$/.exec(pair)?.slice(1));
  if (entries.some((entry) => entry === undefined)) {
    throw new StartError('OTEL_EXPORTER_OTLP_HEADERS must be name=value, separated by commas');
  }
  const decoded = entries.map(([name, value] = []) => [name, decodeURIComponent(value ?? '')]);
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

/** The secret, and the one before it while it is being changed. */
function secret(env: Env): RotatingKey | null {
  const current = secretBytes(env, 'TAPLINE_SECRET');
  const previous = secretBytes(env, 'TAPLINE_SECRET_PREVIOUS');
  if (previous === null) return current;
  if (current === null) throw new StartError('TAPLINE_SECRET_PREVIOUS needs TAPLINE_SECRET');
  return withPrevious(current, previous);
}

/** Where the daily anchor of the audit log goes. */
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

const HEX_KEY = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;

function hex(env: Env, name: SettingName, shape: RegExp, what: string): Hex {
  const text = readSetting(env, name);
  if (text !== null && shape.test(text)) return text as Hex;
  throw mustBe(what, name, text);
}

function mustBe(what: string, name: SettingName, text: string | null): StartError {
  return new StartError(`${name} must be ${what}${text === null ? ': it is missing' : ''}`);
}

function privateKeys(env: Env, name: SettingName): Hex[] {
  const text = readSetting(env, name);
  const keys = text === null ? [] : readKeyTexts(text, name);
  if (keys.length > 0 && keys.every((key) => HEX_KEY.test(key))) return keys as Hex[];
  const what = 'private keys (0x and 64 hex digits), separated by commas, or file:/<path>';
  throw mustBe(what, name, text);
}

function privateKey(env: Env, name: SettingName): Hex {
  const text = readSetting(env, name);
  const [key, ...others] = text === null ? [] : readKeyTexts(text, name);
  if (key !== undefined && HEX_KEY.test(key) && others.length === 0) return key as Hex;
  throw mustBe('a private key (0x, 64 hex digits), or file:/<path>', name, text);
}

/** A process that does not sign needs no key, so it may be left out where it runs. */
function signingKeys(env: Env, network: Network, roles: ReadonlySet<Role>) {
  const prefix = chainPrefix(network);
  const [relayers, registrar] = [`${prefix}RELAYER_KEYS`, `${prefix}REGISTRAR_KEY`] as const;
  const sponsor = `${prefix}SPONSOR_KEY` as const;
  const isSponsoring = gaslessTransfers(env)?.includes(network) === true && roles.has('worker');
  const isNeeded = (name: SettingName, role: Role) =>
    roles.has(role) || readSetting(env, name) !== null;
  return {
    relayerKeys: isNeeded(relayers, 'worker') ? privateKeys(env, relayers) : [],
    registrarKey: isNeeded(registrar, 'registrar') ? privateKey(env, registrar) : null,
    sponsorKey:
      isSponsoring || readSetting(env, sponsor) !== null ? privateKey(env, sponsor) : null,
  };
}

/** A hundred USDC: more than a test of somebody's, less than a shop's hour. */
const PAUSE_FROM = 100_000_000;

/** The key itself, a file with it, or the address of a signer that keeps it. */
function watchKey(env: Env, name: SettingName, token: string | null): SigningKey | null {
  const text = readSetting(env, name);
  if (text === null) return null;
  if (text.startsWith('http')) return readRemoteKey(text, token, name);
  return privateKey(env, name);
}

function watchSettings(env: Env, network: Network): WatchSettings {
  const prefix = chainPrefix(network);
  const key = `${prefix}WATCH_KEY` as const;
  const max = Number.MAX_SAFE_INTEGER;
  const from = integer(env, `${prefix}WATCH_PAUSE_FROM`, { min: 0, max, default: PAUSE_FROM });
  return {
    key: watchKey(env, key, readSetting(env, `${prefix}SIGNER_TOKEN`)),
    pauseFrom: atoms(BigInt(from)),
  };
}

/** As people expect of a sandbox; the shortest leave a small machine time for its work. */
const BLOCK_MS = { min: 100, max: 60_000, default: 1_000 };

/** Our own node is believed: what counts at once needs no second address. */
function embeddedRules(env: Env, network: Network): EmbeddedRules {
  const chainId = EMBEDDED_IDS[network];
  const { askedDepth, ...rules } = chainRules(env, network, chainId);
  const { blocks: confirmations, ms: confirmationsMs } = askedDepth ?? { blocks: 0, ms: 0 };
  const blockMs = sandboxBlockMs(env, network);
  const profile = { ...rules.profile, blockMs };
  return { ...rules, profile, confirmations, confirmationsMs, chainId, blockMs };
}

/** One number for both chains, or one for each: `200,500` is of testnet and mainnet. */
function sandboxBlockMs(env: Env, network: Network): number {
  const name = 'SANDBOX_BLOCK_MS';
  const texts = (readSetting(env, name) ?? '').split(',').map((text) => text.trim());
  if (texts.length === NETWORKS.length) {
    const own = texts[NETWORKS.indexOf(network)] ?? '';
    return integer({ ...env, [name]: own }, name, BLOCK_MS);
  }
  return integer(env, name, BLOCK_MS);
}

function chainRules(env: Env, network: Network, chainId: number): AskedRules {
  const prefix = chainPrefix(network);
  return readChainRules(prefix, chainId, (setting) => readSetting(env, `${prefix}${setting}`));
}

/** The external chain of a network, or null when none is configured. */
function chain(env: Env, network: Network, roles: ReadonlySet<Role>): NetworkSettings | null {
  const prefix = chainPrefix(network);
  const given = EXTERNAL_SETTINGS.filter(
    (setting) => readSetting(env, `${prefix}${setting}`) !== null,
  );
  if (given.length === 0) return null;
  const nodes = readNodeSettings(prefix, (setting) => readSetting(env, `${prefix}${setting}`));
  const max = Number.MAX_SAFE_INTEGER;
  const chainId = integer(env, `${prefix}CHAIN_ID`, { min: 1, max, default: 0 });
  if (chainId === 0) throw new StartError(`${prefix}CHAIN_ID must be set: the id of the chain`);
  const deployedAt = integer(env, `${prefix}DEPLOYED_AT_BLOCK`, { min: 0, max, default: 0 });
  const { askedDepth, ...rules } = chainRules(env, network, chainId);
  const { usdc, explorerUrl, finality } = rules.profile;
  const usdcName = `${prefix}USDC` as const;
  return {
    ...NETWORK_DEFAULTS,
    ...rules,
    network,
    livemode: network === 'mainnet',
    chainId,
    ...nodes,
    explorerUrl: nodes.explorerUrl ?? explorerUrl,
    usdc:
      usdc === null || readSetting(env, usdcName) !== null
        ? hex(env, usdcName, ADDRESS, 'the address of the USDC contract')
        : usdc.address,
    usdcDomain: {
      name: readSetting(env, `${prefix}USDC_NAME`),
      version: readSetting(env, `${prefix}USDC_VERSION`),
    },
    settlement: hex(env, `${prefix}SETTLEMENT`, ADDRESS, 'the address of the settlement contract'),
    deployedAtBlock: BigInt(deployedAt),
    ...signingKeys(env, network, roles),
    ...confirmationsFor(askedDepth, { rpcUrls: nodes.rpcUrls, prefix, finality }),
  };
}

/** The arguments without `--lan`, and whether it was there. */
function takeLan(args: readonly string[]): { readonly lan: boolean; readonly others: string[] } {
  const others = args.filter((argument) => argument !== '--lan');
  return { lan: others.length < args.length, others };
}

function readRoles(args: readonly string[]): ReadonlySet<Role> {
  const at = args.indexOf('--roles');
  const unknown = args.find((_, index) => index !== at && !(at >= 0 && index === at + 1));
  if (unknown !== undefined)
    throw new StartError(`unknown argument ${unknown}: only --roles and --lan`);
  if (at < 0) return new Set(ROLES);
  const names = (args[at + 1] ?? '').split(',');
  if (names.length === 1 && names[0] === 'watch') return new Set(['watch']);
  if (names.includes('watch'))
    throw new StartError('--roles watch stands alone: a watchtower has a process of its own');
  for (const name of names) {
    if (!ROLES.includes(name as Role)) {
      throw new StartError(
        '--roles takes api, worker, registrar, watch, or several: --roles api,worker',
      );
    }
  }
  return new Set(names as Role[]);
}

/** What production must not be without: nothing embedded, nothing that a default would fill. */
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
    throw new StartError('--lan is for sandboxes: production has TAPLINE_PUBLIC_URL');
  for (const [name, address] of [
    ['TAPLINE_PUBLIC_URL', config.publicUrl],
    ['OPERATOR_URL', config.operatorUrl],
  ]) {
    if (address?.startsWith('http:') !== true) continue;
    throw new StartError(`${name} must begin with https: in production`);
  }
}

/** @throws StartError for the first setting that is missing, unknown or wrong. */
export function readConfig(env: Env, args: readonly string[]): Config {
  refuseUnknown(env);
  const { lan, others } = takeLan(args);
  const roles = readRoles(others);
  const port = integer(env, 'PORT', { min: 0, max: 65_535, default: 4242 });
  const testnet = chain(env, 'testnet', roles);
  const isSandbox = env.NODE_ENV !== 'production' && testnet === null;
  const config: Config = {
    roles,
    host: readSetting(env, 'HOST') ?? '127.0.0.1',
    port,
    opsPort:
      readSetting(env, 'OPS_PORT') === null
        ? null
        : integer(env, 'OPS_PORT', { min: 0, max: 65_535, default: 0 }),
    drainSeconds: integer(env, 'DRAIN_SECONDS', { min: 0, max: 300, default: 0 }),
    metricsToken: metricsToken(env),
    dataDir: readSetting(env, 'TAPLINE_DATA_DIR') ?? '.tapline',
    production: env.NODE_ENV === 'production',
    databaseUrl: url(env, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    databaseReadUrl: url(env, 'DATABASE_READ_URL', ['postgres:', 'postgresql:']),
    databaseDirectUrl: url(env, 'DATABASE_DIRECT_URL', ['postgres:', 'postgresql:']),
    maxConnections: integer(env, 'DATABASE_CONNECTIONS', { min: 4, max: 500, default: 20 }),
    durability: durability(env),
    redisUrl: url(env, 'REDIS_URL', ['redis:', 'rediss:']),
    watch: { testnet: watchSettings(env, 'testnet'), mainnet: watchSettings(env, 'mainnet') },
    chains: { testnet, mainnet: chain(env, 'mainnet', roles) },
    embedded: {
      testnet: embeddedRules(env, 'testnet'),
      mainnet: embeddedRules(env, 'mainnet'),
    },
    rateLimit: rateLimit(env),
    settleWithinS: integer(env, 'SETTLE_WITHIN', { min: 30, max: 600, default: 60 }),
    staticPass: staticPass(env, isSandbox),
    gaslessTransfers: gaslessTransfers(env),
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
    passFiles: readPassFileSettings((name) => readSetting(env, name)),
    lan: lan ? lanOf(port) : null,
  };
  if (config.production) checkProduction(config);
  return config;
}

/** One key per purpose out of the process's one secret. */
export function deriveKey(secretKey: RotatingKey, purpose: string): RotatingKey {
  const derive = (key: Buffer) =>
    Buffer.from(hkdfSync('sha256', key, 'tapline', purpose, SECRET_BYTES));
  const { previous } = secretKey;
  return withPrevious(derive(secretKey), previous && derive(previous));
}

/** Seals the key that ids are derived under. */
export function idSealingKey(secretKey: RotatingKey): RotatingKey {
  return deriveKey(secretKey, 'id key');
}

/** Seals and opens the signing secrets of webhook endpoints. */
export function webhookKey(secretKey: RotatingKey): RotatingKey {
  return deriveKey(secretKey, 'webhook secrets');
}

/** Seals and opens the keys of payers' cards. */
export function cardKey(secretKey: RotatingKey): RotatingKey {
  return deriveKey(secretKey, 'cards');
}

/** Encrypts and signs what belongs to people and their sessions. */
export function peopleKey(secretKey: RotatingKey): RotatingKey {
  return deriveKey(secretKey, 'people');
}
