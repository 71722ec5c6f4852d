import assert from 'node:assert/strict';
import {
  concat,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type TypedDataDefinition,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { payToken } from '#payments/pay-link.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { TEST_ID_KEY } from '#testkit/fixtures/payments/store.ts';
import type { TestNetwork } from '#testkit/network/test-network.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';
import { compileContract } from '../../contracts/compile.ts';

/** Fields of a pay link that tests read. */
export interface LinkBody {
  readonly status: string;
  readonly merchant: { readonly name: string; readonly number: number };
  readonly amount: number;
  readonly fees: {
    readonly acquirer: number;
    readonly protocol: number;
    readonly cashback: number;
  };
  readonly total_charged: number;
  readonly order_id: string;
  readonly number: number;
  readonly salt: Hex;
  readonly typed_data: {
    readonly domain: { readonly chainId: number };
    readonly message: {
      readonly to: Hex;
      readonly value: number;
      readonly validBefore: number;
      readonly nonce: Hex;
    };
  } | null;
}

/** Returns the token of an intent's pay link, derived with the tests' id key. */
export function tokenOf(intentId: string, livemode = false): string {
  const token = payToken(TEST_ID_KEY, { id: intentId, livemode });
  assert(token !== null);
  return token;
}

export async function readLink(pay: Caller, token: string, from?: Hex): Promise<LinkBody> {
  const answer = await pay.get(`/${token}${from === undefined ? '' : `?from=${from}`}`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body as unknown as LinkBody;
}

/** Signs the payment terms that a pay link shows to the wallet. */
export function sign(
  account: Pick<PrivateKeyAccount, 'signTypedData'>,
  link: LinkBody,
): Promise<Hex> {
  return account.signTypedData(link.typed_data as unknown as TypedDataDefinition);
}

interface LinkWallet {
  readonly account: PrivateKeyAccount;
  /** Address of a contract wallet that the account's key controls. Default: the account itself. */
  readonly from?: Hex;
}

/**
 * Opens the link and signs its terms.
 * @returns the request that pays
 */
export async function signByLink(pay: Caller, token: string, wallet: LinkWallet) {
  const { account, from = account.address } = wallet;
  const signature = await sign(account, await readLink(pay, token, from));
  return () => pay.post(`/${token}/authorization`, { from, signature });
}

export async function payByLink(pay: Caller, token: string, wallet: LinkWallet) {
  return (await signByLink(pay, token, wallet))();
}

/** Adds a wallet that has only USDC: no gas, no allowance and no policy. */
export async function addBareWallet(
  network: TestNetwork,
  usdc: bigint,
): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  await fundWith(network, account.address, usdc);
  return account;
}

async function fundWith(
  { admin, config, send }: TestNetwork,
  to: Hex,
  usdc: bigint,
): Promise<void> {
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args: [to, usdc] });
  await send(admin, config.usdc, data);
}

const MANNERS = { honest: 0, two_faced: 1, endless: 2, burning: 3, greedy: 4 } as const;
let compiled: ReturnType<typeof compileContract> | undefined;

/** Adds a contract wallet (ERC-1271) with USDC and a new key. */
export async function addContractWallet(
  network: TestNetwork,
  made: { readonly usdc: bigint; readonly manner?: keyof typeof MANNERS },
): Promise<{ readonly from: Hex; readonly account: PrivateKeyAccount }> {
  const account = privateKeyToAccount(generatePrivateKey());
  const from = await deployKeyWallet(network, account.address, made.manner);
  await fundWith(network, from, made.usdc);
  return { from, account };
}

/**
 * Delegates an account to a contract (EIP-7702). Default: a new contract that accepts signatures by
 * `key`. The test node sets the code directly, where a real account would send a transaction.
 */
export async function delegate(
  network: TestNetwork,
  account: Hex,
  target: { readonly to: Hex } | { readonly key: Hex },
): Promise<void> {
  const to = 'to' in target ? target.to : await deployKeyWallet(network, target.key);
  await network.rpc.call('anvil_setCode', [account, concat(['0xef0100', to])]);
}

/** Returns the creation code of a contract wallet that this key controls. */
export function keyWalletCode(key: Hex, manner: keyof typeof MANNERS = 'honest'): Hex {
  compiled ??= compileContract('test/KeyWallet');
  const { abi, bytecode } = compiled;
  const args = [key, MANNERS[manner]];
  return encodeDeployData({ abi: abi as never, bytecode: bytecode as Hex, args } as never);
}

async function deployKeyWallet(
  { admin, rpc, send }: TestNetwork,
  key: Hex,
  manner: keyof typeof MANNERS = 'honest',
): Promise<Hex> {
  const nonce = BigInt(
    (await rpc.call('eth_getTransactionCount', [admin.address, 'latest'])) as Hex,
  );
  await send(admin, null, keyWalletCode(key, manner));
  return getContractAddress({ from: admin.address, nonce });
}
