import assert from 'node:assert/strict';
import {
  createWalletClient,
  encodeDeployData,
  http,
  numberToHex,
  parseEther,
  publicActions,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { deployContract, newKey } from '#ops/deploy-contract.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { caller } from '#testkit/apis/api-client.ts';
import { signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { startThrowawayChain } from '#testkit/network/throwaway-chain.ts';
import { testUsdcAbi, testUsdcBytecode } from '../../contracts/artifacts/TestUSDC.ts';
import { deployFiatToken } from '../../contracts/test/fiat-token.ts';

/**
 * A chain that the service did not start. Its settings name it as they would name a public chain.
 */
export interface OutsideChain {
  readonly chainId: number;
  readonly usdc: Hex;
  /** Private key of the token's owner, which can mint, block accounts and pause transfers. */
  readonly issuer: Key;
  walletOf(key: Hex): ReturnType<typeof walletAt>;
  /**
   * Sends a transaction and waits until it is mined.
   * @returns the address of the deployed contract, if any
   * @throws if the transaction reverts
   */
  send(key: Hex, to: Hex | null, data: Hex): Promise<Hex>;
  /**
   * Deploys a settlement contract. With `former`, it is the successor of that contract and has the
   * same keys.
   */
  deploySettlement(former?: OutsideContract): Promise<OutsideContract>;
  stop(): Promise<void>;
}

export interface OutsideContract {
  readonly settlement: Hex;
  readonly guardian: Key;
  readonly operators: readonly Key[];
  readonly registrar: Key;
  readonly deployedAtBlock: bigint;
  /** Previous contracts, the oldest first. */
  readonly former: readonly OutsideContract[];
  /** The environment variables that make `npm start` use this chain. */
  readonly env: Readonly<Record<string, string>>;
}

interface Key {
  readonly key: Hex;
  readonly address: Hex;
}

const OPERATORS = 3;

function walletAt(rpcUrl: string, key: Hex) {
  const account = privateKeyToAccount(key);
  const options = { account, transport: http(rpcUrl), pollingInterval: 50 };
  return createWalletClient(options).extend(publicActions);
}

/**
 * Starts a chain with TestUSDC (`test`), or with Circle's USDC contract (`real`), whose code must
 * be available (FIAT_TOKEN_MISSING).
 */
export async function startOutsideChain(options: {
  readonly chainId: number;
  readonly token: 'test' | 'real';
}): Promise<OutsideChain> {
  const { chainId } = options;
  const chain = await startThrowawayChain({ chainId, blockTime: 1 });
  const [issuer, proxyAdmin, deployer] = [newKey(), newKey(), newKey()];
  const walletOf = (key: Hex) => walletAt(chain.rpcUrl, key);
  const fund = async (addresses: readonly Hex[]) => {
    for (const address of addresses) {
      const params = [address, numberToHex(parseEther('10'))] as never;
      await walletOf(deployer.key).request({ method: 'anvil_setBalance' as never, params });
    }
  };
  const send = async (key: Hex, to: Hex | null, data: Hex) => {
    const wallet = walletOf(key);
    const hash = await wallet.sendTransaction({ chain: null, to, data });
    const receipt = await wallet.waitForTransactionReceipt({ hash });
    assert.equal(receipt.status, 'success');
    return receipt.contractAddress ?? '0x';
  };
  const deployTest = () => {
    const args = [issuer.address] as const;
    const data = encodeDeployData({ abi: testUsdcAbi, bytecode: testUsdcBytecode, args });
    return send(issuer.key, null, data);
  };
  const deployReal = () => {
    const { address } = issuer;
    const roles = { owner: address, minter: address, pauser: address, blacklister: address };
    const sending = {
      deploy: (data: Hex) => send(proxyAdmin.key, null, data),
      call: (to: Hex, data: Hex) => send(issuer.key, to, data),
    };
    return deployFiatToken(sending, roles);
  };
  await fund([issuer.address, proxyAdmin.address, deployer.address]);
  const usdc = options.token === 'real' ? await deployReal() : await deployTest();

  const deploySettlement = (former?: OutsideContract) =>
    deployAt({ rpcUrl: chain.rpcUrl, chainId, usdc, payingKey: deployer.key, fund }, former);
  return { chainId, usdc, issuer, walletOf, send, deploySettlement, stop: chain.stop };
}

interface Ground {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly usdc: Hex;
  readonly payingKey: Hex;
  fund(addresses: readonly Hex[]): Promise<void>;
}

/** Deploys a settlement contract with new keys, or with those of `earlier`. */
async function deployAt(
  { rpcUrl, chainId, usdc, payingKey, fund }: Ground,
  earlier?: OutsideContract,
): Promise<OutsideContract> {
  const guardian = newKey();
  const registrar = earlier?.registrar ?? newKey();
  const operators = earlier?.operators ?? Array.from({ length: OPERATORS }, newKey);
  await fund([guardian, registrar, ...operators].map(({ address }) => address));
  const { settlement, blockNumber } = await deployContract(
    {
      ...{ rpcUrl, usdc },
      proposers: [newKey().address],
      steward: newKey().address,
      operators: operators.map(({ address }) => address),
      registrar: registrar.address,
      guardians: [guardian.address, newKey().address],
      treasurer: newKey().address,
      walletDelay: 60,
      payoutHold: 0,
      hourlyCeiling: 10_000,
      rates: { acquirer: 30, protocol: 20, cashback: 5 },
    },
    payingKey,
  );
  const former = earlier === undefined ? [] : [...earlier.former, earlier];
  const env = {
    CHAIN_TESTNET_RPC_URL: rpcUrl,
    CHAIN_TESTNET_CHAIN_ID: String(chainId),
    CHAIN_TESTNET_USDC: usdc,
    CHAIN_TESTNET_SETTLEMENT: settlement,
    CHAIN_TESTNET_DEPLOYED_AT_BLOCK: String(blockNumber),
    CHAIN_TESTNET_PREVIOUS_CONTRACTS: former
      .map((one) => `${one.settlement}@${one.deployedAtBlock}`)
      .join(','),
    CHAIN_TESTNET_RELAYER_KEYS: operators.map(({ key }) => key).join(','),
    CHAIN_TESTNET_REGISTRAR_KEY: registrar.key,
    CHAIN_TESTNET_CONFIRMATIONS: '1',
    // Off, as in the sandbox, because tests use static passes and no payer is there to confirm.
    STATIC_PASS_CONFIRM_FROM: 'off',
  };
  const deployedAtBlock = BigInt(blockNumber ?? 0);
  return { settlement, guardian, operators, registrar, deployedAtBlock, former, env };
}

/**
 * Sets up a payer by signatures alone, because the wallet has no gas.
 * @returns a pass
 */
export async function enrolBySignature(
  account: PrivateKeyAccount,
  wallet: { readonly webUrl: string; readonly chainId: number },
): Promise<string> {
  const { webUrl, chainId } = wallet;
  const token = await signInWallet(webUrl, account, { chainId });
  const me = caller(`${webUrl}/api/payer/v1`, token);
  const { to_sign: ready } = (await me.get('/approvals')).body as {
    to_sign: Record<'permit' | 'policy', { typed_data: object; body: object }>;
  };
  const signed = async ({ typed_data: typed, body }: { typed_data: object; body: object }) => ({
    ...body,
    signature: await account.signTypedData(typed as never),
  });
  const reply = await me.post('/approvals', {
    permit: await signed(ready.permit),
    policy: await signed(ready.policy),
  });
  // The request waits at most 20 s for the chain, so the approval may still be pending.
  let { status } = reply.body;
  for (let left = 20; status === 'pending' && left > 0; left--) {
    status = (await me.get(`/approvals/${reply.body.id}`)).body.status;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  assert.equal(status, 'succeeded', JSON.stringify(reply.body));
  return String((await me.post('/passes', { label: 'Phone' })).body.nfc_id);
}
