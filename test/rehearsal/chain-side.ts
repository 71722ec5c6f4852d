import assert from 'node:assert/strict';
import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  http,
  publicActions,
  type TransactionReceipt,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { Rehearsal } from './rehearse.ts';

/** Reads a step's costs from its result. */
export type Costs<T> = (value: T) => Promise<{ readonly cost: bigint; readonly gas: bigint }>;

/** A chain through public RPC methods only, with a funded key. */
export interface ChainSide {
  readonly chainId: number;
  /** The node's client version. */
  readonly client: string;
  readonly payer: PrivateKeyAccount;
  /** True if the token is ours and can be minted. */
  readonly ownToken: boolean;
  token: Hex;
  /** Balance in wei of the paying key and of all keys that it funded. */
  coin(): Promise<bigint>;
  send(sent: {
    readonly to?: Hex;
    readonly data?: Hex;
    readonly value?: bigint;
  }): Promise<TransactionReceipt>;
  /** Sends the cost of this much gas at twice the current price. */
  give(key: Hex, gas: bigint): Promise<void>;
  costOf(hash: Hex): Promise<{ readonly cost: bigint; readonly gas: bigint }>;
  /** Returns the second provider's answer. */
  again(hash: Hex): Promise<{ readonly succeeded: boolean; readonly blockNumber: bigint }>;
  tokensAgain(address: Hex): Promise<bigint>;
  /** Sends the balances of the other keys back to the paying one. @returns the sum. */
  sweep(): Promise<bigint>;
}

const TIMEOUT_MS = 180_000;
const POLL_MS = 250;
const TRANSFER_GAS = 21_000n;

export async function openChainSide(rehearsal: Rehearsal): Promise<ChainSide> {
  const second = createPublicClient({ transport: http(rehearsal.secondUrl) });
  const walletOf = (key: Hex) => openWallet(rehearsal.rpcUrls[0] ?? '', key);
  const own = walletOf(rehearsal.key);
  const given: Hex[] = [];
  const [chainId, otherId] = await Promise.all([own.getChainId(), second.getChainId()]);
  assert.equal(otherId, chainId, 'the second provider is of another chain');
  const client = String(await own.request({ method: 'web3_clientVersion' as never }));
  const sent = (hash: Hex) => succeeded(own, hash);
  const side: ChainSide = {
    ...{ chainId, client, payer: own.account },
    ownToken: rehearsal.usdc === null,
    token: rehearsal.usdc ?? '0x',
    coin: async () => {
      const addresses = [rehearsal.key, ...given].map((key) => privateKeyToAccount(key).address);
      const all = await Promise.all(addresses.map((address) => own.getBalance({ address })));
      return all.reduce((sum, one) => sum + one, 0n);
    },
    send: async (wanted) => sent(await own.sendTransaction({ chain: null, ...wanted })),
    give: async (key, gas) => {
      given.push(key);
      const { maxFeePerGas } = await own.estimateFeesPerGas();
      const to = privateKeyToAccount(key).address;
      await side.send({ to, value: 2n * gas * maxFeePerGas });
    },
    costOf: async (hash) => {
      const { gasUsed: gas, effectiveGasPrice } = await own.getTransactionReceipt({ hash });
      return { gas, cost: gas * effectiveGasPrice };
    },
    again: async (hash) => {
      const { status, blockNumber } = await second.waitForTransactionReceipt({
        ...{ hash, timeout: TIMEOUT_MS, pollingInterval: POLL_MS },
      });
      return { succeeded: status === 'success', blockNumber };
    },
    tokensAgain: (holder) =>
      second.readContract({
        ...{ address: side.token, abi: erc20Abi, functionName: 'balanceOf', args: [holder] },
      }),
    sweep: () => sweep(own, given.map(walletOf)),
  };
  return side;
}

function openWallet(rpcUrl: string, key: Hex) {
  return createWalletClient({
    account: privateKeyToAccount(key),
    transport: http(rpcUrl),
    pollingInterval: POLL_MS,
  }).extend(publicActions);
}

type Wallet = ReturnType<typeof openWallet>;

async function succeeded(wallet: Wallet, hash: Hex): Promise<TransactionReceipt> {
  const receipt = await wallet.waitForTransactionReceipt({ hash, timeout: TIMEOUT_MS });
  assert.equal(receipt.status, 'success', `the transaction ${hash} reverted`);
  return receipt;
}

async function sweep(own: Wallet, others: readonly Wallet[]): Promise<bigint> {
  let sum = 0n;
  for (const wallet of others) {
    const balance = await own.getBalance({ address: wallet.account.address });
    const { maxFeePerGas, maxPriorityFeePerGas } = await own.estimateFeesPerGas();
    // Keeps three times the gas of a transfer, because some chains also charge for calldata.
    const value = balance - 3n * TRANSFER_GAS * maxFeePerGas;
    if (value <= 0n) continue;
    const fees = { gas: TRANSFER_GAS, maxFeePerGas, maxPriorityFeePerGas };
    const to = own.account.address;
    await succeeded(own, await wallet.sendTransaction({ chain: null, to, value, ...fees }));
    sum += value;
  }
  return sum;
}
