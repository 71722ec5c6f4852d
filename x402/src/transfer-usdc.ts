import { setTimeout as sleep } from 'node:timers/promises';
import { nodeFetch } from 'tapline/node-fetch';
import {
  type Address,
  BaseError,
  type Chain,
  concat,
  createPublicClient,
  createWalletClient,
  defineChain,
  ExecutionRevertedError,
  type Hex,
  http,
  InsufficientFundsError,
  keccak256,
  NonceTooLowError,
  type PublicClient,
  parseAbi,
  TransactionReceiptNotFoundError,
  type Transport,
  toHex,
  WaitForTransactionReceiptTimeoutError,
} from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type Authorization, digestOf, type TokenFacts, transferCall } from './authorization.ts';
import { simulate } from './call-program.ts';
import {
  openWallets,
  TRANSFER_GAS,
  type Wallets,
  type WalletsOptions,
} from './contract-wallets.ts';
import { type Arrival, type Expected, findArrival, hasMoved, type Named } from './find-arrival.ts';

const ABI = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
]);

/** When a reversal expires: in nine million years, because it must always be possible. */
const NEVER = 2n ** 48n - 1n;
const POLL_MS = 500;
/**
 * Attempts to send. Two processes with one wallet collide occasionally; more collisions mean
 * another problem.
 */
const TRIES = 4;

/** A transfer's result on the chain. `sent`: not in a block yet. */
export type Transfer =
  | { readonly status: 'done'; readonly hash: Hex }
  | { readonly status: 'sent'; readonly hash: Hex | null }
  | { readonly status: 'refused'; readonly reason: string };

/** USDC as the bridge wallet uses it. The token's nonces ensure that no transfer happens twice. */
export interface Token extends Wallets {
  readonly facts: TokenFacts;
  balanceOf(account: Address): Promise<bigint>;
  /** True if the nonce was used or canceled, which alone proves no payment. */
  isUsed(authorization: Named): Promise<boolean>;
  /** Finds the transfer that a used nonce authorized, if there was one. */
  findArrival(expected: Expected): Promise<Arrival>;
  /** True if this process has sent the transfer and no block contains it yet. */
  isUnderWay(authorization: Named): boolean;
  /** Sends the transfer, or waits up to `waitMs` for the one in progress. */
  transfer(authorization: Authorization, waitMs: number): Promise<Transfer>;
  /** True if the authorization expired unused, so that it can never be used. */
  isLost(authorization: Authorization): Promise<boolean>;
  /**
   * Returns the transaction of the transfer, in a block or sent by this process; `null` if there is
   * none, or if it is too old to be found.
   */
  findTransfer(expected: Expected): Promise<Hex | null>;
  /**
   * Returns the bridge's authorization that returns the money of another authorization. Calling it
   * again yields the same one.
   */
  giveBack(authorization: Authorization): Promise<Authorization>;
}

export function openToken(
  facts: TokenFacts,
  account: PrivateKeyAccount,
  options: Pick<WalletsOptions, 'factories' | 'onError'>,
): Token {
  const chain = defineChain({
    id: facts.chainId,
    name: `eip155:${facts.chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [facts.rpcUrl] } },
  });
  const transport = http(facts.rpcUrl, { retryCount: 2, fetchFn: nodeFetch });
  const client = createPublicClient({ chain, transport, pollingInterval: POLL_MS });
  const { usdc } = facts;
  const read = { address: usdc, abi: ABI } as const;
  const isUsedAt = ({ from, nonce }: Named, blockTag: 'latest' | 'pending') => {
    const call = { ...read, functionName: 'authorizationState', blockTag } as const;
    return client.readContract({ ...call, args: [from, nonce] });
  };
  const isUsed: Token['isUsed'] = (authorization) => isUsedAt(authorization, 'latest');
  const isWaiting = (authorization: Named) => isUsedAt(authorization, 'pending');
  const isLost = async ({ from, nonce, validBefore }: Authorization) => {
    const { number: blockNumber, timestamp } = await client.getBlock();
    if (timestamp < validBefore) return false;
    // Reads at that same block, because another node behind the same address may lag.
    const call = { ...read, functionName: 'authorizationState', blockNumber } as const;
    return !(await client.readContract({ ...call, args: [from, nonce] }));
  };
  /** Transactions sent and not yet seen in a block. */
  const underWay = new Map<string, Promise<Hex>>();
  const findTransfer: Token['findTransfer'] = async (expected) => {
    if (!(await isUsed(expected))) {
      const sent = underWay.get(keyOf(expected));
      return sent?.catch(() => null) ?? null;
    }
    const arrival = await findArrival({ client, usdc }, expected);
    return arrival.status === 'arrived' ? arrival.hash : null;
  };
  const submit = sender({ chain, transport, client, account });
  const send = async (authorization: Authorization) =>
    submit({ to: usdc, data: await transferCall(facts, authorization) });
  return {
    facts,
    ...openWallets({ client, facts, send: submit, ...options }),
    isUsed,
    isLost,
    findTransfer,
    findArrival: (expected) => findArrival({ client, usdc }, expected),
    balanceOf: (holder) =>
      client.readContract({ ...read, functionName: 'balanceOf', args: [holder] }),
    isUnderWay: (authorization) => underWay.has(keyOf(authorization)),
    transfer: createTransfer({ client, usdc, send, isUsed, isWaiting, isLost, underWay }),
    giveBack: (authorization) => signGiveBack(account, facts, authorization),
  };
}

async function signGiveBack(
  account: PrivateKeyAccount,
  facts: TokenFacts,
  authorization: Authorization,
) {
  // Derives the nonce from the authorization that is reversed, so that the token executes the
  // reversal only once.
  const nonce = keccak256(
    concat([toHex('tapline x402 give back'), authorization.from, authorization.nonce]),
  );
  const { from: to, value } = authorization;
  const back = { from: account.address, to, value, validAfter: 0n, validBefore: NEVER, nonce };
  return { ...back, signature: await account.sign({ hash: digestOf(facts, back) }) };
}

/**
 * True if another process with this wallet used the account nonce first, so that ours was not sent.
 */
function isNonceTaken(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  if (error.walk((cause) => cause instanceof NonceTooLowError) !== null) return true;
  return /replacement transaction underpriced/i.test(error.message);
}

type Submit = (call: { to: Address; data: Hex; gas?: bigint }) => Promise<Hex>;

/** A simulated call was refused, so nothing was sent. */
class CallRefused extends Error {
  override readonly name = 'CallRefused';
}

interface Sending {
  readonly chain: Chain;
  readonly transport: Transport;
  readonly client: PublicClient;
  readonly account: PrivateKeyAccount;
}

/**
 * Returns the gas limit of a transfer: the estimate and a reserve, at most the ceiling. The token
 * gives a contract wallet all gas, so without the ceiling the wallet could use up a whole block's.
 */
async function transferGas(
  client: PublicClient,
  call: { readonly account: PrivateKeyAccount; readonly to: Address; readonly data: Hex },
): Promise<bigint> {
  const gas = await client.estimateGas(call);
  if (gas > TRANSFER_GAS) {
    throw new CallRefused(`the wallet needs more than ${TRANSFER_GAS} gas for the transfer`);
  }
  const withReserve = (gas * 3n) / 2n;
  return withReserve < TRANSFER_GAS ? withReserve : TRANSFER_GAS;
}

/** Sends one transaction at a time, so that two never use the same account nonce. */
function sender({ chain, transport, client, account }: Sending): Submit {
  const wallet = createWalletClient({ account, chain, transport });
  let before: Promise<unknown> = Promise.resolve();
  const sendOnce = async (transfer: Parameters<Submit>[0]) => {
    const call = { account, ...transfer };
    // A simulated revert costs no gas.
    if (!(await simulate(client, [{ ...transfer, gas: transfer.gas ?? TRANSFER_GAS }]))) {
      throw new CallRefused('the token refuses the transfer');
    }
    const blockTag = 'pending';
    const nonce = await client.getTransactionCount({ address: account.address, blockTag });
    const gas = transfer.gas ?? (await transferGas(client, call));
    return wallet.sendTransaction({ ...call, gas, nonce });
  };
  const sendNow = async (call: Parameters<Submit>[0], tries = TRIES): Promise<Hex> => {
    try {
      return await sendOnce(call);
    } catch (error) {
      if (tries <= 1 || !isNonceTaken(error)) throw error;
      return sendNow(call, tries - 1);
    }
  };
  return (call) => {
    const sent = before.then(() => sendNow(call));
    before = sent.catch(() => {});
    return sent;
  };
}

function keyOf({ from, nonce }: Named): string {
  return `${from} ${nonce}`;
}

interface Transferring {
  readonly client: PublicClient;
  readonly usdc: Address;
  readonly send: (authorization: Authorization) => Promise<Hex>;
  readonly isUsed: Token['isUsed'];
  /** True if the node has a pending transaction that uses the authorization. */
  readonly isWaiting: Token['isUsed'];
  readonly isLost: Token['isLost'];
  readonly underWay: Map<string, Promise<Hex>>;
}

function createTransfer(deps: Transferring): Token['transfer'] {
  const { client, usdc, send, isUsed, isWaiting, isLost, underWay } = deps;
  const arrived = (authorization: Authorization) => transferOf(deps, authorization);
  /**
   * Any holder of an authorization may submit it first. The token then rejects our transaction, but
   * the money has arrived.
   */
  const unlessUsed = async (
    authorization: Authorization,
    { reason, waitMs }: { readonly reason: string; readonly waitMs: number },
  ): Promise<Transfer> => {
    const until = performance.now() + waitMs;
    for (;;) {
      if (await isUsed(authorization)) return arrived(authorization);
      if (!(await isWaiting(authorization))) return { status: 'refused', reason };
      if (performance.now() >= until) return { status: 'sent', hash: null };
      await sleep(POLL_MS);
    }
  };
  return async (authorization, waitMs) => {
    const key = keyOf(authorization);
    if (!underWay.has(key) && (await isUsed(authorization))) return arrived(authorization);
    // Another call may have started to send in between.
    const sending = underWay.get(key) ?? send(authorization);
    underWay.set(key, sending);
    try {
      const hash = await sending;
      const receipt = await waitFor(client, hash, waitMs);
      if (receipt === null && !(await isUsed(authorization))) {
        if (!(await isLost(authorization))) return { status: 'sent', hash };
        underWay.delete(key);
        return { status: 'refused', reason: `transaction ${hash} was not mined in time` };
      }
      underWay.delete(key);
      if (receipt === null) return arrived(authorization);
      // Another transaction may have replaced ours, so the receipt must show the transfer.
      if (hasMoved(usdc, receipt.logs, authorization)) {
        return { status: 'done', hash: receipt.transactionHash };
      }
      return unlessUsed(authorization, { reason: `transaction ${hash} reverted`, waitMs });
    } catch (error) {
      underWay.delete(key);
      const reason = refusalOf(error);
      if (reason === null) throw error;
      return unlessUsed(authorization, { reason, waitMs });
    }
  };
}

const USED_ELSEWHERE = 'the nonce of this signature was used for something else';

/**
 * Returns the result of a transfer whose nonce is used.
 * @throws Error if the node does not show the use, so that the result stays unknown.
 */
async function transferOf(
  { client, usdc }: Transferring,
  authorization: Authorization,
): Promise<Transfer> {
  const arrival = await findArrival({ client, usdc }, authorization);
  switch (arrival.status) {
    case 'arrived':
      return { status: 'done', hash: arrival.hash };
    case 'elsewhere':
      return { status: 'refused', reason: USED_ELSEWHERE };
    case 'unknown':
      throw new Error(`the node does not show how ${keyOf(authorization)} was used`);
  }
}

async function waitFor(client: PublicClient, hash: Hex, waitMs: number) {
  // A wait with a time-out shorter than one polling interval would poll forever.
  if (waitMs < POLL_MS) return receiptNow(client, hash);
  try {
    return await client.waitForTransactionReceipt({ hash, timeout: waitMs });
  } catch (error) {
    if (!(error instanceof WaitForTransactionReceiptTimeoutError)) throw error;
    return receiptNow(client, hash);
  }
}

/** The wait may end before the node's first response, so await that one in any case. */
async function receiptNow(client: PublicClient, hash: Hex) {
  try {
    return await client.getTransactionReceipt({ hash });
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return null;
    throw error;
  }
}

/** Returns the message of an error that proves that nothing was sent, otherwise `null`. */
function refusalOf(error: unknown): string | null {
  if (error instanceof CallRefused) return error.message;
  if (!(error instanceof BaseError)) return null;
  const refused = error.walk(
    (cause) => cause instanceof ExecutionRevertedError || cause instanceof InsufficientFundsError,
  );
  return refused instanceof BaseError ? refused.shortMessage : null;
}
