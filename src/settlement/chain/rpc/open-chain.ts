import { decodeFunctionResult, encodeFunctionData, formatGwei } from 'viem';
import { SECOND_MS } from '#core/durations.ts';
import { RecentMap } from '#core/size-limited-map.ts';
import { StartError } from '#core/start-error.ts';
import { describeError, type Log } from '#observability/log.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { readCodeSize } from '#settlement/chain/read/code-size.ts';
import { readChain } from '#settlement/chain/read/read-chain.ts';
import { createTokenRefresh, readToken } from '#settlement/chain/read/read-token-facts.ts';
import {
  decodeView,
  quantity,
  type RawBlock,
  toBlock,
} from '#settlement/chain/rpc/decode-call-answers.ts';
import { independentProviders } from '#settlement/chain/rpc/provider-quorum.ts';
import {
  connectRpc,
  type ProbedAddress,
  type Rpc,
  RpcUnavailable,
} from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { knownContract } from '#settlement/contract/contract-code.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import { contractsOf } from '#settlement/contract-versions.ts';
import type { ContractGas, NetworkConfig, NetworkSettings } from '#settlement/network-config.ts';
import { settlementAbi } from '../../../../contracts/artifacts/Settlement.ts';

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
    contractGas: new Map(),
  };
}

/** Interval at which a chain that was unreachable at startup is tried again. */
const CHECK_MS = 1_000;
/** Different faults that are remembered. A node may put anything into its error messages. */
const MAX_REPORTED = 100;

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
  const { stop, ...startChecks } = createStartChecks(network, log);
  const reads = {
    ...readChain({ config: withToken(config, USUAL_DOMAIN), rpc }, log),
    ...startChecks,
    close: () => {
      stop();
      return rpc.close();
    },
  };
  const chain = { ...reads, refreshToken: createTokenRefresh(reads, config, log) };
  const check = async () => {
    const contractGas = await requireContracts(chain, setting);
    await requireFee(chain);
    const { domain, hasPermit } = await readToken(chain, config, USUAL_DOMAIN);
    for (const { settlement } of config.formerSettlements) {
      await readToken(chain, { ...config, settlement }, USUAL_DOMAIN);
    }
    // Changes these objects in place, because other code holds references to them.
    Object.assign(chain.config.usdcDomain, domain);
    Object.assign(chain.config.token, { hasPermit });
    for (const [address, gas] of contractGas) chain.config.contractGas.set(address, gas);
    if (!hasPermit)
      log.info('the token has no permit: payers approve it with a transaction', { network });
  };
  try {
    const probed = await rpc.probe();
    requireChainId(probed, setting, chainId);
    logUnreachable(probed, setting, log);
    await chain.checkAtStart(check);
  } catch (error) {
    await chain.close();
    throw error;
  }
  return chain;
}

/** Runs the checks of a start, and repeats those for which no node answered. */
function createStartChecks(
  network: string,
  log: Log,
): Pick<Chain, 'isChecked' | 'refuted' | 'checkAtStart'> & { stop(): void } {
  const { promise: refuted, resolve: refute } = Promise.withResolvers<string>();
  const unfinished = new Set<() => Promise<void>>();
  const reported = new RecentMap<true>(MAX_REPORTED);
  let timer: NodeJS.Timeout | undefined;
  const run = async (check: () => Promise<void>) => {
    unfinished.add(check);
    await check();
    unfinished.delete(check);
  };
  /** Reports each fault once, because the checks are repeated every second. */
  const reportOnce = (error: string) => {
    if (reported.get(error) === undefined)
      log.warn('a check of the start is repeated', { network, error });
    reported.set(error, true);
  };
  const repeat = async () => {
    for (const check of unfinished) {
      try {
        await run(check);
      } catch (error) {
        if (error instanceof StartError) return refute(error.message);
        reportOnce(describeError(error));
      }
    }
    repeatLater();
  };
  const repeatLater = () => {
    timer = unfinished.size === 0 ? undefined : setTimeout(repeat, CHECK_MS).unref();
  };
  return {
    isChecked: () => unfinished.size === 0,
    refuted,
    checkAtStart: async (check) => {
      try {
        await run(check);
      } catch (error) {
        if (!(error instanceof RpcUnavailable)) throw error;
        if (timer !== undefined) return;
        log.warn('the chain cannot be reached yet', { network });
        repeatLater();
      }
    },
    stop: () => {
      unfinished.clear();
      clearTimeout(timer);
    },
  };
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
  const [set, current] = [maxFeePerGasCeiling, baseFeePerGas].map((wei) => formatGwei(wei));
  const name = `CHAIN_${network.toUpperCase()}_MAX_FEE_GWEI`;
  throw new StartError(
    `${name}=${set} is below the base fee of the chain, now ${current} gwei: raise it`,
  );
}

function logUnreachable(probed: readonly ProbedAddress[], setting: string, log: Log): void {
  probed.forEach(({ host, chainId, error }, index) => {
    if (chainId !== null) return;
    log.warn(`address ${index + 1} of ${setting} (${host}) cannot be used yet: ${error}`);
  });
}

/** The number of providers that must say that USDC is missing. */
const AGREEING = 2;
/**
 * How far a provider's head may be behind another's. One that is still syncing may not have reached
 * the block of USDC's deployment.
 */
const MOST_BEHIND_SECONDS = 300;

/**
 * True if two providers say that an address has no code, at a block that both have, and no other
 * provider shows code. USDC exists outside of this network, so a single provider may be at fault.
 */
async function isMissing(rpc: Rpc, address: Hex): Promise<boolean> {
  const heads = await Promise.all(
    independentProviders(rpc.inOrder()).map(async (provider) => {
      const call = { method: 'eth_getBlockByNumber', params: ['latest', false] };
      const [reply] = await provider.ask([call], { urgent: false });
      const head = reply?.status === 'answered' ? (reply.result as RawBlock | null) : null;
      return head === null ? [] : [{ provider, ...toBlock(head) }];
    }),
  );
  const newest = Math.max(...heads.flat().map(({ time }) => time.getTime()));
  const current = heads.flat().filter(({ time }) => {
    return newest - time.getTime() <= MOST_BEHIND_SECONDS * SECOND_MS;
  });
  if (current.length < AGREEING) return false;
  const common = current.reduce(
    (least, { number }) => (number < least ? number : least),
    2n ** 64n,
  );
  const params = [address, quantity(common)];
  const replies = await Promise.all(
    current.map(({ provider }) =>
      provider.ask([{ method: 'eth_getCode', params }], { urgent: false }),
    ),
  );
  const codes = replies.flatMap(([reply]) => (reply?.status === 'answered' ? [reply.result] : []));
  return codes.length >= AGREEING && codes.every((code) => code === '0x');
}

/**
 * Checks that each address has the right contract, and reads what the settlement contracts allow
 * their calls.
 * @throws StartError if an address has no contract, or the wrong one.
 * @throws RpcUnavailable also if a single provider says that USDC is missing
 */
async function requireContracts(
  chain: Pick<Chain, 'config' | 'rpc' | 'calls'>,
  setting: string,
): Promise<(readonly [address: string, gas: ContractGas])[]> {
  const { usdc } = chain.config;
  const entries: (readonly [string, ContractGas])[] = [];
  for (const { settlement } of contractsOf(chain.config)) {
    const known = knownContract(await requireCode(chain, settlement, setting));
    if (known === null) {
      throw new StartError(
        `the contract at ${settlement} on the chain of ${setting} is not a settlement contract ` +
          'of this release: deploy one with npm run chain -- deploy',
      );
    }
    for (const part of [lensOf(settlement), timelockOf(settlement)]) {
      await requireCode(chain, part, setting, INCOMPLETE);
    }
    const pull = await readPullGas(chain, settlement);
    entries.push([settlement.toLowerCase(), { pull, signature: known.signatureGas }]);
  }
  await requireCode(chain, usdc, setting);
  return entries;
}

/** Another step of the deployment creates the lens and the timelock. */
const INCOMPLETE =
  ': the deployment is incomplete, so repeat npm run chain -- deploy with the same options';

async function requireCode(
  { config, rpc }: { readonly config: NetworkConfig; readonly rpc: Rpc },
  address: Hex,
  setting: string,
  remedy = '',
): Promise<Hex> {
  const code = await rpc.call('eth_getCode', [address, 'latest']);
  if (code !== '0x') return code as Hex;
  if ((await readCodeSize(rpc, address)) > 0n) {
    throw new RpcUnavailable('a node returned no code for a contract that exists');
  }
  const missing = `there is no contract at ${address} on the chain of ${setting}`;
  if (address === config.usdc && !(await isMissing(rpc, address))) {
    throw new RpcUnavailable(`${missing}, as a single provider says`);
  }
  throw new StartError(`${missing}${remedy}`);
}

const PULL_GAS = { abi: settlementAbi, functionName: 'PULL_GAS' } as const;

async function readPullGas(chain: Pick<Chain, 'calls'>, to: Hex): Promise<bigint> {
  const [answer] = await chain.calls([{ to, data: encodeFunctionData(PULL_GAS), words: 1 }]);
  return decodeView(answer, (data) => decodeFunctionResult({ ...PULL_GAS, data }));
}
