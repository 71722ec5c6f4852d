import { formatGwei } from 'viem';
import type { Log } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { readCodeSize } from '#settlement/chain/code-size.ts';
import { readChain } from '#settlement/chain/read-chain.ts';
import { createTokenRefresh, readToken } from '#settlement/chain/read-token-facts.ts';
import { connectRpc, type ProbedAddress, type Rpc, RpcUnavailable } from '#settlement/chain/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { isCurrentContract } from '#settlement/contract/contract-code.ts';
import { contractsOf } from '#settlement/contract-versions.ts';
import type { NetworkConfig, NetworkSettings } from '#settlement/network-config.ts';

/**
 * The name and version of Circle's token on most chains, used if no node is reachable at startup.
 */
const USUAL_DOMAIN = { name: 'USD Coin', version: '2' };

/**
 * Copies the settings for this chain, because a token name that is read later is written into the
 * copy.
 */
function withToken(settings: NetworkSettings, told: NetworkConfig['usdcDomain']): NetworkConfig {
  const { name, version } = settings.usdcDomain;
  return {
    ...settings,
    usdcDomain: { name: name ?? told.name, version: version ?? told.version },
    token: { hasPermit: settings.profile.usdc?.permit !== false, domainProblem: null },
  };
}

/** Interval at which a chain that was unreachable at startup is tried again. */
const CHECK_MS = 1_000;

/**
 * Opens the chain of a network. Nodes that are unreachable now are used as soon as they answer and
 * pass the same checks.
 * @throws StartError if a node belongs to another chain, no contract is deployed at an address, the
 * contracts do not match the settings, or the fee ceiling is too low.
 */
export async function openChain(config: NetworkSettings, log: Log): Promise<Chain> {
  const { rpcUrls: urls, chainId, rpcHeaders: headers, rpcTimeoutsMs: timeoutsMs } = config;
  const perSecond = config.rpcPerSecond;
  const rpc = connectRpc({ urls, chainId, headers, timeoutsMs, perSecond, log });
  const setting = `CHAIN_${config.network.toUpperCase()}_RPC_URL`;
  const { network } = config;
  const later = openLater();
  const reads = {
    ...readChain({ config: withToken(config, USUAL_DOMAIN), rpc }, log),
    isChecked: () => later.isChecked,
    refuted: later.refuted,
    close: () => {
      clearTimeout(later.timer);
      return rpc.close();
    },
  };
  const chain = { ...reads, refreshToken: createTokenRefresh(reads, config, log) };
  const check = async () => {
    await requireContracts(chain, setting);
    await requireFee(chain);
    const { domain, hasPermit } = await readToken(chain, config, USUAL_DOMAIN);
    for (const { settlement } of config.formerSettlements) {
      await readToken(chain, { ...config, settlement }, USUAL_DOMAIN);
    }
    // Changes these objects in place, because other code holds references to them.
    Object.assign(chain.config.usdcDomain, domain);
    Object.assign(chain.config.token, { hasPermit });
    if (!hasPermit)
      log.info('the token has no permit: payers approve it with a transaction', { network });
    later.isChecked = true;
  };
  try {
    const probed = await rpc.probe();
    requireChainId(probed, setting, chainId);
    logUnreachable(probed, setting, log);
    await check();
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) {
      await rpc.close();
      throw error;
    }
    log.warn('the chain cannot be reached yet', { network: config.network });
    checkLater(later, check);
  }
  return chain;
}

/** The progress of the startup checks, which are repeated later if the chain was unreachable. */
interface Later {
  isChecked: boolean;
  readonly refuted: Promise<string>;
  readonly refute: (why: string) => void;
  timer: NodeJS.Timeout | undefined;
}

function openLater(): Later {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { isChecked: false, refuted: promise, refute: resolve, timer: undefined };
}

function checkLater(later: Later, check: () => Promise<void>): void {
  const again = async () => {
    try {
      await check();
    } catch (error) {
      if (error instanceof StartError) later.refute(error.message);
      else checkLater(later, check);
    }
  };
  later.timer = setTimeout(() => void again(), CHECK_MS).unref();
}

/**
 * Checks that all providers serve the right chain, because a provider of another chain would
 * silently never be used.
 * @throws StartError
 */
function requireChainId(probed: readonly ProbedAddress[], setting: string, chainId: number): void {
  const wrong = probed.findIndex((one) => one.chainId !== null && one.chainId !== chainId);
  if (wrong < 0) return;
  const which = probed.length > 1 ? ` (address ${wrong + 1}, ${probed[wrong]?.host})` : '';
  const told = `${setting}${which} leads to chain ${probed[wrong]?.chainId}`;
  throw new StartError(`${told}, but chain ${chainId} is expected`);
}

/**
 * Checks the fee ceiling that an operator has set, because a ceiling that is too low would go
 * unnoticed. The profile's ceiling is not checked: fees may exceed it temporarily, and senders then
 * wait.
 * @throws StartError if the chain's base fee is above the ceiling.
 */
async function requireFee(chain: Chain): Promise<void> {
  const { network, isFeeSet, maxFeePerGasCeiling } = chain.config;
  if (!isFeeSet) return;
  const { baseFeePerGas } = await chain.newest();
  if (baseFeePerGas <= maxFeePerGasCeiling) return;
  const [set, asked] = [maxFeePerGasCeiling, baseFeePerGas].map((wei) => formatGwei(wei));
  const name = `CHAIN_${network.toUpperCase()}_MAX_FEE_GWEI`;
  throw new StartError(
    `${name}=${set} is below the base fee of the chain, now ${asked} gwei: raise it`,
  );
}

function logUnreachable(probed: readonly ProbedAddress[], setting: string, log: Log): void {
  probed.forEach(({ host, chainId, error }, index) => {
    if (chainId !== null) return;
    log.warn(`address ${index + 1} of ${setting} (${host}) cannot be used yet: ${error}`);
  });
}

/**
 * Checks that each address has the right contract.
 * @throws StartError if an address has no contract, or the wrong one.
 * @throws RpcUnavailable
 */
async function requireContracts(
  { config, rpc }: { readonly config: NetworkConfig; readonly rpc: Rpc },
  setting: string,
): Promise<void> {
  const settlements = contractsOf(config).map(({ settlement }) => settlement);
  for (const address of [...settlements, config.usdc]) {
    const code = await rpc.call('eth_getCode', [address, 'latest']);
    if (code === '0x') {
      if ((await readCodeSize(rpc, address)) > 0n) {
        throw new RpcUnavailable('a node returned no code for a contract that exists');
      }
      throw new StartError(`there is no contract at ${address} on the chain of ${setting}`);
    }
    if (!settlements.includes(address) || isCurrentContract(code as Hex)) continue;
    throw new StartError(
      `the contract at ${address} on the chain of ${setting} is not a settlement contract of ` +
        'this release: deploy one with npm run chain -- deploy',
    );
  }
}
