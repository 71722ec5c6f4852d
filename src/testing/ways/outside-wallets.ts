import {
  createWalletClient,
  encodeDeployData,
  encodeFunctionData,
  http,
  numberToHex,
  parseEther,
  publicActions,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import type { NetworkConfig } from '#settlement/networks.ts';
import type { Hex } from '#settlement/requests.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';
import { compileContract } from '../../../contracts/compile.ts';

/** Wallets with USDC on a network's chain that the service has never heard of. */
export interface OutsideWallets {
  add(kind: 'key' | 'contract', usdc: bigint): Promise<OutsideWallet>;
  fund(to: Hex, usdc: bigint): Promise<void>;
  /** Sends USDC by mistake. */
  transfer(to: Hex, usdc: bigint): Promise<void>;
}

interface OutsideWallet {
  readonly from: Hex;
  /** Its key; of a contract, the key that the contract asks. */
  readonly account: PrivateKeyAccount;
  readonly privateKey: Hex;
}

/** Of the contract: one that answers honestly. */
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
  /** One after the other: they share a nonce. */
  const send = (to: Hex | null, data: Hex) => {
    const sent = queue.then(async () => {
      const hash = await client.sendTransaction({ chain: null, to, data, gas: 3_000_000n });
      const receipt = await client.waitForTransactionReceipt({ hash });
      if (receipt.status !== 'success') throw new Error('a transaction of the test reverted');
      return receipt.contractAddress ?? null;
    });
    queue = sent.catch(() => {});
    return sent;
  };
  const fund = async (to: Hex, amount: bigint) => {
    const args = [to, amount] as const;
    await send(usdc, encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args }));
  };
  const deployWallet = async (owner: Hex) => {
    const { abi, bytecode } = compileContract('test/KeyWallet');
    const made = { abi, bytecode, args: [owner, HONEST] } as never;
    return present(await send(null, encodeDeployData(made)), 'contract wallet');
  };
  return {
    fund,
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
