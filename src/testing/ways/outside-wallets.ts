import {
  createWalletClient,
  encodeDeployData,
  encodeFunctionData,
  http,
  numberToHex,
  type PublicClient,
  parseEther,
  publicActions,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import type { NetworkConfig } from '#settlement/networks.ts';
import type { Hex } from '#settlement/requests.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';
import { compileContract } from '../../../contracts/compile.ts';

/** Wallets with USDC on a network's chain that the service does not know. */
export interface OutsideWallets {
  add(kind: 'key' | 'contract', usdc: bigint): Promise<OutsideWallet>;
  fund(to: Hex, usdc: bigint): Promise<void>;
  /**
   * Funds wallets again whose funding left the chain with its block. A real chain would mine it
   * again by itself.
   */
  fundAgain(): Promise<void>;
  /** Sends USDC by mistake. */
  transfer(to: Hex, usdc: bigint): Promise<void>;
}

interface OutsideWallet {
  readonly from: Hex;
  /** Its key; for a contract wallet, its owner's key. */
  readonly account: PrivateKeyAccount;
  readonly privateKey: Hex;
}

/** The wallet contract's mode in which it answers honestly. */
const HONEST = 0;

export async function outsideWallets(config: NetworkConfig): Promise<OutsideWallets> {
  const { usdc } = config;
  const sender = privateKeyToAccount(generatePrivateKey());
  const transport = http(config.rpcUrls[0]);
  const client = createWalletClient({ account: sender, transport, pollingInterval: 50 }).extend(
    publicActions,
  );
  const giveGas = (to: Hex) =>
    client.request({
      method: 'anvil_setBalance' as never,
      params: [to, numberToHex(parseEther('10'))] as never,
    });
  await giveGas(sender.address);
  let queue: Promise<unknown> = Promise.resolve();
  /** Sends in sequence, because the transactions share a nonce. */
  const send = (to: Hex | null, data: Hex) => {
    const sent = queue.then(async () => {
      const hash = await client.sendTransaction({ chain: null, to, data, gas: 3_000_000n });
      const receipt = await client.waitForTransactionReceipt({ hash });
      if (receipt.status !== 'success') throw new Error('a test transaction reverted');
      return receipt;
    });
    queue = sent.catch(() => {});
    return sent;
  };
  const given = new Map<Hex, Gift>();
  const fund = async (to: Hex, amount: bigint) => {
    const args = [to, amount] as const;
    const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args });
    const { transactionHash } = await send(usdc, data);
    given.set(transactionHash, { to, amount });
  };
  const deployWallet = async (owner: Hex) => {
    const { abi, bytecode } = compileContract('test/KeyWallet');
    const made = { abi, bytecode, args: [owner, HONEST] } as never;
    const { contractAddress } = await send(null, encodeDeployData(made));
    return present(contractAddress ?? null, 'contract wallet');
  };
  return {
    fund,
    fundAgain: async () => {
      for (const { to, amount } of await takeLost(client, given)) await fund(to, amount);
    },
    transfer: async (to, amount) => {
      await fund(sender.address, amount);
      const args = [to, amount] as const;
      await send(usdc, encodeFunctionData({ abi: testUsdcAbi, functionName: 'transfer', args }));
    },
    add: async (kind, amount) => {
      const privateKey = generatePrivateKey();
      const account = privateKeyToAccount(privateKey);
      const from = kind === 'key' ? account.address : await deployWallet(account.address);
      await giveGas(account.address);
      await fund(from, amount);
      return { from, account, privateKey };
    },
  };
}

interface Gift {
  readonly to: Hex;
  readonly amount: bigint;
}

/** Removes wallets whose transactions have left the chain. */
async function takeLost(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  given: Map<Hex, Gift>,
): Promise<Gift[]> {
  const lost: Gift[] = [];
  for (const [hash, gift] of given) {
    const isMined = await client.getTransactionReceipt({ hash }).then(
      () => true,
      () => false,
    );
    if (isMined) continue;
    given.delete(hash);
    lost.push(gift);
  }
  return lost;
}
