import { StartError } from '#core/start-error.ts';
import { percentDecoded } from '#settings/read-setting.ts';
import { headsUrlOf } from '#settlement/chain/rpc/subscribe-heads.ts';
import { NETWORK_DEFAULTS, type NetworkConfig } from '#settlement/network-config.ts';

type NodeSettings = Pick<
  NetworkConfig,
  | 'rpcUrls'
  | 'rpcHeaders'
  | 'rpcTimeoutsMs'
  | 'rpcPerSecond'
  | 'headsUrl'
  | 'publicRpcUrl'
  | 'explorerUrl'
>;

/** Without their prefix `CHAIN_<NETWORK>_`. */
type NodeSetting =
  | 'RPC_URL'
  | 'RPC_HEADERS'
  | 'RPC_TIMEOUT_MS'
  | 'RPC_PER_SECOND'
  | 'WS_URL'
  | 'PUBLIC_RPC_URL'
  | 'EXPLORER_URL';

type Read = (setting: NodeSetting) => string | null;

/**
 * Reads the settings for connecting to a network's nodes. Error messages name an address by its
 * position, because the address may contain a key.
 * @throws StartError for the first invalid setting.
 */
export function readNodeSettings(prefix: string, read: Read): NodeSettings {
  const rpcUrls = (read('RPC_URL') ?? '').split(',').map((one) => one.trim());
  for (const [index, url] of rpcUrls.entries()) {
    const which = rpcUrls.length > 1 ? `address ${index + 1} of ${rpcUrls.length} ` : '';
    const parsed = /^https?:\/\//.test(url) ? URL.parse(url) : null;
    if (parsed !== null && percentDecoded(`${parsed.username}${parsed.password}`) === null) {
      throw new StartError(
        `${prefix}RPC_URL: ${which}has an unescaped % in its user name or password: write it as ` +
          '%25',
      );
    }
    if (parsed !== null) continue;
    throw new StartError(
      `${prefix}RPC_URL: ${which}must begin with http:// or https:// ` +
        '(separate several URLs with commas)',
    );
  }
  return {
    rpcUrls,
    rpcHeaders: headers(`${prefix}RPC_HEADERS`, read('RPC_HEADERS'), rpcUrls.length),
    rpcTimeoutsMs: timeouts(`${prefix}RPC_TIMEOUT_MS`, read('RPC_TIMEOUT_MS'), rpcUrls.length),
    rpcPerSecond: perSecond(`${prefix}RPC_PER_SECOND`, read('RPC_PER_SECOND')),
    publicRpcUrl: webUrl(`${prefix}PUBLIC_RPC_URL`, read('PUBLIC_RPC_URL')),
    explorerUrl: webUrl(`${prefix}EXPLORER_URL`, read('EXPLORER_URL')),
    headsUrl: headsUrl(`${prefix}WS_URL`, read('WS_URL'), rpcUrls[0] ?? ''),
  };
}

function headers(
  name: string,
  text: string | null,
  addresses: number,
): readonly Readonly<Record<string, string>>[] {
  if (text === null) return [];
  const list = parseList(text);
  if (list !== null && list.length <= addresses && list.every(isHeaders)) return list;
  throw new StartError(
    `${name} must be a JSON array with one object of header names and values for each address of ` +
      'the RPC_URL, in their order: [{"authorization": "Bearer …"}, {}]',
  );
}

function parseList(text: string): readonly unknown[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function isHeaders(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([header, text]) =>
      /^[a-z0-9-]+$/i.test(header) && typeof text === 'string' && /^[\x20-\x7e]*$/.test(text),
  );
}

const MIN_TIMEOUT_MS = 100;
/** Upper limit, because a tap must be answered within 30 s, even if nodes are slow. */
const MAX_TIMEOUT_MS = 20_000;

function timeouts(name: string, text: string | null, addresses: number): readonly number[] {
  if (text === null) return NETWORK_DEFAULTS.rpcTimeoutsMs;
  const values = text.split(',').map((one) => (/^\s*\d+\s*$/.test(one) ? Number(one) : Number.NaN));
  const inRange = (value: number) => value >= MIN_TIMEOUT_MS && value <= MAX_TIMEOUT_MS;
  if (values.every(inRange) && values.length <= addresses) return values;
  throw new StartError(
    `${name} must be one number from ${MIN_TIMEOUT_MS} to ${MAX_TIMEOUT_MS} (milliseconds), or ` +
      'one for each address of the RPC_URL, separated by commas',
  );
}

/**
 * Lower limit: with fewer requests per second, the requests of a single tap would wait for each
 * other.
 */
const LEAST_PER_SECOND = 5;
const MOST_PER_SECOND = 100_000;

function perSecond(name: string, text: string | null): number | null {
  if (text === null) return null;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= LEAST_PER_SECOND && value <= MOST_PER_SECOND) return value;
  throw new StartError(
    `${name}=${text} must be an integer from ${LEAST_PER_SECOND} to ${MOST_PER_SECOND}`,
  );
}

function headsUrl(name: string, text: string | null, rpcUrl: string): string | null {
  if (text === null) return null;
  if (text === 'auto') return headsUrlOf(rpcUrl);
  if (/^wss?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new StartError(`${name} must be auto, or begin with ws:// or wss://`);
}

/**
 * Parses an address that becomes part of a page's content security policy, so it must not contain a
 * character that separates entries there.
 */
function webUrl(name: string, text: string | null): string | null {
  if (text === null) return null;
  const { href, protocol, username, hash } = URL.canParse(text) ? new URL(text) : NO_URL;
  const isGood = /^https?:$/.test(protocol) && username === '' && hash === '';
  if (isGood && /^[^\s;,'"]+$/.test(href)) return href.replace(/\/+$/, '');
  throw new StartError(`${name} must be an address that begins with https:// or http://`);
}

const NO_URL = { href: '', protocol: '', username: '', hash: '' };
