import { StartError } from '#core/start-error.ts';
import { type ChainProfile, PROFILE_NAMES, profileFor } from '#settlement/chain-profiles.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { type Depth, MAX_WAIT_MS } from '#settlement/choose-confirmations.ts';
import { checksummed } from '#settlement/evm-address.ts';
import {
  type CountsRule,
  NETWORK_DEFAULTS,
  type NetworkRules,
} from '#settlement/network-config.ts';

/**
 * Settings, without the prefix `CHAIN_<NETWORK>_`, that apply to any chain. They do not make a
 * chain external.
 */
export const RULE_SETTINGS = [
  'PROFILE',
  'CONFIRMATIONS',
  'CONFIRMATION_TIERS',
  'SETTLE_EVERY_MS',
  'MAX_FEE_GWEI',
  'LOW_BALANCE',
  'WALLET_FACTORIES',
] as const;

type RuleSetting = (typeof RULE_SETTINGS)[number];
type Read = (setting: RuleSetting) => string | null;

export interface AskedRules extends NetworkRules {
  readonly askedDepth: Depth | null;
}

/** @throws StartError for the first invalid setting. */
export function readChainRules(prefix: string, chainId: number, read: Read): AskedRules {
  const refuse = (setting: RuleSetting, must: string): never => {
    throw new StartError(`${prefix}${setting}=${read(setting)} ${must}`);
  };
  const profile = readProfile(chainId, read, refuse);
  const fee = readGwei(read, refuse);
  return {
    profile,
    askedDepth: readDepth(read, refuse),
    countsFrom: readCountsFrom(read, refuse),
    settleEveryMs: readInteger('SETTLE_EVERY_MS', MOST_SETTLE_EVERY_MS, { read, refuse }) ?? 0,
    maxFeePerGasCeiling: fee ?? profile.highestFee,
    isFeeSet: fee !== null,
    lowBalance:
      readInteger('LOW_BALANCE', MOST_LOW_BALANCE, { read, refuse }) ?? NETWORK_DEFAULTS.lowBalance,
    walletFactories: readFactories(profile, read, refuse),
  };
}

const ADDRESS_LIST = /^0x[0-9a-f]{40}(\s*,\s*0x[0-9a-f]{40})*$/i;

/** Returns the factories of payers' wallets. Default: the profile's well-known factories. */
function readFactories(profile: ChainProfile, read: Read, refuse: Refuse): readonly Hex[] {
  const text = read('WALLET_FACTORIES');
  if (text === null) return profile.walletFactories;
  if (text === 'none') return [];
  const factories = text.split(',').map((one) => checksummed(one.trim()));
  const isList = ADDRESS_LIST.test(text) && factories.every((one) => one !== null);
  if (isList) return factories.filter((one) => one !== null);
  return refuse('WALLET_FACTORIES', 'must be addresses separated by commas, or none');
}

type Refuse = (setting: RuleSetting, must: string) => never;

function readProfile(chainId: number, read: Read, refuse: Refuse) {
  const text = read('PROFILE');
  const profile = PROFILE_NAMES.find((name) => name === text) ?? null;
  if (text !== null && profile === null) {
    return refuse('PROFILE', `must be ${PROFILE_NAMES.join(', ')}`);
  }
  return (
    profileFor(profile, chainId) ??
    refuse('PROFILE', `contradicts the chain id: ${chainId} has the profile ${nameOf(chainId)}`)
  );
}

function nameOf(chainId: number): string {
  return profileFor(null, chainId)?.name ?? 'custom';
}

const MOST_BLOCKS = 1_000;

function readDepth(read: Read, refuse: Refuse): Depth | null {
  const text = read('CONFIRMATIONS');
  if (text === null) return null;
  const blocks = /^\d+$/.test(text) ? Number(text) : null;
  if (blocks !== null && blocks <= MOST_BLOCKS) return { blocks, ms: 0 };
  const ms = timeOf(text);
  if (ms !== null) return { blocks: 0, ms };
  const times = `a time from 1ms to ${MAX_WAIT_MS / 1_000}s, such as 400ms or 2s`;
  return refuse(
    'CONFIRMATIONS',
    `must be an integer from 0 to ${MOST_BLOCKS} (blocks), or ${times}`,
  );
}

/** Parses a time; `null` if it is malformed or out of range. */
function timeOf(text: string): number | null {
  const [, digits, unit] = /^(\d{1,7})(ms|s)$/.exec(text) ?? [];
  if (digits === undefined) return null;
  const ms = Number(digits) * (unit === 's' ? 1_000 : 1);
  return ms >= 1 && ms <= MAX_WAIT_MS ? ms : null;
}

/** Maximum number of confirmation tiers: more than an operator needs. */
const MOST_RULES = 10;

function readCountsFrom(read: Read, refuse: Refuse): readonly CountsRule[] {
  const text = read('CONFIRMATION_TIERS');
  if (text === null) return [];
  const rules = text.split(',').map((entry) => ruleOf(entry.trim()));
  const isRising = rules.every(
    (rule, index) => index === 0 || (rule?.from ?? 0n) > (rules[index - 1]?.from ?? 0n),
  );
  if (rules.every((rule) => rule !== null) && isRising && rules.length <= MOST_RULES) return rules;
  return refuse(
    'CONFIRMATION_TIERS',
    'must be increasing atoms, each with inclusion, a time, safe or finalized: ' +
      '0:inclusion,500000000:1s,10000000000:safe',
  );
}

function ruleOf(entry: string): CountsRule | null {
  const [, atoms, waitsFor = ''] = /^(\d{1,15}):(\w+)$/.exec(entry) ?? [];
  if (atoms === undefined) return null;
  const from = BigInt(atoms);
  if (waitsFor === 'inclusion' || waitsFor === 'safe' || waitsFor === 'finalized') {
    return { from, waitsFor, ms: 0 };
  }
  const ms = timeOf(waitsFor);
  return ms === null ? null : { from, waitsFor: 'time', ms };
}

/**
 * Upper limit, because a transaction must be signed at least ten seconds before the payment's
 * time-out.
 */
const MOST_SETTLE_EVERY_MS = 10_000;
const MOST_LOW_BALANCE = 1_000_000_000;

function readInteger(
  setting: RuleSetting,
  max: number,
  { read, refuse }: { readonly read: Read; readonly refuse: Refuse },
): number | null {
  const text = read(setting);
  if (text === null) return null;
  if (/^\d{1,10}$/.test(text) && Number(text) <= max) return Number(text);
  return refuse(setting, `must be an integer from 0 to ${max}`);
}

const MOST_GWEI = 100_000;
const GWEI_DECIMALS = 9;

/** In wei. */
function readGwei(read: Read, refuse: Refuse): bigint | null {
  const text = read('MAX_FEE_GWEI');
  if (text === null) return null;
  const [, whole, part = ''] = /^(\d{1,6})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (whole !== undefined && Number(text) > 0 && Number(text) <= MOST_GWEI) {
    return BigInt(`${whole}${part.padEnd(GWEI_DECIMALS, '0')}`);
  }
  return refuse('MAX_FEE_GWEI', `must be a number above 0 and up to ${MOST_GWEI}, such as 0.5`);
}
