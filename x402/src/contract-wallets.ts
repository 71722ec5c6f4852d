import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Address,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  isAddressEqual,
  type PublicClient,
  pad,
  parseAbi,
  size,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from 'viem';
import {
  type Authorization,
  type Deployment,
  digestOf,
  isSignedByKey,
  KEY_SIGNATURE_BYTES,
  type TokenFacts,
  transferCall,
} from './authorization.ts';
import { type ProgramCall, simulate } from './call-program.ts';

/**
 * The result of a signature check, decided by the account's current code: without code, the
 * account's key must have signed; with code, including a delegation (EIP-7702), the contract is
 * called (ERC-1271).
 */
export type Verdict = 'valid' | 'invalid' | 'delegate_refuses' | 'not_deployed';

/** The result of a deployment. `sent`: not in a block yet; another process knows its hash. */
export type Deployed =
  | { readonly status: 'done' }
  | { readonly status: 'sent'; readonly hash: Hex | null }
  | { readonly status: 'refused'; readonly reason: string };

export interface Wallets {
  /** An undeployed wallet of a listed factory is simulated. */
  checkSignature(authorization: Authorization): Promise<Verdict>;
  /** True if the payer's wallet must be deployed before it can pay. */
  isToDeploy(authorization: Authorization): Promise<boolean>;
  /** Deploys the payer's wallet if it has no code yet, or waits for it up to `waitMs`. */
  deploy(authorization: Authorization, waitMs: number): Promise<Deployed>;
}

export interface WalletsOptions {
  readonly client: PublicClient;
  readonly facts: TokenFacts;
  /** Contracts that may be called to deploy wallets. */
  readonly factories: readonly Address[];
  readonly send: (call: { to: Address; data: Hex; gas: bigint }) => Promise<Hex>;
  readonly onError: (error: unknown) => void;
}

/**
 * Coinbase Smart Wallet (Base Account) 1.1 and 1, and Safe 1.4.1: the default on Base and Base
 * Sepolia. A test keeps them equal to the network's own list, which names sources and dates.
 */
const KNOWN_FACTORIES: readonly Address[] = [
  '0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842',
  '0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a',
  '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
];
const KNOWN_ON: readonly number[] = [8453, 84532];

/** The factories of a chain that are listed by default; none where gas is expensive or unknown. */
export function knownFactories(chainId: number): readonly Address[] {
  return KNOWN_ON.includes(chainId) ? KNOWN_FACTORIES : [];
}

/** Enough for a customer's retries. */
const MOST_PER_WALLET_AND_HOUR = 3;
/**
 * Deployments of all wallets. They cost 100 million gas, about as much as the network spends by
 * default.
 */
const MOST_PER_DAY = 62;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const ERC1271 = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
]);
const ERC1271_YES = pad('0x1626ba7e', { dir: 'right' });
/** The network's own limit; known wallets need a fraction of it. */
const DEPLOYMENT_GAS = 1_600_000n;
const SIGNATURE_GAS = 500_000n;
/** For a transfer, including a contract wallet's check of its signature, as in the network. */
export const TRANSFER_GAS = 860_000n;
/** The last precompile of the EVM: BLS12_MAP_FP2_TO_G2 (EIP-2537). */
const LAST_PRECOMPILE = 0x11n;
/** P256VERIFY (EIP-7951). */
const P256_PRECOMPILE = 0x100n;
const POLL_MS = 500;
/** Time for which a lagging node may not yet show the code of a mined deployment. */
const LAG_MS = 2_000;

const NO_MORE =
  'This seller deploys no more wallets for now. Send any transaction from the wallet to ' +
  'deploy it, or pay with another wallet.';
const WOULD_FAIL = 'the transfer would fail once the wallet is deployed';
const NOT_DEPLOYED =
  'The wallet could not be deployed. Send any transaction from it to deploy it, or pay ' +
  'with another wallet.';

export function openWallets(deps: WalletsOptions): Wallets {
  const { client, facts } = deps;
  const hasCode = async (address: Address, blockTag: 'latest' | 'pending' = 'latest') =>
    (await client.getCode({ address, blockTag })) !== undefined;
  const isListed = ({ factory }: Deployment) =>
    !isAddressEqual(factory, facts.usdc) &&
    deps.factories.some((one) => isAddressEqual(one, factory));
  const checkSignature: Wallets['checkSignature'] = async (authorization) => {
    const { from, signature, deployment } = authorization;
    const digest = digestOf(facts, authorization);
    const isOfKey = await isSignedByKey(facts, authorization);
    if (isPrecompile(from)) return 'invalid';
    const question = { to: from, data: confirmation(digest, signature), gas: SIGNATURE_GAS };
    if (await hasCode(from)) {
      if (await simulate(client, [question], ERC1271_YES)) return 'valid';
      return isOfKey ? 'delegate_refuses' : 'invalid';
    }
    if (deployment === undefined) {
      if (isOfKey) return 'valid';
      return size(signature) > KEY_SIGNATURE_BYTES ? 'not_deployed' : 'invalid';
    }
    if (!isListed(deployment)) return 'not_deployed';
    const calls = [deploymentCall(deployment), question];
    return (await simulate(client, calls, ERC1271_YES)) ? 'valid' : 'invalid';
  };
  const isToDeploy: Wallets['isToDeploy'] = async ({ from, deployment }) =>
    deployment !== undefined && !(await hasCode(from));
  return { checkSignature, isToDeploy, deploy: openDeployer(deps, hasCode) };
}

type HasCode = (address: Address, blockTag?: 'latest' | 'pending') => Promise<boolean>;

function openDeployer(deps: WalletsOptions, hasCode: HasCode): Wallets['deploy'] {
  const begin = openBeginning(deps, hasCode);
  /** Deployments sent by this process, whose results it has not seen. */
  const underWay = new Map<Address, Promise<Hex | Deployed>>();
  return async (authorization, waitMs) => {
    const { from, deployment } = authorization;
    if (deployment === undefined || (await hasCode(from))) return { status: 'done' };
    const until = performance.now() + waitMs;
    const beginning = underWay.get(from) ?? begin(authorization, deployment);
    underWay.set(from, beginning);
    const forget = () => {
      // Another call may have started a new deployment in between.
      if (underWay.get(from) === beginning) underWay.delete(from);
    };
    const begun = await beginning.catch((error: unknown) => {
      forget();
      throw error;
    });
    const hash = typeof begun === 'string' ? begun : null;
    if (hash === null) forget();
    if (typeof begun !== 'string' && begun.status !== 'sent') return begun;
    for (;;) {
      // Reads the status before the code: a mined deployment that left no code has failed.
      const mined = hash === null ? null : await statusOf(deps.client, hash);
      if (mined !== null || (await hasCode(from))) {
        const isDone = await hasCodeSoon(hasCode, from, mined === 'reverted' ? 0 : LAG_MS);
        forget();
        return isDone ? { status: 'done' } : refused(NOT_DEPLOYED);
      }
      if (performance.now() >= until) {
        // The node dropped the transaction, so the next call sends a new one.
        if (hash !== null && !(await isKnown(deps.client, hash))) forget();
        return { status: 'sent', hash };
      }
      await sleep(POLL_MS);
    }
  };
}

/** Waits briefly for the code, because a lagging node shows a mined deployment before its code. */
async function hasCodeSoon(hasCode: HasCode, account: Address, waitMs: number): Promise<boolean> {
  const until = performance.now() + waitMs;
  for (;;) {
    if (await hasCode(account)) return true;
    if (performance.now() >= until) return false;
    await sleep(POLL_MS);
  }
}

/** Sends a deployment if it and the transfer after it would succeed. */
function openBeginning(deps: WalletsOptions, hasCode: HasCode) {
  const { client, facts } = deps;
  const allowance = openAllowance(deps.onError);
  return async (authorization: Authorization, deployment: Deployment): Promise<Hex | Deployed> => {
    const { from: account } = authorization;
    // Another process with this wallet has sent the deployment.
    if (await hasCode(account, 'pending')) return { status: 'sent', hash: null } as const;
    const first = deploymentCall(deployment);
    const data = await transferCall(facts, authorization);
    const calls = [first, { to: facts.usdc, data, gas: TRANSFER_GAS }];
    if (!(await simulate(client, calls))) return refused(WOULD_FAIL);
    if (!allowance.take(account)) return refused(NO_MORE);
    return deps.send(first);
  };
}

function refused(reason: string): Deployed {
  return { status: 'refused', reason };
}

export interface Allowance {
  /** Returns false if it would exceed a limit. */
  take(wallet: Address): boolean;
}

/**
 * Limits what deployments can cost: three an hour for a wallet, a hundred a day for all. The counts
 * are kept in memory, and a restart resets them.
 */
export function openAllowance(onError: (error: unknown) => void): Allowance {
  const taken: { readonly wallet: Address; readonly at: number }[] = [];
  let reportedAt = Number.NEGATIVE_INFINITY;
  const take = (wallet: Address): boolean => {
    const now = performance.now();
    while (taken[0] !== undefined && now - taken[0].at > DAY_MS) taken.shift();
    const recent = taken.filter((one) => one.wallet === wallet && now - one.at < HOUR_MS);
    if (recent.length >= MOST_PER_WALLET_AND_HOUR) return false;
    if (taken.length >= MOST_PER_DAY) {
      if (now - reportedAt < DAY_MS) return false;
      reportedAt = now;
      onError(new Error(`the limit of ${MOST_PER_DAY} wallet deployments a day is reached`));
      return false;
    }
    taken.push({ wallet, at: now });
    return true;
  };
  return { take };
}

function confirmation(digest: Hex, signature: Hex): Hex {
  const args = [digest, signature] as const;
  return encodeFunctionData({ abi: ERC1271, functionName: 'isValidSignature', args });
}

/**
 * True for the addresses of precompiled contracts: 0x01 to 0x11, and 0x100. They have no key and
 * confirm no signature, whatever a node returns for them.
 */
function isPrecompile(address: Address): boolean {
  const number = hexToBigInt(address);
  return number <= LAST_PRECOMPILE || number === P256_PRECOMPILE;
}

function deploymentCall({ factory: to, data }: Deployment): ProgramCall {
  return { to, data, gas: DEPLOYMENT_GAS };
}

/** Returns the status of a transaction in a block, otherwise `null`. */
async function statusOf(client: PublicClient, hash: Hex) {
  try {
    return (await client.getTransactionReceipt({ hash })).status;
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return null;
    throw error;
  }
}

/** True if the transaction is in a block or in the node's pool. */
async function isKnown(client: PublicClient, hash: Hex): Promise<boolean> {
  try {
    await client.getTransaction({ hash });
    return true;
  } catch (error) {
    if (error instanceof TransactionNotFoundError) return false;
    throw error;
  }
}
