import {
  decodeFunctionResult,
  domainSeparator,
  encodeFunctionData,
  getAddress,
  parseAbi,
} from 'viem';
import { StartError } from '#core/start-error.ts';
import type { Log } from '#observability/log.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { NetworkConfig, NetworkSettings } from '#settlement/network-config.ts';

const TOKEN_ABI = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function eip712Domain() view returns (bytes1,string,string,uint256,address,bytes32,uint256[])',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function nonces(address) view returns (uint256)',
]);
const SETTLEMENT_ABI = parseAbi(['function TOKEN() view returns (address)']);

type Domain = NetworkConfig['usdcDomain'];

/** Values that the contracts return; `null` for functions that a contract lacks. */
interface TokenFacts {
  readonly name: string | null;
  readonly version: string | null;
  readonly separator: Hex | null;
  /** The result of `nonces` (EIP-2612). */
  readonly nonce: Hex | null;
  readonly settlesIn: Hex | null;
}

interface CanCall {
  calls(
    calls: readonly { readonly to: Hex; readonly data: Hex; readonly words: number | 'any' }[],
  ): Promise<readonly ({ readonly ok: true; readonly data: Hex } | { readonly ok: false })[]>;
}

type TokenFunction = Exclude<(typeof TOKEN_ABI)[number]['name'], 'nonces'>;

/** @throws RpcUnavailable */
async function ask(chain: CanCall, { usdc, settlement }: NetworkSettings): Promise<TokenFacts> {
  const ofToken = (functionName: TokenFunction) => ({
    to: usdc,
    data: encodeFunctionData({ abi: TOKEN_ABI, functionName }),
    // Names vary in length. If a node returns nothing at all, the other calls fail.
    words: functionName === 'DOMAIN_SEPARATOR' ? 1 : ('any' as const),
  });
  const settlesIn = encodeFunctionData({ abi: SETTLEMENT_ABI, functionName: 'TOKEN' });
  const names = ['name', 'version', 'eip712Domain', 'DOMAIN_SEPARATOR'] as const;
  const nonces = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'nonces', args: [usdc] });
  const answers = await chain.calls([
    ...names.map(ofToken),
    { to: settlement, data: settlesIn, words: 1 },
    // A token without this function may run its fallback function, which may return anything, so
    // any length is accepted.
    { to: usdc, data: nonces, words: 'any' },
  ]);
  const data = answers.map((answer) => (answer.ok && answer.data !== '0x' ? answer.data : null));
  const read = <T>(index: number, decode: (bytes: Hex) => T): T | null => {
    const bytes = data[index];
    try {
      return bytes === null || bytes === undefined ? null : decode(bytes);
    } catch {
      return null; // The token has another function of that name.
    }
  };
  const text = (functionName: 'name' | 'version') => (bytes: Hex) =>
    decodeFunctionResult({ abi: TOKEN_ABI, functionName, data: bytes });
  const own = read(2, (bytes) =>
    decodeFunctionResult({ abi: TOKEN_ABI, functionName: 'eip712Domain', data: bytes }),
  );
  return {
    // The name in the token's own domain is preferred, because its display name may differ.
    name: own?.[1] ?? read(0, text('name')),
    version: own?.[2] ?? read(1, text('version')),
    separator: read(3, (bytes) => bytes),
    settlesIn: read(4, (bytes) =>
      decodeFunctionResult({ abi: SETTLEMENT_ABI, functionName: 'TOKEN', data: bytes }),
    ),
    nonce: read(5, (bytes) => bytes),
  };
}

function separatorOf(config: NetworkSettings, domain: Domain): Hex {
  const { chainId, usdc } = config;
  return domainSeparator({ domain: { ...domain, chainId, verifyingContract: usdc } });
}

interface CanRefresh extends CanCall {
  readonly config: Pick<NetworkConfig, 'usdcDomain' | 'token'>;
  remember<T>(what: string, maxAgeMs: number, read: () => Promise<T>): Promise<T>;
  isChecked(): boolean;
}

/** A name that was read is reused for this long, so a new name is in use within a minute. */
const DOMAIN_MS = 30_000;

/**
 * Keeps the token's name and version current: Circle can rename a token, which invalidates
 * signatures over the old name. They are read when a message is about to be signed, so that an idle
 * network makes no calls.
 */
export function createTokenRefresh(
  chain: CanRefresh,
  settings: NetworkSettings,
  log: Log,
): () => Promise<void> {
  const { network, usdc } = settings;
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'DOMAIN_SEPARATOR' });
  const look = async () => {
    const { usdcDomain, token } = chain.config;
    const [answer] = await chain.calls([{ to: usdc, data, words: 1 }]);
    const isSame = answer?.ok !== true || answer.data === separatorOf(settings, usdcDomain);
    const renamed = isSame ? null : await readRenamed(chain, settings);
    if (renamed !== null && 'domain' in renamed) {
      log.warn('the token was renamed', { network, before: usdcDomain, now: renamed.domain });
      Object.assign(usdcDomain, renamed.domain);
    }
    const problem = renamed !== null && 'problem' in renamed ? renamed.problem : null;
    if (problem !== null) log.error('the name of the token is unknown', { network, problem });
    Object.assign(token, { domainProblem: problem });
  };
  return async () => {
    // The startup checks read the token themselves, so do nothing until they have run.
    if (!chain.isChecked()) return;
    try {
      await chain.remember('the domain of the token', DOMAIN_MS, look);
    } catch (error) {
      // No node answered. Keep the last values, which are probably still right.
      if (!(error instanceof RpcUnavailable)) throw error;
    }
  };
}

/** The token's own name takes precedence over a setting that no longer matches it. */
async function readRenamed(chain: CanCall, settings: NetworkSettings) {
  try {
    const unset = { ...settings, usdcDomain: { name: null, version: null } };
    const { domain } = await readToken(chain, unset, { name: '', version: '' });
    return { domain };
  } catch (error) {
    if (error instanceof StartError) return { problem: error.message };
    throw error;
  }
}

interface Token {
  /** The name and version in signed messages, from the settings or from the token. */
  readonly domain: Domain;
  readonly hasPermit: boolean;
}

/**
 * @throws StartError if the token's DOMAIN_SEPARATOR does not match its name and version, or if the
 * settlement contract uses another token.
 * @throws RpcUnavailable
 */
export async function readToken(
  chain: CanCall,
  config: NetworkSettings,
  usual: Domain,
): Promise<Token> {
  const prefix = `CHAIN_${config.network.toUpperCase()}_`;
  const facts = await ask(chain, config);
  const { usdc, settlement } = config;
  if (facts.settlesIn === null || getAddress(facts.settlesIn) !== getAddress(usdc)) {
    const token = facts.settlesIn ?? 'no token';
    throw new StartError(
      `${prefix}SETTLEMENT ${settlement} settles in ${token}, but ${prefix}USDC is ${usdc}`,
    );
  }
  const name = config.usdcDomain.name ?? facts.name;
  const version = config.usdcDomain.version ?? facts.version;
  // If no node reports the function, the chain's profile decides.
  const hasPermit = facts.nonce !== null || config.profile.usdc?.permit === true;
  if (facts.separator === null && !hasPermit) {
    const domain = { name: name ?? usual.name, version: version ?? usual.version };
    return { domain, hasPermit: false };
  }
  if (name === null || version === null) {
    const missing = name === null ? 'USDC_NAME' : 'USDC_VERSION';
    throw new StartError(
      `${prefix}${missing} must be set: the token at ${usdc} does not report it`,
    );
  }
  if (facts.separator !== separatorOf(config, { name, version })) {
    throw new StartError(
      `${prefix}USDC_NAME and ${prefix}USDC_VERSION: "${name}", "${version}" do not match the ` +
        `DOMAIN_SEPARATOR of ${usdc}, which calls itself "${facts.name}", "${facts.version}"`,
    );
  }
  return { domain: { name, version }, hasPermit };
}
