import { createPublicClient, createWalletClient, encodeDeployData, http, isAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { StartError } from '#core/start-error.ts';
import { MIN_CONTRACT_DELAY_SECONDS } from '#settlement/chain/check-contract.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi, settlementBytecode } from '../../contracts/artifacts/Settlement.ts';

/** Who may do what on a new settlement contract, and what it costs (contracts/README.md). */
export interface Deployment {
  readonly rpcUrl: string;
  readonly usdc: Hex;
  readonly admin: Hex;
  readonly operators: readonly Hex[];
  readonly registrar: Hex;
  readonly guardians: readonly Hex[];
  /** Of watchtowers: they pause, and cancel single proposals of the registrar. */
  readonly watchers?: readonly Hex[];
  readonly treasurer: Hex;
  /** Seconds that a new settlement wallet of a merchant waits. */
  readonly walletDelay: number;
  /** Seconds that a new merchant waits for its first withdrawal. */
  readonly payoutHold: number;
  /** Whole USDC that may settle per hour. */
  readonly hourlyCeiling: number;
  /** Basis points. */
  readonly rates: {
    readonly acquirer: number;
    readonly protocol: number;
    readonly cashback: number;
  };
}

export interface Deployed {
  readonly chainId: number;
  readonly settlement: Hex;
  readonly blockNumber: bigint;
}

/** The admin and the fee rates can be changed no faster than this. */
const GOVERNANCE_DELAY_SECONDS = 2 * 86_400;
/** One that works, and two that wait offline: granting another one takes days. */
const MIN_OPERATORS = 3;
/** Two people: the contract lets the last one go only after a delay. */
const MIN_GUARDIANS = 2;
/** A busy public chain takes its time. */
const RECEIPT_TIMEOUT_MS = 180_000;
const POLL_MS = 500;

export function readAddress(text: string | undefined, name: string): Hex {
  if (text !== undefined && isAddress(text)) return text;
  throw new StartError(`--${name} must be a (correctly checksummed) EVM address`);
}

/** A fresh private key and the address that it signs for. */
export function newKey(): { readonly key: Hex; readonly address: Hex } {
  const key = generatePrivateKey();
  return { key, address: privateKeyToAccount(key).address };
}

function setupOf(deployment: Deployment) {
  const { rpcUrl, usdc, operators, guardians, watchers = [], ...setup } = deployment;
  const delays = { adminDelay: GOVERNANCE_DELAY_SECONDS, ratesDelay: GOVERNANCE_DELAY_SECONDS };
  const lists = {
    operators: [...operators],
    guardians: [...guardians],
    watchers: [...watchers],
  };
  return { ...setup, ...delays, ...lists };
}

/**
 * What a contract with real money is not deployed without.
 * @throws StartError
 */
export function requireFloors(deployment: Deployment): void {
  const { walletDelay, payoutHold, operators, guardians, watchers = [], ...holders } = deployment;
  if (walletDelay < MIN_CONTRACT_DELAY_SECONDS) {
    throw new StartError('--wallet-delay-hours must be at least 24 (--test-network lifts this)');
  }
  if (payoutHold < MIN_CONTRACT_DELAY_SECONDS) {
    throw new StartError('--payout-hold-hours must be at least 24 (--test-network lifts this)');
  }
  if (operators.length < MIN_OPERATORS) {
    throw new StartError(
      `--operators needs ${MIN_OPERATORS} addresses or more: those of the relayer keys, and two ` +
        'spare ones whose keys stay offline (--test-network lifts this)',
    );
  }
  if (guardians.length < MIN_GUARDIANS) {
    throw new StartError(
      `--guardians needs ${MIN_GUARDIANS} addresses or more: with one, a lost phone leaves ` +
        'nobody to stop what a stolen key does (--test-network lifts this)',
    );
  }
  const { admin, registrar, treasurer } = holders;
  const lists = [...operators, ...guardians, ...watchers];
  const all = [...lists, admin, registrar, treasurer].map((one) => one.toLowerCase());
  if (new Set(all).size < all.length) {
    throw new StartError('each role and each operator needs an address of its own');
  }
}

/** Deploys the settlement contract; `key` pays the gas and gets no role by it. */
export async function deployContract(deployment: Deployment, key: Hex): Promise<Deployed> {
  const transport = http(deployment.rpcUrl);
  const reader = createPublicClient({ transport, pollingInterval: POLL_MS });
  const account = privateKeyToAccount(key);
  const args = [deployment.usdc, setupOf(deployment)] as const;
  const data = encodeDeployData({ abi: settlementAbi, bytecode: settlementBytecode, args });
  const hash = await createWalletClient({ account, transport }).sendTransaction({
    chain: null,
    data,
  });
  const receipt = await reader.waitForTransactionReceipt({ hash, timeout: RECEIPT_TIMEOUT_MS });
  const settlement = receipt.contractAddress;
  if (receipt.status !== 'success' || !settlement) {
    throw new StartError(`the deployment ${hash} was reverted`);
  }
  return { chainId: await reader.getChainId(), settlement, blockNumber: receipt.blockNumber };
}
