import {
  concat,
  createPublicClient,
  encodeFunctionData,
  getCreate2Address,
  http,
  keccak256,
  numberToHex,
  parseEther,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { CREATE2_FACTORY } from '#ops/deploy-contract.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import { keyWalletCode } from '#testkit/apis/pay-links.ts';
import { wrapping } from '#testkit/apis/undeployed-wallets.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

/** Wallets with USDC on a network's chain. The service does not know them. */
export type OutsideWallets = Awaited<ReturnType<typeof outsideWallets>>;

/** A contract wallet that is not deployed yet. Its signatures are wrapped (ERC-6492). */
export interface UndeployedWallet {
  readonly from: Hex;
  /** Signs with the wallet's key, and wraps the signature with the call that deploys the wallet. */
  readonly account: PrivateKeyAccount;
}

const NO_SALT = numberToHex(0, { size: 32 });
const GAS = 3_000_000n;
const FEES = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n };

export async function outsideWallets(config: NetworkConfig) {
  const { usdc } = config;
  const { address, supply, send, sendAgain } = await openSender(config);
  const fund = async (to: Hex, amount: bigint) => {
    const args = [to, amount] as const;
    await send(usdc, encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args }));
  };
  const deployWallet = async (owner: Hex) => {
    const { contractAddress } = await send(null, keyWalletCode(owner));
    return present(contractAddress ?? null, 'contract wallet');
  };
  return {
    fund,
    sendAgain,
    /** Sends USDC by mistake. */
    transfer: async (to: Hex, amount: bigint) => {
      await fund(address, amount);
      const args = [to, amount] as const;
      await send(usdc, encodeFunctionData({ abi: testUsdcAbi, functionName: 'transfer', args }));
    },
    addUndeployed: async (amount: bigint): Promise<UndeployedWallet> => {
      const key = privateKeyToAccount(generatePrivateKey());
      const bytecode = keyWalletCode(key.address);
      const from = getCreate2Address({ from: CREATE2_FACTORY, salt: NO_SALT, bytecode });
      const data = concat([NO_SALT, bytecode]);
      await fund(from, amount);
      return { from, account: wrapping(key, { from, factory: CREATE2_FACTORY, data }) };
    },
    /** Adds a wallet with a key, or a contract wallet, whose owner's key signs. */
    add: async (kind: 'key' | 'contract', amount: bigint) => {
      const privateKey = generatePrivateKey();
      const account = privateKeyToAccount(privateKey);
      const from = kind === 'key' ? account.address : await deployWallet(account.address);
      await supply(account.address);
      await fund(from, amount);
      return { from, account, privateKey };
    },
  };
}

/** Opens the account that deploys wallets, funds them, and gives gas to others. */
async function openSender({ rpcUrls, chainId }: NetworkConfig) {
  const { address, signTransaction } = privateKeyToAccount(generatePrivateKey());
  const client = createPublicClient({ transport: http(rpcUrls[0]), pollingInterval: 50 });
  const supplied: Hex[] = [];
  const giveGas = (to: Hex) =>
    client.request({
      method: 'anvil_setBalance' as never,
      params: [to, numberToHex(parseEther('10'))] as never,
    });
  const supply = async (to: Hex) => {
    await giveGas(to);
    supplied.push(to);
  };
  await supply(address);
  const broadcast = async (serializedTransaction: Hex) => {
    // Ignores errors: the node may have the transaction already, or be down. Only the receipt
    // counts.
    await client.sendRawTransaction({ serializedTransaction }).catch(() => {});
    return client.waitForTransactionReceipt({ hash: keccak256(serializedTransaction) });
  };
  /** All signed transactions, indexed by nonce. */
  const signed: Hex[] = [];
  /**
   * Sends lost transactions again before a new one, which would otherwise take the nonce of a lost
   * one.
   */
  const sendLost = async () => {
    const mined = await client.getTransactionCount({ address });
    for (const raw of signed.slice(mined)) await broadcast(raw);
  };
  let queue: Promise<unknown> = Promise.resolve();
  /** Sends one transaction at a time, because all of them use the nonces of one account. */
  const send = (to: Hex | null, data: Hex) => {
    const sent = queue.then(async () => {
      await sendLost();
      const nonce = signed.length;
      const call = { ...(to === null ? {} : { to }), data, gas: GAS, nonce, ...FEES };
      const raw = await signTransaction({ type: 'eip1559', chainId, ...call });
      signed.push(raw);
      const receipt = await broadcast(raw);
      if (receipt.status !== 'success') throw new Error('a test transaction reverted');
      return receipt;
    });
    queue = sent.catch(() => {});
    return sent;
  };
  /**
   * Resends the transactions that a reorganization removed. A public chain's nodes would do this by
   * themselves.
   */
  const sendAgain = async () => {
    for (const one of supplied) await giveGas(one);
    await sendLost();
  };
  return { address, supply, send, sendAgain };
}
