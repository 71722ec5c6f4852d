import { randomBytes } from 'node:crypto';
import {
  createWalletClient,
  encodeFunctionData,
  http,
  numberToHex,
  parseEther,
  parseEventLogs,
  publicActions,
} from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import {
  type PaymentCall,
  pack,
  refundCall,
  registerMerchantCall,
  settleCall,
  withdrawCall,
} from '#settlement/contract/contract-calls.ts';
import { type RawLog, readEvents } from '#settlement/contract/contract-events.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import { batchesOf, rootOf } from '#settlement/settled/fold-batches.ts';
import { heldAccount } from '#testing/held-key.ts';
import { signRegistration } from '#testing/wallet-consents.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';
import { lastingNodeOf, nodeIndexOf, openRange, rangePath } from '../../contracts/batch-range.ts';
import { paymentLeaf, paymentProof } from '../../contracts/payment-tree.ts';

/**
 * Uses the service's keys on a network's contracts without the service, so that the ledger knows
 * nothing about it.
 */
export interface OutsideService {
  /**
   * Settles payments with the key of the last sender.
   * @throws if one of them does not settle
   */
  settle(payments: readonly PaymentCall[]): Promise<void>;
  /** Refunds part of a payment that `settle` made, with the same key. */
  refund(payment: PaymentCall, amount: bigint): Promise<void>;
  /** Pays out part of a merchant's balance to its own wallet, with the same key. */
  withdraw(payout: Payout): Promise<void>;
  /**
   * Registers a merchant that has no account in the service.
   * @returns its merchant number
   */
  addMerchant(): Promise<bigint>;
  /** Creates a wallet that the service does not know, with USDC, an allowance and a policy. */
  addPayer(): Promise<Hex>;
  /** Creates a wallet that the service does not know, with nothing but USDC. */
  addWallet(): Promise<PrivateKeyAccount>;
  usdcOf(address: Hex): Promise<bigint>;
}

interface Payout {
  readonly merchantNumber: bigint;
  readonly amount: bigint;
  readonly number: bigint;
}

const FAR_FUTURE = 4_000_000_000;
const FUNDS = 10n ** 12n;
const VALID_S = 600;

function clientOf(config: NetworkConfig, account: PrivateKeyAccount) {
  const transport = http(config.rpcUrls[0]);
  return createWalletClient({ account, transport, pollingInterval: 50 }).extend(publicActions);
}

async function send(config: NetworkConfig, account: PrivateKeyAccount, to: Hex, data: Hex) {
  const client = clientOf(config, account);
  const hash = await client.sendTransaction({ chain: null, to, data, gas: 2_000_000n });
  const receipt = await client.waitForTransactionReceipt({ hash });
  if (receipt.status !== 'success') throw new Error('a test transaction reverted');
  return receipt;
}

async function addPayer(config: NetworkConfig): Promise<Hex> {
  const payer = privateKeyToAccount(generatePrivateKey());
  const { usdc, settlement } = config;
  await clientOf(config, payer).request({
    method: 'anvil_setBalance' as never,
    params: [payer.address, numberToHex(parseEther('1'))] as never,
  });
  const token = (functionName: 'mint' | 'approve', to: Hex) =>
    encodeFunctionData({ abi: testUsdcAbi, functionName, args: [to, FUNDS] });
  const policy = {
    perPayment: Number(FUNDS),
    perPeriod: Number(FUNDS),
    periodSeconds: 86_400,
    expiresAt: FAR_FUTURE,
    maxFeeRate: 100,
  };
  await send(config, payer, usdc, token('mint', payer.address));
  await send(config, payer, usdc, token('approve', settlement));
  const args = [policy] as const;
  const allowed = encodeFunctionData({ abi: settlementAbi, functionName: 'setPolicy', args });
  await send(config, payer, settlement, allowed);
  return payer.address;
}

/** Creates a wallet that has never sent a transaction; another account funds it. */
async function addWallet(config: NetworkConfig): Promise<PrivateKeyAccount> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const funder = privateKeyToAccount(generatePrivateKey());
  await clientOf(config, funder).request({
    method: 'anvil_setBalance' as never,
    params: [funder.address, numberToHex(parseEther('1'))] as never,
  });
  const args = [wallet.address, FUNDS] as const;
  const minted = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args });
  await send(config, funder, config.usdc, minted);
  return wallet;
}

async function addMerchant(config: NetworkConfig): Promise<bigint> {
  const registration = await signRegistration(config, `acct_${randomBytes(8).toString('hex')}`);
  const registrar = heldAccount(config.registrarKey);
  await send(config, registrar, config.settlement, registerMerchantCall(registration));
  const reader = clientOf(config, registrar);
  const address = config.settlement;
  return BigInt(
    await reader.readContract({ abi: settlementAbi, address, functionName: 'merchantCount' }),
  );
}

async function settle(
  config: NetworkConfig,
  operator: PrivateKeyAccount,
  payments: readonly PaymentCall[],
): Promise<void> {
  const { timestamp } = await clientOf(config, operator).getBlock();
  const data = settleCall(payments, Number(timestamp) + VALID_S);
  const { logs } = await send(config, operator, config.settlement, data);
  const settled = parseEventLogs({ abi: settlementAbi, eventName: 'PaymentSettled', logs });
  for (const { number } of payments) {
    if (settled.some(({ args }) => args.number === number)) continue;
    throw new Error(`payment ${number} was not settled`);
  }
}

async function refund(
  config: NetworkConfig,
  operator: PrivateKeyAccount,
  { payment, amount }: { readonly payment: PaymentCall; readonly amount: bigint },
): Promise<void> {
  const proof = await proofOf(config, operator, payment);
  const reference = `0x${randomBytes(16).toString('hex')}` as const;
  const data = refundCall({ payment, ...proof, amount, refundedBefore: 0n, reference });
  await send(config, operator, config.settlement, data);
}

/** Builds the proof of a payment from all of the contract's events, without the service's help. */
async function proofOf(
  config: NetworkConfig,
  operator: PrivateKeyAccount,
  { number }: PaymentCall,
): Promise<{ readonly nodeIndex: bigint; readonly proof: readonly Hex[] }> {
  const address = config.settlement;
  const filter = { address, fromBlock: numberToHex(config.deployedAtBlock), toBlock: 'latest' };
  const request = { method: 'eth_getLogs', params: [filter] } as never;
  const logs = await clientOf(config, operator).request<{ ReturnType: RawLog[] }>(request);
  const settled = batchesOf(readEvents(config, logs));
  const range = openRange(0n);
  const known = settled.map((one) => {
    const root = rootOf(one);
    return { root, node: range.append(root) };
  });
  const isOwn = (one: PaymentCall) => one.number === number;
  const own = present(
    settled.find(({ payments }) => payments.some(isOwn)),
    'batch of the payment',
  );
  const top = lastingNodeOf(own.number, BigInt(settled.length));
  const path = rangePath({ batch: own.number, top }, (batch) =>
    present(known[Number(batch) - 1], 'batch'),
  );
  const leaves = own.payments.map((one) => paymentLeaf(pack(one)));
  const inBatch = paymentProof(leaves, own.payments.findIndex(isOwn));
  return { nodeIndex: nodeIndexOf(top), proof: [...inBatch, ...path] };
}

async function withdraw(
  config: NetworkConfig,
  operator: PrivateKeyAccount,
  payout: Payout,
): Promise<void> {
  const [wallet] = await clientOf(config, operator).readContract({
    abi: settlementAbi,
    address: config.settlement,
    functionName: 'merchantAccount',
    args: [Number(payout.merchantNumber)],
  });
  await send(config, operator, config.settlement, withdrawCall({ ...payout, wallet }));
}

export function outsideService(config: NetworkConfig): OutsideService {
  const operator = heldAccount(config.relayerKeys.at(-1));
  return {
    settle: (payments) => settle(config, operator, payments),
    refund: (payment, amount) => refund(config, operator, { payment, amount }),
    withdraw: (payout) => withdraw(config, operator, payout),
    addMerchant: () => addMerchant(config),
    addPayer: () => addPayer(config),
    addWallet: () => addWallet(config),
    usdcOf: (address) =>
      clientOf(config, operator).readContract({
        abi: testUsdcAbi,
        address: config.usdc,
        functionName: 'balanceOf',
        args: [address],
      }),
  };
}
