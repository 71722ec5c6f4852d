// Measures the gas of real transactions on a real node, including intrinsic cost and calldata.
// `node contracts/measure-gas.ts` measures and writes gas.json; contracts.test.ts compares with
// it. The measurements show the steady state: payers, merchants, fees and the contract's own token
// balance are already nonzero, each payment has a different payer, every payer has an unlimited
// allowance and a policy with a cap per period, and the bitmap word of the payment numbers is in
// use. Every second batch merges at least one node of the range, so the result for batches is the
// median of several consecutive ones.

import { readFileSync, writeFileSync } from 'node:fs';
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
  stringToHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { settlementAbi, settlementBytecode } from './artifacts/Settlement.ts';
import { settlementLensAbi } from './artifacts/SettlementLens.ts';
import { testUsdcAbi, testUsdcBytecode } from './artifacts/TestUSDC.ts';
import { nodeIndexOf, peaksOf } from './batch-range.ts';
import { compileContract } from './compile.ts';
import { plannedCreations, settlementCreation } from './deployment.ts';
import { packPayment, paymentLeaf, paymentProof, splitPayments } from './payment-tree.ts';
import { deployFiatToken, FIAT_TOKEN_MISSING } from './test/fiat-token.ts';
import { startTestNode, type TestNode } from './test/test-node.ts';

/** Gas by operation; for batches, gas per payment. */
export type GasTable = Record<string, number>;

/**
 * The tokens to measure with. Real USDC is measured only if its code is available
 * (test/fiat-token.ts).
 */
export type MeasuredToken = 'plainToken' | 'testUsdc' | 'realUsdc';

/** The maximum gas of each operation. */
export const GAS_CEILINGS: Record<'plainToken' | 'realUsdc', GasTable> = {
  plainToken: {
    batchOf100: 21_500,
    batchOf10: 29_500,
    single: 92_500,
    firstRefundOfBatchOf100: 85_500,
    secondRefundOfBatchOf100: 68_500,
  },
  realUsdc: {
    batchOf100: 26_800,
    batchOf100AsSold: 27_800,
    batchOf10: 34_100,
    single: 97_000,
    firstRefundOfBatchOf100: 98_000,
    secondRefundOfBatchOf100: 81_000,
    firstRefundAfterAMillionBatches: 112_000,
    secondRefundAfterAMillionBatches: 96_000,
    laterWithdrawal: 82_000,
  },
};

const gasFile = fileURLToPath(new URL('./gas.json', import.meta.url));

/**
 * Consecutive batches. Among 16 of them, nodes that cover up to 16 batches occur as often as in the
 * long run.
 */
const MEASURED_BATCHES = 16;

/**
 * Height of the range's highest peak after a million batches. A refund's path grows by one node
 * each time the number of batches doubles.
 */
const MILLION_HEIGHT = 20;

/** Size of the largest measured batch, and number of paying wallets. */
const PAYERS = 100;

/** Large enough that no fee is rounded down to zero. */
const AMOUNT = 2_500_000n;

/** Looks random like a real reference, because the price of calldata depends on its bytes. */
const REFERENCE = `0x${keccak256('0x').slice(-32)}` as const;

export const ADMIN = numberToHex(0xad_0000, { size: 20 });
export const OPERATOR = numberToHex(0x0b_0000, { size: 20 });

/** Deploys real USDC, whose proxy makes its deployer the admin. */
const DEPLOYER = numberToHex(0xde_0000, { size: 20 });

/** A model of real sales: the number of merchants, and how many of ten intents are paid. */
const SALES = { merchants: 16, paidOfTen: 6, batches: 8 };

export type Stage = {
  node: TestNode;
  settlement: Hex;
  token: Hex;
  payers: readonly Hex[];
  /** The number of the next payment. */
  next: bigint;
};

/** Deploys all contracts to a chain of their own and measures each operation. */
export async function measureGas(): Promise<Partial<Record<MeasuredToken, GasTable>>> {
  const plain = compileContract('test/PlainToken');
  const plainData = encodeDeployData({ abi: plain.abi as Abi, bytecode: plain.bytecode });
  const usdcData = encodeDeployData({
    abi: testUsdcAbi,
    bytecode: testUsdcBytecode,
    args: [ADMIN],
  });
  const withoutReal = {
    plainToken: await measureOn((node) => deploy(node, plainData)),
    testUsdc: await measureOn((node) => deploy(node, usdcData)),
  };
  if (FIAT_TOKEN_MISSING !== undefined) return withoutReal;
  return { ...withoutReal, realUsdc: await measureOn(deployRealUsdc) };
}

/** Returns the gas table of other Settlement bytecode, with real USDC. */
export function measureOnRealUsdc(bytecode: Hex): Promise<GasTable> {
  return measureOn(deployRealUsdc, bytecode);
}

/** Returns the committed gas table. */
export function readGasTable(): Record<MeasuredToken, GasTable> {
  return JSON.parse(readFileSync(gasFile, 'utf8')) as Record<MeasuredToken, GasTable>;
}

type DeployToken = (node: TestNode) => Promise<Hex>;

async function measureOn(
  deployToken: DeployToken,
  bytecode: Hex = settlementBytecode,
): Promise<GasTable> {
  await using node = await startTestNode();
  const stage = await prepare(node, deployToken, bytecode);
  await settle(stage, PAYERS, () => 1);
  const table: GasTable = {
    batchOf100: await medianOf(stage, 100, () => 1),
    batchOf100With10Merchants: await medianOf(stage, 100, (i) => 1 + Math.floor(i / 10)),
    batchOf10: await medianOf(stage, 10, () => 1),
    single: await medianOf(stage, 1, () => 1),
  };
  const [single, hundred] = [await settleFresh(stage, 1), await settleFresh(stage, 100)];
  table.firstRefundOfBatchOf100 = await refund(stage, hundred, 0);
  table.secondRefundOfBatchOf100 = await refund(stage, hundred, 1);
  table.firstRefundOfSingle = await refund(stage, single, 0);
  await withdraw(stage, 1n);
  table.laterWithdrawal = await withdraw(stage, 2n);
  table.batchOf100AsSold = await settleSales(stage);
  const path = await skipBatches(stage);
  const last = { ...(await settle(stage, 100, () => 1)), path };
  table.firstRefundAfterAMillionBatches = await refund(stage, last, 0);
  table.secondRefundAfterAMillionBatches = await refund(stage, last, 1);
  return table;
}

/** Returns the median gas per payment over several batches of this size. */
async function medianOf(
  stage: Stage,
  count: number,
  merchantOf: (index: number) => number,
): Promise<number> {
  const all: number[] = [];
  for (let i = 0; i < MEASURED_BATCHES; i++) {
    all.push((await settle(stage, count, merchantOf)).perPayment);
  }
  return all.sort((a, b) => a - b)[MEASURED_BATCHES / 2] ?? 0;
}

/**
 * Settles a batch with an odd number. Such a batch is a peak of its own, so its path is empty.
 * (Most recent sales have a short path.)
 */
async function settleFresh(stage: Stage, count: number): Promise<Settled> {
  const settled = await settle(stage, count, () => 1);
  return settled.batch % 2 === 1 ? settled : settle(stage, count, () => 1);
}

/**
 * Writes storage as if 2^20 - 1 batches had been settled, so that there is a peak of every height
 * below 20. @returns the path of the next batch, which merges all of them.
 */
async function skipBatches({ node, settlement }: Stage): Promise<Hex[]> {
  const { client } = node;
  const slotOf = async (value: Hex) => {
    for (let slot = 0; ; slot++) {
      const index = numberToHex(slot, { size: 32 });
      const held = await client.getStorageAt({ address: settlement, slot: index });
      if (held === value) return slot;
    }
  };
  const store = (slot: number, value: Hex) =>
    client.setStorageAt({ address: settlement, index: numberToHex(slot, { size: 32 }), value });
  const contract = { address: settlement, abi: settlementAbi } as const;
  const word = await client.readContract({ ...contract, functionName: 'ledgerWord' });
  const counted = await client.readContract({ ...contract, functionName: 'rangeNode', args: [1n] });
  const nodes = (await slotOf(counted)) - 1;
  const batches = 2n ** BigInt(MILLION_HEIGHT) - 1n;
  const skipped = (word & ~(COUNT_MASK << COUNT_SHIFT)) | (batches << COUNT_SHIFT);
  await store(await slotOf(numberToHex(word, { size: 32 })), numberToHex(skipped, { size: 32 }));
  const peaks = peaksOf(batches);
  for (const peak of peaks) await store(nodes + Number(nodeIndexOf(peak)), peakNode(peak));
  return peaks.map(peakNode);
}

function peakNode(peak: bigint): Hex {
  return keccak256(stringToHex(`peak ${peak}`));
}

/** Bit position of the number of batches in the ledger word (PackedLedger.sol). */
const COUNT_SHIFT = 116n;
const COUNT_MASK = 2n ** 36n - 1n;

/**
 * Returns the gas per payment in batches of 100 that resemble real sales: numbers are drawn when an
 * intent is created, some intents are never paid, merchants come in random order, and the relayer
 * sorts by storage slot.
 */
async function settleSales(stage: Stage): Promise<number> {
  const dice = (purpose: string, number: bigint) =>
    BigInt(keccak256(stringToHex(`${purpose} ${number}`)));
  const paid: Sale[] = [];
  for (let number = stage.next; paid.length < PAYERS * SALES.batches; number++) {
    stage.next = number + 1n;
    if (dice('paid', number) % 10n >= BigInt(SALES.paidOfTen)) continue;
    paid.push({ number, merchant: 1 + Number(dice('merchant', number) % BigInt(SALES.merchants)) });
  }
  let total = 0;
  for (let start = 0; start < paid.length; start += PAYERS) {
    const batch = paid.slice(start, start + PAYERS).sort(bySlot);
    total += (await settleExactly(stage, batch)).perPayment;
  }
  return Math.ceil(total / SALES.batches);
}

type Sale = { number: bigint; merchant: number };

/** Sorts as the relayer does (src/settlement/relayer/send/plan-batches.ts). */
function bySlot(a: Sale, b: Sale): number {
  return Number((a.number >> 8n) - (b.number >> 8n)) || a.merchant - b.merchant;
}

async function prepare(node: TestNode, deployToken: DeployToken, bytecode: Hex): Promise<Stage> {
  const stage = await createStage(node, deployToken, bytecode);
  for (let i = 1; i <= SALES.merchants; i++) await registerMerchant(stage, i);
  for (const payer of stage.payers) await preparePayer(stage, payer);
  // Settles a payment for each merchant first, so that every word and balance is nonzero.
  for (let i = 1; i <= SALES.merchants; i++) await settle(stage, 1, () => i);
  return stage;
}

/** Deploys the token and the settlement contract. */
export async function createStage(
  node: TestNode,
  deployToken: DeployToken,
  bytecode: Hex = settlementBytecode,
): Promise<Stage> {
  for (const address of [ADMIN, OPERATOR, DEPLOYER]) await fund(node, address);
  const token = await deployToken(node);
  const setup = {
    proposers: [ADMIN],
    steward: ADMIN,
    operators: [OPERATOR],
    registrar: ADMIN,
    guardians: [ADMIN],
    watchers: [],
    treasurer: ADMIN,
    governanceDelay: 86_400,
    walletDelay: 86_400,
    payoutHold: 0,
    hourlyCeiling: 2 ** 24 - 1,
    rates: { acquirer: 30, protocol: 20, cashback: 5 },
  };
  const args = [token, setup] as const;
  const settlement = await deploy(node, settlementCreation(args, bytecode));
  const { lens, timelock } = plannedCreations(args);
  for (const data of [lens, timelock]) await node.send({ from: ADMIN, to: settlement, data });
  const payers = Array.from({ length: PAYERS }, (_, i) => payerAddress(i));
  return { node, settlement, token, payers, next: 1n };
}

export function deployRealUsdc(node: TestNode): Promise<Hex> {
  const chain = {
    deploy: (data: Hex) => deploy(node, data, DEPLOYER),
    call: (to: Hex, data: Hex) => node.send({ from: ADMIN, to, data }),
  };
  const roles = { owner: ADMIN, minter: ADMIN, pauser: ADMIN, blacklister: ADMIN };
  return deployFiatToken(chain, roles);
}

/**
 * Returns an address that looks random like a real one, so that calldata costs as much as in
 * production.
 */
function payerAddress(index: number): Hex {
  return `0x${keccak256(numberToHex(index)).slice(-40)}`;
}

export async function fund(node: TestNode, address: Hex): Promise<void> {
  await node.client.setBalance({ address, value: 10n ** 20n });
}

export async function deploy(node: TestNode, data: Hex, from = ADMIN): Promise<Hex> {
  const { contractAddress } = await node.send({ from, data });
  if (!contractAddress) throw new Error('nothing was deployed');
  return contractAddress;
}

export function merchantWallet(index: number) {
  return privateKeyToAccount(numberToHex(0x5eed + index, { size: 32 }));
}

export async function registerMerchant(stage: Stage, index: number): Promise<void> {
  const account = merchantWallet(index);
  const reference = keccak256(numberToHex(index));
  const message = { reference, wallet: account.address, deadline: maxUint256 };
  const signature = await account.signTypedData({
    domain: {
      name: 'Tapline Settlement',
      version: '2',
      chainId: stage.node.client.chain.id,
      verifyingContract: stage.settlement,
    },
    types: {
      MerchantConsent: [
        { name: 'reference', type: 'bytes32' },
        { name: 'wallet', type: 'address' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'MerchantConsent',
    message,
  });
  const data = encodeFunctionData({
    abi: settlementAbi,
    functionName: 'registerMerchant',
    args: [reference, account.address, maxUint256, signature],
  });
  await stage.node.send({ from: ADMIN, to: stage.settlement, data });
}

export async function preparePayer(stage: Stage, payer: Hex): Promise<void> {
  const { node, settlement, token } = stage;
  await fund(node, payer);
  const mint = { abi: testUsdcAbi, functionName: 'mint', args: [payer, 10n ** 13n] } as const;
  await node.send({ from: ADMIN, to: token, data: encodeFunctionData(mint) });
  const approve = {
    abi: testUsdcAbi,
    functionName: 'approve',
    args: [settlement, maxUint256],
  } as const;
  await node.send({ from: payer, to: token, data: encodeFunctionData(approve) });
  const policy = {
    perPayment: 10 ** 12,
    perPeriod: 10 ** 13,
    periodSeconds: 86_400,
    expiresAt: 2 ** 40 - 1,
    maxFeeRate: 100,
  };
  const setPolicy = { abi: settlementAbi, functionName: 'setPolicy', args: [policy] } as const;
  await node.send({ from: payer, to: settlement, data: encodeFunctionData(setPolicy) });
}

/** `path` leads from the batch up to its node; undefined if the batch is its own node. */
type Settled = { batch: number; payments: Hex; perPayment: number; path?: readonly Hex[] };

/** Settles payments with consecutive numbers. */
function settle(
  stage: Stage,
  count: number,
  merchantOf: (index: number) => number,
): Promise<Settled> {
  const first = stage.next;
  stage.next += BigInt(count);
  const sales = Array.from({ length: count }, (_, i) => {
    return { number: first + BigInt(i), merchant: merchantOf(i) };
  });
  return settleExactly(stage, sales);
}

export async function settleExactly(stage: Stage, sales: readonly Sale[]): Promise<Settled> {
  const payments = concat(
    sales.map(({ number, merchant }, i) =>
      packPayment({
        number,
        payer: stage.payers[i] ?? ADMIN,
        merchant,
        amount: AMOUNT,
        orderId: `A${String(number).padStart(7, '0')}`,
      }),
    ),
  );
  const validUntil = Number((await stage.node.client.getBlock()).timestamp) + 60;
  const functionName = sales.length === 1 ? 'settlePaymentSeparately' : 'settleBatch';
  const call = { abi: settlementAbi, functionName, args: [payments, validUntil] } as const;
  const to = stage.settlement;
  const receipt = await stage.node.send({ from: OPERATOR, to, data: encodeFunctionData(call) });
  const settled = receipt.logs.filter((log) => log.address === to.toLowerCase()).length;
  if (settled !== sales.length) throw new Error(`${settled} of ${sales.length} payments settled`);
  const batch = await stage.node.client.readContract({
    address: getContractAddress({ from: to, nonce: 1n }),
    abi: settlementLensAbi,
    functionName: 'batchCount',
  });
  return { batch, payments, perPayment: Math.ceil(Number(receipt.gasUsed) / sales.length) };
}

/** Withdraws as an operator, to the wallet of merchant 1. */
async function withdraw(stage: Stage, count: bigint): Promise<number> {
  // Spreads numbers over the whole range, so that they have as many bytes as real ones.
  const number = BigInt(keccak256(numberToHex(count))) >> 193n;
  const data = encodeFunctionData({
    abi: settlementAbi,
    functionName: 'withdraw',
    args: [1, merchantWallet(1).address, 1_000_000n, number],
  });
  const receipt = await stage.node.send({ from: OPERATOR, to: stage.settlement, data });
  return Number(receipt.gasUsed);
}

async function refund(stage: Stage, settled: Settled, index: number): Promise<number> {
  const packed = splitPayments(settled.payments);
  // Any leaf will do: in a full tree, all proofs have the same length.
  const payment = packed[0];
  if (payment === undefined) throw new Error('an empty batch has no refunds');
  const proof = [...paymentProof(packed.map(paymentLeaf), 0), ...(settled.path ?? [])];
  const amount = 1_000_000n;
  const data = encodeFunctionData({
    abi: settlementAbi,
    functionName: 'refund',
    args: [
      nodeIndexOf(BigInt(settled.batch)),
      payment,
      proof,
      amount,
      BigInt(index) * amount,
      REFERENCE,
    ],
  });
  const receipt = await stage.node.send({ from: OPERATOR, to: stage.settlement, data });
  return Number(receipt.gasUsed);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Keeps the committed values of operations that cannot be measured on this machine.
  const table = { ...readGasTable(), ...(await measureGas()) };
  writeFileSync(gasFile, `${JSON.stringify(table, null, 2)}\n`);
  console.table(table);
}
