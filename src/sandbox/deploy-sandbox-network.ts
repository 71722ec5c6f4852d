import {
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeDeployData,
  getContractAddress,
  type Hex,
  http,
  numberToHex,
  parseEther,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { isLive, type Network } from '#core/mode.ts';
import { StartError } from '#core/start-error.ts';
import { plainFetch } from '#outgoing/plain-fetch.ts';
import type { ChainNode } from '#sandbox/chain-node.ts';
import { senderKeys, wallet, walletKey } from '#sandbox/derive-wallets.ts';
import { completingSteps, deployInSteps } from '#settlement/chain/fees/deploy-in-steps.ts';
import { isCurrentContract, knownContract } from '#settlement/contract/contract-code.ts';
import { NETWORK_DEFAULTS, type NetworkConfig } from '#settlement/network-config.ts';
import { testUsdcAbi, testUsdcBytecode } from '../../contracts/artifacts/TestUSDC.ts';
import { type DeploymentArguments, settlementCreation } from '../../contracts/deployment.ts';

/** The fees of behavior.md 6.2, in basis points. */
const RATES = { acquirer: 30, protocol: 20, cashback: 5 };
/**
 * Short, so that a developer can watch a change take effect. On a real network, the delay is days.
 */
const SANDBOX_GOVERNANCE_DELAY_SECONDS = 60;
const SANDBOX_WALLET_DELAY_SECONDS = 60;
/** Whole USDC per hour: the contract's maximum, because nothing here has value. */
const SANDBOX_CEILING = 2 ** 24 - 1;
/** Native coin for gas, so much that it never runs out. */
const GAS_BALANCE = parseEther('1000000');
/** Time limit for a transaction's receipt: far more than a local chain needs. */
const RECEIPT_TIMEOUT_MS = 20_000;
const RECEIPT_POLL_MS = 50;

function clientsOf(node: ChainNode, key: Hex) {
  const chain = defineChain({
    id: node.chainId,
    name: `sandbox ${node.chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [node.rpcUrl] } },
  });
  const transport = http(node.rpcUrl, { fetchFn: plainFetch });
  return {
    reader: createPublicClient({ chain, transport, pollingInterval: RECEIPT_POLL_MS }),
    deployer: createWalletClient({ chain, transport, account: privateKeyToAccount(key) }),
  };
}

type Clients = ReturnType<typeof clientsOf>;

async function fund(clients: Clients, addresses: readonly Hex[]): Promise<void> {
  await Promise.all(
    addresses.map((address) =>
      clients.reader.request({
        method: 'anvil_setBalance' as never,
        params: [address, numberToHex(GAS_BALANCE)] as never,
      }),
    ),
  );
}

/** Deploys what is missing of the token and the settlement contract. */
async function deployContracts(
  { reader, deployer }: Clients,
  settlement: Hex,
  args: DeploymentArguments,
): Promise<void> {
  const [usdc] = args;
  const owner = [deployer.account.address] as const;
  const token = encodeDeployData({ abi: testUsdcAbi, bytecode: testUsdcBytecode, args: owner });
  const steps = [
    { name: 'token', address: usdc, to: null, data: token },
    { name: 'settlement contract', address: settlement, to: null, data: settlementCreation(args) },
    ...completingSteps(settlement, args),
  ];
  await deployInSteps({ reader, wallet: deployer, receiptTimeoutMs: RECEIPT_TIMEOUT_MS }, steps);
}

/**
 * The contract's delays in seconds. In production, the service refuses the sandbox's short delays.
 */
export interface ContractDelays {
  readonly walletDelay: number;
  readonly payoutHold: number;
  /** Default: the sandbox's. */
  readonly governanceDelay?: number;
}

/**
 * Prepares an embedded chain: funds the relayer, deploys missing contracts (at the first start, or
 * after a crash before the state was saved), and returns the network in the form of an external
 * chain's settings.
 */
export async function prepareNetwork(
  node: ChainNode,
  network: Network,
  secret: Buffer,
  delays: ContractDelays = { walletDelay: SANDBOX_WALLET_DELAY_SECONDS, payoutHold: 0 },
): Promise<NetworkConfig> {
  const role = (name: string) => wallet(secret, `${network} ${name}`).address;
  const adminKey = walletKey(secret, `${network} admin`);
  const clients = clientsOf(node, adminKey);
  const relayerKeys = senderKeys(secret, network);
  const operators = relayerKeys.map((key) => privateKeyToAccount(key).address);
  const from = role('admin');
  const usdc = getContractAddress({ from, nonce: 0n });
  const settlement = getContractAddress({ from, nonce: 1n });
  await fund(clients, [from, role('registrar'), role('sponsor'), role('watcher'), ...operators]);
  const code = await clients.reader.getCode({ address: settlement });
  if (code === undefined || isCurrentContract(code)) {
    const setup = {
      proposers: [from],
      steward: from,
      operators,
      registrar: role('registrar'),
      guardians: [role('guardian'), role('second guardian')],
      watchers: [role('watcher')],
      treasurer: role('treasurer'),
      governanceDelay: SANDBOX_GOVERNANCE_DELAY_SECONDS,
      ...delays,
      hourlyCeiling: SANDBOX_CEILING,
      rates: RATES,
    };
    await deployContracts(clients, settlement, [usdc, setup]);
    if (code === undefined) await node.saveState();
  } else if (knownContract(code) === null) {
    throw new StartError(
      `The ${network} chain of this data folder has the settlement contract of an earlier ` +
        'release: move the folder away, or set TAPLINE_DATA_DIR to another one, and start again.',
    );
  }
  return {
    ...NETWORK_DEFAULTS,
    network,
    livemode: isLive(network),
    chainId: node.chainId,
    rpcUrls: [node.rpcUrl],
    headsUrl: node.rpcUrl.replace('http', 'ws'),
    // The node is ours, so poll often: a reorganization made by a test is then noticed soon.
    idleHeadMs: 1_000,
    usdc,
    settlement,
    relayerKeys,
    registrarKey: walletKey(secret, `${network} registrar`),
    sponsorKey: walletKey(secret, `${network} sponsor`),
  };
}
