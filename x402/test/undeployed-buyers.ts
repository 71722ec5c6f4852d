import {
  type Address,
  createTestClient,
  getCreate2Address,
  type Hex,
  http,
  keccak256,
  numberToHex,
  pad,
  publicActions,
  serializeErc6492Signature,
  type TypedDataDefinition,
  toHex,
} from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { compileContract } from '../../contracts/compile.ts';
import { keyWalletCode } from '../../testkit/apis/pay-links.ts';
import { newWallet } from '../../testkit/apis/wallet-sign-in.ts';
import type { X402Ground } from './x402-ground.ts';

/** Buyers whose wallet is a contract that is not deployed yet. */

type Ground = Pick<X402Ground, 'shared' | 'fund'>;

/** A factory's code that deploys its call data (CREATE2, salt 0). */
export const HONEST_CODE = '0x365f5f375f365f5ff500';
export const HONEST: Hex = numberToHex(0xfac70011n, { size: 20 });
/** Enough for two sales of 1 USDC. */
const FUNDS = 2_009_000;

export function nodeOf(ground: Ground) {
  const { rpc_url, chain_id } = ground.shared.sandbox.test;
  const chain = { ...foundry, id: chain_id };
  return createTestClient({ mode: 'anvil', chain, transport: http(rpc_url) }).extend(publicActions);
}

/** Gives the sandbox's token the function of Circle's token that contract wallets need. */
export async function completeToken(ground: Ground): Promise<void> {
  const { address } = newWallet();
  const client = nodeOf(ground);
  await client.setBalance({ address, value: 10n ** 18n });
  await client.impersonateAccount({ address });
  const { bytecode } = compileContract('test/FullUSDC');
  const request = { from: address, data: bytecode, gas: numberToHex(10_000_000n) };
  const hash = (await client.request({
    method: 'eth_sendTransaction' as never,
    params: [request] as never,
  })) as Hex;
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  await client.setStorageAt({
    address: ground.shared.sandbox.test.usdc as Address,
    index: keccak256(toHex('tapline.test-usdc.logic')),
    value: pad(contractAddress as Hex),
  });
}

export interface Buyer {
  readonly address: Address;
  readonly signTypedData: (typed: TypedDataDefinition) => Promise<Hex>;
}

export interface Made {
  readonly factory?: Hex;
  readonly manner?: 'honest' | 'two_faced';
  readonly signer?: PrivateKeyAccount;
  readonly atoms?: number;
}

/** Adds a wallet with money that its factory has not deployed yet. */
export async function newContractBuyer(ground: Ground, made: Made = {}): Promise<Buyer> {
  const { factory = HONEST, manner = 'honest', atoms = FUNDS } = made;
  const account = newWallet();
  const { signer = account } = made;
  const data = keyWalletCode(account.address, manner);
  const salt = numberToHex(0, { size: 32 });
  const address = getCreate2Address({ from: factory, salt, bytecode: data });
  await ground.fund(address, BigInt(atoms));
  const wrap = (signature: Hex) => serializeErc6492Signature({ address: factory, data, signature });
  return {
    address,
    signTypedData: async (typed) => wrap(await signer.signTypedData(typed)),
  };
}
