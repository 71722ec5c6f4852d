// Sends each kind of transaction once to a node that keeps opcode traces, with Circle's real USDC,
// and counts what it accesses and creates. `node contracts/gas-rules/write-page.ts` uses it.

import { fileURLToPath } from 'node:url';
import {
  type Abi,
  concat,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  keccak256,
  maxUint256,
  numberToHex,
  parseAbi,
  zeroAddress,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { AUTHORIZATION_FIELDS } from '#core/typed-data-fields.ts';
import { settlementAbi } from '../artifacts/Settlement.ts';
import { testUsdcAbi } from '../artifacts/TestUSDC.ts';
import { nodeIndexOf } from '../batch-range.ts';
import { compileContract } from '../compile.ts';
import {
  ADMIN,
  createStage,
  deployRealUsdc,
  fund,
  merchantWallet,
  OPERATOR,
  preparePayer,
  registerMerchant,
  type Stage,
} from '../measure-gas.ts';
import { packPayment, paymentLeaf, paymentProof } from '../payment-tree.ts';
import type { TestNode } from '../test/test-node.ts';

/** A kind of transaction, and its measurement. */
export type Measured<T> = readonly [path: string, measured: T];

const AMOUNT = 2_500_000n;
const VALUE = 2_511_250n;
const DEADLINE = 2n ** 40n - 1n;
/** Numbers that are this far apart each need a new word of the bitmap. */
const WORD = 256n;
/** The most payments in one transaction if each number needs a new word (`groupByGas`). */
export const LARGEST = 36;

type Recorder = (path: string, transaction: { from: Hex; to?: Hex; data: Hex }) => Promise<void>;
type Node = Stage['node'];

/** The contracts of Safe 1.4.1, compiled by their makers. */
export type SafeContract = 'SafeProxyFactory' | 'Safe' | 'CompatibilityFallbackHandler';
interface Compiled {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

/** The compiled contracts of Safe. */
export type SafeContracts = Readonly<Record<SafeContract, Compiled>>;

/**
 * Sends one transaction of each kind and measures it. Without a limit from `gasOf`, it gets more
 * than enough gas.
 */
export async function measurePaths<T>(
  node: TestNode,
  safe: SafeContracts,
  measure: (hash: Hex) => Promise<T>,
  gasOf: (path: string) => bigint | undefined = () => undefined,
): Promise<Measured<T>[]> {
  const measured: Measured<T>[] = [];
  const record: Recorder = async (path, transaction) => {
    const { transactionHash } = await node.send({ ...transaction, gas: gasOf(path) });
    measured.push([path, await measure(transactionHash)]);
  };
  const stage = await createStage(node, deployRealUsdc);
  for (const [path, hash] of await stepsOf(node)) measured.push([path, await measure(hash)]);
  await measureSales(stage, record);
  await measureAuthorizations(stage, record);
  await measureRest(stage, record);
  await measureWatch(stage, record);
  await measureWallets(stage, safe, record);
  await record('cancellation', { from: OPERATOR, to: OPERATOR, data: '0x' });
  return measured;
}

/** Returns the transactions of the newest three blocks, which deployed the settlement contract. */
async function stepsOf({ client }: TestNode): Promise<[string, Hex][]> {
  const newest = await client.getBlockNumber();
  const steps = ['settlement contract', 'lens, and the storage of batches', 'timelock'];
  return Promise.all(
    steps.map(async (step, index): Promise<[string, Hex]> => {
      const blockNumber = newest - BigInt(steps.length - 1 - index);
      const { transactions } = await client.getBlock({ blockNumber });
      const [hash] = transactions as Hex[];
      if (hash === undefined) throw new Error('a block of the deployment is empty');
      return [`deployment: ${step}`, hash];
    }),
  );
}

interface Sale {
  readonly number: bigint;
  readonly payer: Hex;
  readonly merchant?: number;
}

function pack({ number, payer, merchant = 1 }: Sale): Hex {
  return packPayment({ number, payer, merchant, amount: AMOUNT, orderId: 'A0000001' });
}

function settling(sales: readonly Sale[]): Hex {
  const functionName = sales.length === 1 ? 'settlePaymentSeparately' : 'settleBatch';
  const args = [concat(sales.map(pack)), Number(DEADLINE)] as const;
  return encodeFunctionData({ abi: settlementAbi, functionName, args });
}

/** Every payer has a policy and an allowance; each sale's number needs a new word of the bitmap. */
async function measureSales(stage: Stage, record: Recorder): Promise<void> {
  const { settlement: to, payers } = stage;
  for (const index of [1, 2]) await registerMerchant(stage, index);
  for (const payer of payers) await preparePayer(stage, payer);
  const settle = async (path: string, sales: readonly Sale[]) => {
    await record(path, { from: OPERATOR, to, data: settling(sales) });
  };
  const [first = zeroAddress, second = zeroAddress] = payers;
  await settle('first sale on the contract', [{ number: WORD, payer: first }]);
  await settle('later sale', [{ number: WORD + 1n, payer: second }]);
  for (const [index, count] of [1, 10, LARGEST, 100].entries()) {
    const start = BigInt(index + 1) * 1_000n * WORD;
    const sales = payers.slice(0, count).map((payer, i) => {
      return { number: start + BigInt(i) * WORD, payer, merchant: 1 + (i % 2) };
    });
    await settle(`batch of ${count}, numbers far apart`, sales);
  }
  const start = 9_000n * WORD;
  const near = payers.map((payer, i) => ({ number: start + BigInt(i), payer }));
  await settle('batch of 100, numbers side by side', near);
}

/** A payer that signs authorizations, and the code that decides about its signature. */
interface Signer {
  readonly address: Hex;
  readonly key: PrivateKeyAccount;
}

async function measureAuthorizations(stage: Stage, record: Recorder): Promise<void> {
  const { node, settlement: to } = stage;
  const key = privateKeyToAccount(numberToHex(0xa001, { size: 32 }));
  const delegate = privateKeyToAccount(numberToHex(0xa002, { size: 32 }));
  const compiled = compileContract('test/KeyWallet');
  const wallet = await deployCode(node, compiled.abi as Abi, compiled.bytecode, [key.address, 0]);
  const delegated = await deployCode(node, compiled.abi as Abi, compiled.bytecode, [
    delegate.address,
    0,
  ]);
  await node.client.setCode({
    address: delegate.address,
    bytecode: concat(['0xef0100', delegated]),
  });
  const signers: readonly (readonly [string, Signer])[] = [
    ['a key', { address: key.address, key }],
    ['a contract wallet (ERC-1271)', { address: wallet, key }],
    ['a delegated account (EIP-7702)', { address: delegate.address, key: delegate }],
  ];
  let number = 50_000n * WORD;
  for (const [who, signer] of signers) {
    await mint(stage, signer.address);
    number += WORD;
    const data = await authorized(stage, signer, number);
    await record(`authorization by ${who}`, { from: OPERATOR, to, data });
  }
  await emptyContract(stage);
  const last = privateKeyToAccount(numberToHex(0xa003, { size: 32 }));
  await mint(stage, last.address);
  const data = await authorized(stage, { address: last.address, key: last }, number + WORD);
  await record('authorization into an empty contract balance', { from: OPERATOR, to, data });
}

async function deployCode(node: Node, abi: Abi, code: Hex, args: readonly unknown[]): Promise<Hex> {
  const data = encodeDeployData({ abi, bytecode: code, args } as never);
  const { contractAddress } = await node.send({ from: ADMIN, data });
  if (!contractAddress) throw new Error('nothing was deployed');
  return contractAddress;
}

async function mint({ node, token }: Stage, to: Hex): Promise<void> {
  const args = [to, VALUE * 2n] as const;
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args });
  await node.send({ from: ADMIN, to: token, data });
}

/** Pays everything out, so that the token has no balance of the contract any more. */
async function emptyContract(stage: Stage): Promise<void> {
  const { client } = stage.node;
  const held = await client.readContract({
    ...{ address: stage.token, abi: testUsdcAbi, functionName: 'balanceOf' },
    args: [stage.settlement],
  } as const);
  await client.impersonateAccount({ address: stage.settlement });
  await fund(stage.node, stage.settlement);
  const args = [ADMIN, held] as const;
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'transfer', args });
  await stage.node.send({ from: stage.settlement, to: stage.token, data });
}

function domainOf({ node, token }: Stage) {
  const chainId = node.client.chain.id;
  return { name: 'USD Coin', version: '2', chainId, verifyingContract: token } as const;
}

async function authorized(stage: Stage, signer: Signer, number: bigint): Promise<Hex> {
  const { node, settlement } = stage;
  const salt = keccak256(numberToHex(number));
  const nonce = await node.client.readContract({
    ...{ address: settlement, abi: settlementAbi, functionName: 'authorizationNonce' },
    args: [1, AMOUNT, 0n, '0x0000000000000000', salt],
  } as const);
  const message = { from: signer.address, to: settlement, value: VALUE, nonce };
  const signature = await signer.key.signTypedData({
    domain: domainOf(stage),
    types: { ReceiveWithAuthorization: AUTHORIZATION_FIELDS },
    primaryType: 'ReceiveWithAuthorization',
    message: { ...message, validAfter: 0n, validBefore: DEADLINE },
  });
  const terms = { bindsOrder: false, salt, validAfter: 0n, validBefore: DEADLINE, signature };
  return encodeFunctionData({
    abi: settlementAbi,
    functionName: 'settleWithAuthorization',
    args: [pack({ number, payer: signer.address }), terms, Number(DEADLINE)],
  });
}

async function measureRest(stage: Stage, record: Recorder): Promise<void> {
  const { settlement, token } = stage;
  await record('approval (permit and policy)', {
    ...{ from: OPERATOR, to: settlement },
    data: await enrolling(stage, privateKeyToAccount(numberToHex(0xb001, { size: 32 }))),
  });
  const sender = privateKeyToAccount(numberToHex(0xb002, { size: 32 }));
  await mint(stage, sender.address);
  await record('transfer (EIP-3009)', {
    ...{ from: OPERATOR, to: token, data: await transferring(stage, sender) },
  });
  await measurePayouts(stage, record);
  await registering(stage, record);
  await changingWallet(stage, record);
}

async function enrolling(stage: Stage, payer: PrivateKeyAccount): Promise<Hex> {
  const { node, settlement } = stage;
  const terms = { perPayment: 10 ** 9, perPeriod: 10 ** 10, periodSeconds: 86_400 };
  const policy = { ...terms, expiresAt: 2 ** 40 - 1, maxFeeRate: 100 };
  const signature = await payer.signTypedData({
    domain: {
      ...{ name: 'Tapline Settlement', version: '2', chainId: node.client.chain.id },
      verifyingContract: settlement,
    },
    types: {
      SpendingPolicy: [
        { name: 'payer', type: 'address' },
        { name: 'perPayment', type: 'uint48' },
        { name: 'perPeriod', type: 'uint48' },
        { name: 'periodSeconds', type: 'uint24' },
        { name: 'expiresAt', type: 'uint40' },
        { name: 'maxFeeRate', type: 'uint16' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'SpendingPolicy',
    message: { payer: payer.address, ...policy, nonce: 0n, deadline: DEADLINE },
  });
  const permit = await payer.signTypedData({
    domain: domainOf(stage),
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    message: {
      ...{ owner: payer.address, spender: settlement, value: maxUint256 / 2n, nonce: 0n },
      deadline: DEADLINE,
    },
  });
  const allowed = { value: maxUint256 / 2n, deadline: DEADLINE, signature: permit };
  return encodeFunctionData({
    abi: settlementAbi,
    functionName: 'enrol',
    args: [payer.address, policy, DEADLINE, signature, allowed],
  });
}

/** To an address that holds no USDC yet, which needs another slot. */
async function transferring(stage: Stage, from: PrivateKeyAccount): Promise<Hex> {
  const nonce = keccak256('0x01');
  const to = numberToHex(0xb003, { size: 20 });
  const message = { from: from.address, to, value: 1_000_000n, validAfter: 0n };
  const signature = await from.signTypedData({
    domain: domainOf(stage),
    types: { TransferWithAuthorization: AUTHORIZATION_FIELDS },
    primaryType: 'TransferWithAuthorization',
    message: { ...message, validBefore: DEADLINE, nonce },
  });
  return encodeFunctionData({
    abi: parseAbi([
      'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
    ]),
    args: [from.address, to, 1_000_000n, 0n, DEADLINE, nonce, signature],
  });
}

async function measurePayouts(stage: Stage, record: Recorder): Promise<void> {
  const { settlement: to, payers } = stage;
  const sales = payers.map((payer, i) => ({ number: 90_000n * WORD + BigInt(i), payer }));
  const [lone = zeroAddress] = payers;
  // The node of a batch with an odd number is its root; other proofs are longer.
  if ((await batchesOf(stage)) % 2 === 1) {
    const between = settling([{ number: 91_000n * WORD, payer: lone }]);
    await stage.node.send({ from: OPERATOR, to, data: between });
  }
  await stage.node.send({ from: OPERATOR, to, data: settling(sales) });
  const index = nodeIndexOf(BigInt(await batchesOf(stage)));
  const packed = sales.map(pack);
  const proof = paymentProof(packed.map(paymentLeaf), 0);
  const reference: Hex = `0x${keccak256('0x').slice(-32)}`;
  const args = [index, packed[0] ?? '0x', [...proof], 1_000_000n, 0n, reference] as const;
  const refund = encodeFunctionData({ abi: settlementAbi, functionName: 'refund', args });
  await record('refund, first of its payment', { from: OPERATOR, to, data: refund });
  const paid = [1, merchantWallet(1).address, 1_000_000n, 2n ** 62n] as const;
  const withdraw = encodeFunctionData({ abi: settlementAbi, functionName: 'withdraw', args: paid });
  await record('withdrawal, first of its merchant', { from: OPERATOR, to, data: withdraw });
}

function batchesOf({ node, settlement }: Stage): Promise<number> {
  const address = getContractAddress({ from: settlement, nonce: 1n });
  const abi = parseAbi(['function batchCount() view returns (uint40)']);
  return node.client.readContract({ address, abi, functionName: 'batchCount' });
}

async function registering(stage: Stage, record: Recorder): Promise<void> {
  const { node } = stage;
  const send = node.send.bind(node);
  const recording: Node = {
    ...node,
    send: async (transaction) => {
      await record('registration', { ...transaction });
      return send({ from: ADMIN, to: ADMIN, data: '0x' });
    },
  };
  await registerMerchant({ ...stage, node: recording }, 3);
}

async function changingWallet(stage: Stage, record: Recorder): Promise<void> {
  const { node, settlement: to } = stage;
  const next = privateKeyToAccount(numberToHex(0xc001, { size: 32 }));
  const signature = await next.signTypedData({
    domain: {
      ...{ name: 'Tapline Settlement', version: '2', chainId: node.client.chain.id },
      verifyingContract: to,
    },
    types: {
      WalletConsent: [
        { name: 'merchant', type: 'uint32' },
        { name: 'wallet', type: 'address' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'WalletConsent',
    message: { merchant: 1, wallet: next.address, nonce: 0n, deadline: DEADLINE },
  });
  const propose = encodeFunctionData({
    abi: settlementAbi,
    functionName: 'proposeWallet',
    args: [1, next.address, DEADLINE, signature],
  });
  await record('wallet change: proposal', { from: ADMIN, to, data: propose });
  await node.client.increaseTime({ seconds: 2 * 86_400 });
  const apply = encodeFunctionData({
    abi: settlementAbi,
    functionName: 'applyWallet',
    args: [1],
  });
  await record('wallet change: application', { from: ADMIN, to, data: apply });
}

async function measureWatch({ settlement: to }: Stage, record: Recorder): Promise<void> {
  const call = { from: ADMIN, to };
  for (const functionName of ['pauseSettling', 'pauseRefunding'] as const) {
    const data = encodeFunctionData({ abi: settlementAbi, functionName });
    await record(`watchtower: ${functionName}`, { ...call, data });
  }
  const functionName = 'dropWalletChangesOf';
  const data = encodeFunctionData({ abi: settlementAbi, functionName, args: [ADMIN] });
  await record(`watchtower: ${functionName}`, { ...call, data });
}

/** Wallets with one owner; Coinbase's has a passkey, which is longer than an address. */
async function measureWallets(
  { node }: Stage,
  safe: SafeContracts,
  record: Recorder,
): Promise<void> {
  const root = fileURLToPath(new URL('.', import.meta.url));
  const coinbase = compileContract('CoinbaseWalletFactory', { root });
  const maker = await deployCode(node, coinbase.abi as Abi, coinbase.bytecode, []);
  const passkey = concat([keccak256('0x01'), keccak256('0x02')]);
  const created = encodeFunctionData({
    abi: parseAbi(['function createAccount(bytes[] owners, uint256 nonce) returns (address)']),
    args: [[passkey], 0n],
  });
  await record('deployment of a Coinbase wallet', { from: OPERATOR, to: maker, data: created });
  const [factory, singleton, handler] = await deploySafe(node, safe);
  const terms = [[ADMIN], 1n, zeroAddress, '0x', handler, zeroAddress, 0n, zeroAddress];
  const setup = encodeFunctionData({ abi: safe.Safe.abi, functionName: 'setup', args: terms });
  const data = encodeFunctionData({
    abi: safe.SafeProxyFactory.abi,
    ...{ functionName: 'createProxyWithNonce', args: [singleton, setup, 1n] },
  });
  await record('deployment of a Safe', { from: OPERATOR, to: factory, data });
}

async function deploySafe(node: Node, safe: SafeContracts): Promise<[Hex, Hex, Hex]> {
  const make = ({ abi, bytecode }: Compiled) => deployCode(node, abi, bytecode, []);
  return [
    await make(safe.SafeProxyFactory),
    await make(safe.Safe),
    await make(safe.CompatibilityFallbackHandler),
  ];
}
