import { randomBytes } from 'node:crypto';
import {
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  numberToHex,
  parseEther,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { only, present } from '#core/assert.ts';
import { silentLog } from '#observability/log.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import { connectRpc, type Rpc } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { registerMerchantCall } from '#settlement/contract/contract-calls.ts';
import {
  executeCall,
  NO_PREDECESSOR,
  scheduleCall,
  timelockOf,
} from '#settlement/contract/timelock-calls.ts';
import { gasOfContract, NETWORK_DEFAULTS, type NetworkConfig } from '#settlement/network-config.ts';
import { signerOf } from '#settlement/remote-signer.ts';
import { signRegistration } from '#testkit/fixtures/payers/wallet-consents.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { startThrowawayChain, type ThrowawayChain } from '#testkit/network/throwaway-chain.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { testUsdcAbi, testUsdcBytecode } from '../../contracts/artifacts/TestUSDC.ts';
import {
  type DeploymentArguments,
  plannedCreations,
  settlementCreation,
} from '../../contracts/deployment.ts';
import version1 from '../../contracts/test/settlement-version-1.json' with { type: 'json' };

export const TEST_CHAIN_ID = 31_400;
const RATES = { acquirer: 30, protocol: 20, cashback: 5 };
/** The highest hourly ceiling that the contract allows, in whole USDC. */
const MAX_CEILING = 2 ** 24 - 1;
const GAS_LIMIT = 16_000_000n;
const GAS_PRICE = 10_000_000_000n;
/** Expiry of policies in Unix seconds, so late that none expires during a test. */
const FAR_FUTURE = 4_000_000_000;

/** A new chain with the contracts on it. It mines only when a test requests it. */
export interface TestNetwork {
  readonly config: NetworkConfig;
  readonly rpc: Rpc;
  readonly chain: Chain;
  readonly node: ThrowawayChain;
  /** The account that is the contract's proposer, steward and treasurer, and owns the token. */
  readonly admin: PrivateKeyAccount;
  readonly guardian: PrivateKeyAccount;
  /** A watchtower's account. */
  readonly watcher: PrivateKeyAccount;
  readonly watchKey: Hex;
  mine(blocks?: number): Promise<void>;
  /** Mines a block every `ms` until the returned function is called, or the network stops. */
  mineEvery(ms: number): () => Promise<void>;
  /**
   * Waits until there is a transaction in the node's pool.
   * @throws after a minute
   */
  pending(): Promise<void>;
  /**
   * Sends a transaction and mines it.
   * @throws if the transaction reverts
   */
  send(account: PrivateKeyAccount, to: Hex | null, data: Hex): Promise<void>;
  /** Calls a function of the settlement contract, in a block of its own. */
  callSettlement(
    account: PrivateKeyAccount,
    functionName: string,
    args?: readonly unknown[],
  ): Promise<void>;
  /** The number of the newest block. */
  head(): Promise<number>;
  /**
   * Replaces the blocks from this one on with as many others. They contain these transactions, each
   * in the block with its index.
   */
  reorganize(
    from: number,
    transactions?: readonly (readonly [raw: string, index: number])[],
  ): Promise<void>;
  /** Makes a call through the contract's timelock, which has no delay in tests. */
  govern(data: Hex, target?: Hex): Promise<void>;
  /**
   * Deploys the contract's next version, with the same keys.
   * @returns network settings that name both contracts
   */
  addContract(): Promise<NetworkConfig>;
  /**
   * Registers a merchant, using the registrar's key. `key` is the private key of the merchant's
   * wallet.
   */
  addMerchant(key?: Hex): Promise<TestMerchant>;
  addPayer(options?: PayerOptions): Promise<PrivateKeyAccount>;
  /**
   * Adds payers with USDC, an allowance and a policy. The options can leave these out, for payers
   * who must be declined.
   */
  addPayers(count: number, options?: PayerOptions): Promise<PrivateKeyAccount[]>;
  usdcOf(address: Hex): Promise<bigint>;
  merchantBalance(merchantNumber: bigint): Promise<bigint>;
  stop(): Promise<void>;
}

export interface TestMerchant {
  readonly merchantNumber: bigint;
  readonly wallet: PrivateKeyAccount;
}

export interface PayerOptions {
  readonly usdc?: bigint;
  readonly allowance?: bigint;
  /** `null` for no policy. */
  readonly perPayment?: bigint | null;
  /** Private keys of the payers' wallets. Default: new ones. */
  readonly keys?: readonly Hex[];
}

/** Parameters of the contract that a test can choose. */
export interface ContractTerms {
  /** Seconds after its registration during which a merchant gets no payouts. */
  readonly payoutHold: number;
  /** Default: the newest. Version 1 creates its lens and timelock itself. */
  readonly version?: 1;
}

export type Overrides = (
  rpcUrl: string,
) => Partial<NetworkConfig> | Promise<Partial<NetworkConfig>>;

/** Starts a node with this chain id, which mines on demand. */
export type StartNode = (chainId: number) => Promise<ThrowawayChain>;

const startManualAnvil: StartNode = (chainId) =>
  startThrowawayChain({ chainId, blockTime: 'manual' });

export function settlementCall(functionName: string, args: readonly unknown[] = []): Hex {
  return encodeFunctionData({ abi: settlementAbi, functionName, args } as never);
}

export async function startTestNetwork(
  overrides: Overrides = () => ({}),
  startNode: StartNode = startManualAnvil,
  terms: ContractTerms = { payoutHold: 0 },
): Promise<TestNetwork> {
  const node = await startNode(TEST_CHAIN_ID);
  const rpc = connectRpc({ urls: [node.rpcUrl], chainId: TEST_CHAIN_ID, log: silentLog });
  const watchKey = generatePrivateKey();
  const roles = {
    watchKey,
    watcher: privateKeyToAccount(watchKey),
    admin: privateKeyToAccount(generatePrivateKey()),
    guardian: privateKeyToAccount(generatePrivateKey()),
    registrarKey: generatePrivateKey(),
    relayerKeys: Array.from({ length: 4 }, generatePrivateKey),
  };
  const settings: NetworkConfig = {
    ...NETWORK_DEFAULTS,
    network: 'testnet',
    livemode: false,
    chainId: TEST_CHAIN_ID,
    rpcUrls: [node.rpcUrl],
    usdc: getContractAddress({ from: roles.admin.address, nonce: 0n }),
    settlement: getContractAddress({ from: roles.admin.address, nonce: 1n }),
    relayerKeys: roles.relayerKeys,
    registrarKey: roles.registrarKey,
    // Accepts any block interval. Tests mine on demand, so only the number of blocks may cause
    // time-outs.
    minBlockMs: 1,
    headPollMs: 10,
    idleHeadMs: 250,
    ...(await overrides(node.rpcUrl)),
  };
  const sender = createSender(rpc);
  await deploy(sender, settings, { ...roles, ...terms });
  const chain = await openChain(settings, silentLog);
  const { config } = chain;
  const network = assemble({ config, rpc, chain, node, sender });
  const addContract = async () => {
    const nonce = await rpc.call('eth_getTransactionCount', [roles.admin.address, 'latest']);
    const { address: from } = roles.admin;
    const settlement = getContractAddress({ from, nonce: BigInt(String(nonce)) });
    const args = argumentsOf(config, { ...roles, ...terms });
    await network.send(roles.admin, null, settlementCreation(args));
    await complete(sender, roles.admin, settlement, args);
    const deployedAtBlock = present(await chain.block('latest'), 'newest block').number;
    const gas = gasOfContract(config, config.settlement);
    const contractGas = new Map([...config.contractGas, [settlement.toLowerCase(), gas]]);
    return { ...config, settlement, deployedAtBlock, contractGas, formerSettlements: [config] };
  };
  const govern = async (data: Hex, target = config.settlement) => {
    const call = { target, data };
    const salt = `0x${randomBytes(32).toString('hex')}` as const;
    const timelock = timelockOf(config.settlement);
    await network.send(roles.admin, timelock, scheduleCall(call, salt, 0n));
    const operation = { predecessor: NO_PREDECESSOR, salt };
    await network.send(roles.admin, timelock, executeCall(call, operation));
  };
  return { ...network, ...roles, addContract, govern };
}

type Sender = ReturnType<typeof createSender>;

/** Returns a function that signs a transaction with the next nonce, sends it, and mines it. */
function createSender(rpc: Rpc) {
  const mine = async (blocks = 1) => {
    for (let i = 0; i < blocks; i++) await rpc.call('evm_mine', []);
  };
  const post = async (
    account: PrivateKeyAccount,
    to: Hex | null,
    data: Hex,
    nonce?: number,
    gas = to === null ? GAS_LIMIT : 1_000_000n,
  ) => {
    const pending = () => rpc.call('eth_getTransactionCount', [account.address, 'pending']);
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId: TEST_CHAIN_ID,
      nonce: nonce ?? Number(await pending()),
      ...(to === null ? {} : { to }),
      data,
      gas,
      maxFeePerGas: GAS_PRICE,
      maxPriorityFeePerGas: 1_000_000n,
    });
    return (await rpc.call('eth_sendRawTransaction', [raw])) as Hex;
  };
  const fund = (addresses: readonly Hex[]) =>
    rpc.batch(
      addresses.map((address) => ({
        method: 'hardhat_setBalance',
        params: [address, numberToHex(parseEther('1000'))],
      })),
    );
  return { mine, post, fund };
}

type Wanted = ContractTerms & Pick<TestNetwork, 'admin' | 'guardian' | 'watcher'>;

async function deploy(
  { mine, post, fund }: Sender,
  config: NetworkConfig,
  terms: Wanted,
): Promise<void> {
  const { admin, guardian, watcher } = terms;
  const { operators, registrar } = keysOf(config);
  const { sponsorKey } = config;
  const sponsors = sponsorKey === null ? [] : [signerOf(sponsorKey).address];
  const ours = [admin.address, guardian.address, watcher.address, registrar];
  await fund([...ours, ...operators, ...sponsors]);
  const token = { abi: testUsdcAbi, bytecode: testUsdcBytecode, args: [admin.address] } as const;
  await post(admin, null, encodeDeployData(token));
  const args = argumentsOf(config, terms);
  if (terms.version === 1) {
    await post(admin, null, settlementCreation(args, version1.bytecode as Hex));
    return mine();
  }
  await post(admin, null, settlementCreation(args));
  await mine();
  await complete({ mine, post }, admin, config.settlement, args);
}

/** Deploys the lens and the timelock of a settlement contract. */
async function complete(
  { mine, post }: Pick<Sender, 'mine' | 'post'>,
  admin: PrivateKeyAccount,
  settlement: Hex,
  args: DeploymentArguments,
): Promise<void> {
  const { lens, timelock } = plannedCreations(args);
  for (const data of [lens, timelock]) await post(admin, settlement, data, undefined, GAS_LIMIT);
  await mine();
}

function keysOf(config: NetworkConfig) {
  return {
    operators: config.relayerKeys.map((key) => signerOf(key).address),
    registrar: signerOf(present(config.registrarKey, 'registrar key')).address,
  };
}

function argumentsOf(config: NetworkConfig, terms: Wanted): DeploymentArguments {
  const { admin, guardian, watcher, payoutHold } = terms;
  const setup = {
    proposers: [admin.address],
    steward: admin.address,
    ...keysOf(config),
    guardians: [guardian.address],
    watchers: [watcher.address],
    treasurer: admin.address,
    governanceDelay: 0,
    walletDelay: 60,
    payoutHold,
    hourlyCeiling: MAX_CEILING,
    rates: RATES,
  };
  return [config.usdc, setup];
}

/**
 * Time limit for waiting, so that a test fails with a reason, long before the test runner ends its
 * file.
 */
const PENDING_WAIT_MS = 60_000;

interface Parts {
  config: NetworkConfig;
  rpc: Rpc;
  chain: Chain;
  node: ThrowawayChain;
  sender: Sender;
}

type Roles = 'admin' | 'guardian' | 'watcher' | 'watchKey' | 'addContract' | 'govern';

function assemble(parts: Parts): Omit<TestNetwork, Roles> {
  const { config, rpc, chain, node, sender } = parts;
  const mining: (() => Promise<void>)[] = [];
  const read = async (to: Hex, data: Hex) => {
    const [answer] = await chain.calls([{ to, data, words: 'any' }]);
    if (answer?.ok !== true) throw new Error('a read reverted');
    return answer.data;
  };
  const head = async () => Number(await rpc.call('eth_blockNumber', []));
  const send = async (account: PrivateKeyAccount, to: Hex | null, data: Hex) => {
    const hash = await sender.post(account, to, data);
    await sender.mine();
    const [receipt] = await chain.receipts([hash]);
    if (receipt?.succeeded !== true) throw new Error('a test transaction reverted');
  };
  return {
    config,
    rpc,
    chain,
    node,
    send,
    callSettlement: (account, functionName, args) =>
      send(account, config.settlement, settlementCall(functionName, args)),
    head,
    reorganize: async (from, transactions = []) => {
      await rpc.call('anvil_reorg', [(await head()) - from + 1, transactions]);
    },
    mine: sender.mine,
    mineEvery: (ms) => {
      const stop = mineEvery(sender, ms);
      mining.push(stop);
      return stop;
    },
    pending: () => pendingTransaction(rpc),
    addMerchant: (key = generatePrivateKey()) => addMerchant(parts, send, key),
    addPayer: async (options = {}) => only(await addPayers(parts, 1, options), 'payer'),
    addPayers: (count, options = {}) => addPayers(parts, count, options),
    usdcOf: async (address) => {
      const args = [address] as const;
      const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'balanceOf', args });
      return BigInt(await read(config.usdc, data));
    },
    merchantBalance: async (merchantNumber) => {
      const data = settlementCall('merchantAccount', [Number(merchantNumber)]);
      return BigInt(`0x${(await read(config.settlement, data)).slice(66, 130)}`);
    },
    stop: async () => {
      await Promise.all(mining.map((stop) => stop()));
      await chain.close();
      await rpc.close();
      await node.stop();
    },
  };
}

/** Waits until there is a transaction in the node's pool. */
async function pendingTransaction(rpc: Rpc): Promise<void> {
  for (const end = performance.now() + PENDING_WAIT_MS; performance.now() < end; ) {
    const status = (await rpc.call('txpool_status', [])) as { pending: Hex };
    if (BigInt(status.pending) > 0n) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('no transaction arrived at the node');
}

function mineEvery(sender: Sender, ms: number): () => Promise<void> {
  let stopped = false;
  const done = (async () => {
    while (!stopped) {
      await sender.mine().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  })();
  return () => {
    stopped = true;
    return done;
  };
}

async function addMerchant({ config, chain }: Parts, send: TestNetwork['send'], key: Hex) {
  const wallet = privateKeyToAccount(key);
  const registration = await signRegistration(config, randomBytes(16).toString('hex'), wallet);
  const registrar = heldAccount(config.registrarKey);
  await send(registrar, config.settlement, registerMerchantCall(registration));
  const count = settlementCall('merchantCount');
  const [answer] = await chain.calls([{ to: config.settlement, data: count, words: 1 }]);
  return { merchantNumber: BigInt(answer?.ok === true ? answer.data : 0), wallet };
}

async function addPayers(
  { config, sender }: Parts,
  count: number,
  options: PayerOptions,
): Promise<PrivateKeyAccount[]> {
  const { usdc = 10n ** 12n, allowance = 10n ** 13n, perPayment = 10n ** 12n } = options;
  const { keys = Array.from({ length: count }, generatePrivateKey) } = options;
  const payers = keys.map((key) => privateKeyToAccount(key));
  await sender.fund(payers.map((payer) => payer.address));
  const token = (functionName: 'mint' | 'approve', to: Hex, amount: bigint) =>
    encodeFunctionData({ abi: testUsdcAbi, functionName, args: [to, amount] });
  for (const [index, payer] of payers.entries()) {
    await sender.post(payer, config.usdc, token('mint', payer.address, usdc), 0);
    await sender.post(payer, config.usdc, token('approve', config.settlement, allowance), 1);
    if (perPayment !== null) {
      await sender.post(payer, config.settlement, setPolicy(perPayment), 2);
    }
    if (index % 50 === 49) await sender.mine();
  }
  await sender.mine();
  return payers;
}

function setPolicy(perPayment: bigint): Hex {
  const policy = {
    perPayment: Number(perPayment),
    perPeriod: Number(10n ** 13n),
    periodSeconds: 86_400,
    expiresAt: FAR_FUTURE,
    maxFeeRate: 100,
  };
  return settlementCall('setPolicy', [policy]);
}
