import { NETWORKS, type Network } from '#core/mode.ts';
import { type Atoms, atoms } from '#core/money.ts';
import { StartError } from '#core/start-error.ts';
import { type AskedRules, readChainRules } from '#settings/chain-rules.ts';
import { readNodeSettings } from '#settings/node-settings.ts';
import { address, integer, readSetting, signingKey, signingKeys } from '#settings/read-setting.ts';
import {
  chainPrefix,
  type Env,
  EXTERNAL_SETTINGS,
  type SettingName,
} from '#settings/setting-names.ts';
import type { Role } from '#settings/start-arguments.ts';
import { confirmationsFor } from '#settlement/choose-confirmations.ts';
import type { ContractPlace } from '#settlement/contract-versions.ts';
import { settingAddress } from '#settlement/evm-address.ts';
import {
  NETWORK_DEFAULTS,
  type NetworkRules,
  type NetworkSettings,
} from '#settlement/network-config.ts';
import type { SigningKey } from '#settlement/remote-signer.ts';

export type EmbeddedRules = NetworkRules &
  Pick<NetworkSettings, 'confirmations' | 'confirmationsMs'> & {
    readonly chainId: number;
    readonly blockMs: number;
  };

/** The watchtower's key, and the daily amount from which it pauses the contract. */
export interface WatchSettings {
  /** A key with the contract's WATCH_ROLE; `null` if the watchtower only raises alarms. */
  readonly key: SigningKey | null;
  /**
   * Atoms per day, settled or refunded outside this service, from which the watchtower pauses the
   * contract.
   */
  readonly pauseFrom: Atoms;
}

/** Ids of the embedded chains (behavior.md 20.3). */
const EMBEDDED_IDS: Readonly<Record<Network, number>> = { testnet: 31_337, mainnet: 31_338 };

export function gaslessTransfers(env: Env): readonly Network[] | null {
  const text = readSetting(env, 'GASLESS_TRANSFERS');
  if (text === null) return null;
  if (text === 'none') return [];
  const names = text.split(',').map((one) => one.trim());
  const networks = NETWORKS.filter((network) => names.includes(network));
  if (networks.length === names.length) return networks;
  const form = `${NETWORKS.join(', ')}, both separated by a comma, or none`;
  throw new StartError(`GASLESS_TRANSFERS=${text} must be ${form}`);
}

/** The settings of a process that does not sign may omit them. */
function keysOf(env: Env, network: Network, roles: ReadonlySet<Role>) {
  const prefix = chainPrefix(network);
  const [relayers, registrar] = [`${prefix}RELAYER_KEYS`, `${prefix}REGISTRAR_KEY`] as const;
  const sponsor = `${prefix}SPONSOR_KEY` as const;
  const isSponsoring = gaslessTransfers(env)?.includes(network) === true && roles.has('worker');
  const isNeeded = (name: SettingName, role: Role) =>
    roles.has(role) || readSetting(env, name) !== null;
  const token = readSetting(env, `${prefix}SIGNER_TOKEN`);
  const isSponsor = isSponsoring || readSetting(env, sponsor) !== null;
  return {
    relayerKeys: isNeeded(relayers, 'worker') ? signingKeys(env, relayers, token) : [],
    registrarKey: isNeeded(registrar, 'registrar') ? signingKey(env, registrar, token) : null,
    sponsorKey: isSponsor ? signingKey(env, sponsor, token) : null,
  };
}

/**
 * Default pause threshold, in atoms: 100 USDC is more than a test payment, and less than a shop's
 * hourly sales.
 */
const PAUSE_FROM = 100_000_000;

export function watchSettings(env: Env, network: Network): WatchSettings {
  const prefix = chainPrefix(network);
  const key = `${prefix}WATCHER_KEY` as const;
  const token = readSetting(env, `${prefix}SIGNER_TOKEN`);
  const max = Number.MAX_SAFE_INTEGER;
  const from = integer(env, `${prefix}WATCHER_PAUSE_FROM`, { min: 0, max, default: PAUSE_FROM });
  return {
    key: readSetting(env, key) === null ? null : signingKey(env, key, token),
    pauseFrom: atoms(BigInt(from)),
  };
}

/**
 * Interval of embedded blocks. The default, a second, is what people expect; the minimum leaves a
 * slow machine enough time.
 */
const BLOCK_MS = { min: 100, max: 60_000, default: 1_000 };

/**
 * Reads the rules of an embedded chain. Its node is trusted, so `CONFIRMATIONS` needs no second
 * provider even if it is 0.
 */
export function embeddedRules(env: Env, network: Network): EmbeddedRules {
  const chainId = EMBEDDED_IDS[network];
  const { askedDepth, ...rules } = chainRules(env, network, chainId);
  const { blocks: confirmations, ms: confirmationsMs } = askedDepth ?? { blocks: 0, ms: 0 };
  const blockMs = sandboxBlockMs(env, network);
  const profile = { ...rules.profile, blockMs };
  return { ...rules, profile, confirmations, confirmationsMs, chainId, blockMs };
}

/** Parses one number for both chains, or `200,500` for testnet and mainnet. */
function sandboxBlockMs(env: Env, network: Network): number {
  const name = 'SANDBOX_BLOCK_MS';
  const texts = (readSetting(env, name) ?? '').split(',').map((text) => text.trim());
  const own = texts[NETWORKS.indexOf(network)];
  // An empty part is a typing error, not a request for the default interval.
  if (texts.length === NETWORKS.length && own !== undefined && !texts.includes('')) {
    return integer({ ...env, [name]: own }, name, BLOCK_MS);
  }
  return integer(env, name, BLOCK_MS);
}

function chainRules(env: Env, network: Network, chainId: number): AskedRules {
  const prefix = chainPrefix(network);
  return readChainRules(prefix, chainId, (setting) => readSetting(env, `${prefix}${setting}`));
}

/** Matches `<address>` or `<address>@<block of deployment>`. */
const FORMER = /^(0x[0-9a-f]{40})(?:@(\d{1,15}))?$/i;

/** @throws StartError for malformed text, or a contract named twice. */
function formerSettlements(env: Env, prefix: ReturnType<typeof chainPrefix>): ContractPlace[] {
  const name = `${prefix}PREVIOUS_CONTRACTS` as const;
  const text = readSetting(env, name);
  if (text === null) return [];
  const former = text.split(',').map((part) => {
    const [, text, block = '0'] = FORMER.exec(part.trim()) ?? [];
    if (text !== undefined) {
      return { settlement: settingAddress(text, name), deployedAtBlock: BigInt(block) };
    }
    throw new StartError(
      `${name}: "${part.trim()}" is not <address>@<block>: list the previous contracts in this ` +
        'form, oldest first',
    );
  });
  const present = readSetting(env, `${prefix}SETTLEMENT`)?.toLowerCase();
  const all = [...former.map(({ settlement }) => settlement.toLowerCase()), present];
  const twice = all.find((one, index) => all.indexOf(one) !== index);
  if (twice === undefined) return former;
  throw new StartError(`${name} lists ${twice} twice, or it is also ${prefix}SETTLEMENT`);
}

/** Returns the external chain of a network; `null` if none is configured. */
export function chain(
  env: Env,
  network: Network,
  roles: ReadonlySet<Role>,
): NetworkSettings | null {
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
        ? address(env, usdcName, 'the address of the USDC contract')
        : usdc.address,
    usdcDomain: {
      name: readSetting(env, `${prefix}USDC_NAME`),
      version: readSetting(env, `${prefix}USDC_VERSION`),
    },
    settlement: address(env, `${prefix}SETTLEMENT`, 'the address of the settlement contract'),
    deployedAtBlock: BigInt(deployedAt),
    formerSettlements: formerSettlements(env, prefix),
    ...keysOf(env, network, roles),
    ...confirmationsFor(askedDepth, { rpcUrls: nodes.rpcUrls, prefix, finality }),
  };
}
