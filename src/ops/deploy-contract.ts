import {
  concatHex,
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  getCreate2Address,
  http,
  isHex,
  keccak256,
  numberToHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { StartError } from '#core/start-error.ts';
import { plainFetch } from '#outgoing/plain-fetch.ts';
import {
  GOVERNANCE_DELAY_SECONDS,
  MIN_CONTRACT_DELAY_SECONDS,
} from '#settlement/chain/check/check-contract.ts';
import { completingSteps, deployInSteps } from '#settlement/chain/fees/deploy-in-steps.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { isCurrentContract } from '#settlement/contract/contract-code.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import { checksummed } from '#settlement/evm-address.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { settlementCreation } from '../../contracts/deployment.ts';

/** The roles of a new settlement contract, and its fees (contracts/README.md). */
export interface Deployment {
  readonly rpcUrl: string;
  readonly usdc: Hex;
  /** Accounts that may schedule operations in the timelock, which administers the contract. */
  readonly proposers: readonly Hex[];
  /** The account that can unpause, restore the ceiling and revoke roles without delay. */
  readonly steward: Hex;
  readonly operators: readonly Hex[];
  readonly registrar: Hex;
  readonly guardians: readonly Hex[];
  /** Addresses of watchtowers. They can only pause, and drop registrars' proposals. */
  readonly watchers?: readonly Hex[];
  readonly treasurer: Hex;
  /** The delay of timelock operations, in seconds; default: two days. */
  readonly governanceDelay?: number;
  /** The delay of a merchant's new settlement wallet, in seconds. */
  readonly walletDelay: number;
  /** The delay of a new merchant's first withdrawal, in seconds. */
  readonly payoutHold: number;
  /** Whole USDC that may be settled per hour. */
  readonly hourlyCeiling: number;
  /** Basis points. */
  readonly rates: {
    readonly acquirer: number;
    readonly protocol: number;
    readonly cashback: number;
  };
  /**
   * The CREATE2 salt: another salt gives another address for the same code and arguments. Default:
   * zero.
   */
  readonly salt?: Hex | undefined;
}

export interface Deployed {
  readonly chainId: number;
  readonly settlement: Hex;
  /**
   * The block of the deployment; `null` if the contract already existed and the node does not keep
   * old states.
   */
  readonly blockNumber: bigint | null;
}

/**
 * The deterministic deployment proxy, which has the same address on practically every EVM chain.
 * Its input is 32 bytes of salt and the creation code, and the created address depends on nothing
 * else.
 */
export const CREATE2_FACTORY = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
const SALT_BYTES = 32;
const NO_SALT = numberToHex(0, { size: SALT_BYTES });

/** One operator works and two are spare, because granting the role to another takes days. */
const MIN_OPERATORS = 3;
/** At least two, because the contract does not allow revoking the last guardian. */
const MIN_GUARDIANS = 2;
/** Time limit for a receipt: on a busy public chain, a transaction may take this long. */
const RECEIPT_TIMEOUT_MS = 180_000;
const POLL_MS = 500;

type Reader = ReturnType<typeof createPublicClient>;

export function readAddress(text: string | undefined, name: string): Hex {
  const address = checksummed(text ?? '');
  if (address !== null) return address;
  throw new StartError(`--${name} must be a (correctly checksummed) EVM address`);
}

export function newKey(): { readonly key: Hex; readonly address: Hex } {
  const key = generatePrivateKey();
  return { key, address: privateKeyToAccount(key).address };
}

function setupOf(deployment: Omit<Deployment, 'rpcUrl'>) {
  const { usdc, proposers, operators, guardians, watchers = [], ...setup } = deployment;
  const delays = { governanceDelay: GOVERNANCE_DELAY_SECONDS };
  const lists = {
    proposers: [...proposers],
    operators: [...operators],
    guardians: [...guardians],
    watchers: [...watchers],
  };
  return { ...delays, ...setup, ...lists };
}

/** Checks the minimum values for a contract that holds real money. @throws StartError */
export function requireFloors(deployment: Omit<Deployment, 'rpcUrl'>): void {
  const { walletDelay, payoutHold, operators, guardians, watchers = [], ...holders } = deployment;
  const { governanceDelay = GOVERNANCE_DELAY_SECONDS, proposers } = holders;
  if (governanceDelay < GOVERNANCE_DELAY_SECONDS) {
    throw new StartError(
      '--governance-delay-hours must be at least 48 (--test-network lifts this)',
    );
  }
  if (walletDelay < MIN_CONTRACT_DELAY_SECONDS) {
    throw new StartError('--wallet-delay-hours must be at least 24 (--test-network lifts this)');
  }
  if (payoutHold < MIN_CONTRACT_DELAY_SECONDS) {
    throw new StartError('--payout-hold-hours must be at least 24 (--test-network lifts this)');
  }
  if (operators.length < MIN_OPERATORS) {
    throw new StartError(
      `--operators needs ${MIN_OPERATORS} addresses or more: the relayers', and two ` +
        'spare ones whose keys stay offline (--test-network lifts this)',
    );
  }
  if (guardians.length < MIN_GUARDIANS) {
    throw new StartError(
      `--guardians needs ${MIN_GUARDIANS} addresses or more: with one, a lost phone leaves ` +
        'no guardian to stop a stolen key (--test-network lifts this)',
    );
  }
  const { steward, registrar, treasurer } = holders;
  const lists = [...proposers, ...operators, ...guardians, ...watchers];
  const all = [...lists, steward, registrar, treasurer].map((one) => one.toLowerCase());
  if (new Set(all).size < all.length) {
    throw new StartError('each role and each operator needs its own address');
  }
}

/** Parses 32 bytes in hex, or a whole number. @throws StartError */
export function readSalt(text: string | undefined): Hex {
  if (text === undefined) return NO_SALT;
  if (/^\d{1,9}$/.test(text)) return numberToHex(Number(text), { size: SALT_BYTES });
  if (isHex(text) && text.length === 2 + SALT_BYTES * 2) return text;
  throw new StartError(`--salt=${text} must be a whole number, or 0x followed by 64 hex digits`);
}

function argumentsOf(deployment: Omit<Deployment, 'rpcUrl'>) {
  return [deployment.usdc, setupOf(deployment)] as const;
}

/** Computes the address without a node, before or after the deployment. */
export function addressOf(deployment: Omit<Deployment, 'rpcUrl'>) {
  const { salt = NO_SALT } = deployment;
  const code = settlementCreation(argumentsOf(deployment));
  const settlement = getCreate2Address({ from: CREATE2_FACTORY, salt, bytecode: code });
  const [inputs] = settlementAbi.flatMap((one) => (one.type === 'constructor' ? [one.inputs] : []));
  if (inputs === undefined) throw new Error('the artifact has no constructor');
  return {
    ...{ settlement, lens: lensOf(settlement), timelock: timelockOf(settlement), salt },
    codeHash: keccak256(code),
    constructorArguments: encodeAbiParameters(inputs, argumentsOf(deployment)),
  };
}

/**
 * Deploys the settlement contract, its lens and its timelock, each in a transaction; `key` pays for
 * gas and gets no role. Sends only what is missing, so that an interrupted deployment continues.
 * The addresses depend on the code and the arguments, so the deployed contracts are the same,
 * whoever deployed them.
 */
export async function deployContract(deployment: Deployment, key: Hex): Promise<Deployed> {
  const transport = http(deployment.rpcUrl, { fetchFn: plainFetch });
  const reader = createPublicClient({ transport, pollingInterval: POLL_MS });
  const { settlement, salt } = addressOf(deployment);
  const args = argumentsOf(deployment);
  const chainId = await reader.getChainId();
  const code = await reader.getCode({ address: settlement });
  if (code !== undefined && !isCurrentContract(code)) {
    throw new StartError(`the code at ${settlement} is not this release's contract`);
  }
  if ((await reader.getCode({ address: CREATE2_FACTORY })) === undefined) {
    throw new StartError(
      `chain ${chainId} has no factory at ${CREATE2_FACTORY}: send its presigned deployment ` +
        'transaction first (github.com/Arachnid/deterministic-deployment-proxy)',
    );
  }
  const wallet = createWalletClient({ account: privateKeyToAccount(key), transport });
  const data = concatHex([salt, settlementCreation(args)]);
  const steps = [
    { name: 'settlement contract', address: settlement, to: CREATE2_FACTORY, data } as const,
    ...completingSteps(settlement, args),
  ];
  const deployer = { reader, wallet, receiptTimeoutMs: RECEIPT_TIMEOUT_MS };
  const [block = null] = await deployInSteps(deployer, steps);
  return { chainId, settlement, blockNumber: block ?? (await firstBlockWith(reader, settlement)) };
}

/** Finds the contract's first block by bisection; `null` if the node does not keep old states. */
async function firstBlockWith(reader: Reader, address: Hex): Promise<bigint | null> {
  let [without, there] = [-1n, await reader.getBlockNumber()];
  while (there - without > 1n) {
    const blockNumber = (without + there) / 2n;
    const code = await reader.getCode({ address, blockNumber }).catch(() => null);
    if (code === null) return null;
    if (code === undefined) without = blockNumber;
    else there = blockNumber;
  }
  return there;
}
