// Measures the gas of real transactions on a real node, intrinsic cost and calldata included.
// `node contracts/gas.ts` measures and writes gas.json; contracts.test.ts compares with it.
//
// Steady state: payers, merchants, fees and the contract's own token balance hold something
// already, each payment has another payer, every payer has an unlimited allowance and a policy with
// a cap per period, and the bitmap word of the payment numbers is in use.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type Abi,
  concat,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  keccak256,
  maxUint256,
  numberToHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { settlementAbi, settlementBytecode } from './artifacts/Settlement.ts';
import { testUsdcAbi, testUsdcBytecode } from './artifacts/TestUSDC.ts';
import { compileContract } from './compile.ts';
import { packPayment, paymentLeaf, paymentProof, splitPayments } from './payment-tree.ts';
import { startTestNode, type TestNode } from './test/test-node.ts';

/** Gas by operation. Batches: per payment. */
export type GasTable = Record<string, number>;

/** What the operations may cost at most on a plain token. */
export const GAS_CEILINGS: GasTable = {
  batchOf100: 21_500,
  batchOf10: 29_500,
  single: 92_500,
  firstRefundOfBatchOf100: 82_500,
  secondRefundOfBatchOf100: 82_500,
};

const gasFile = fileURLToPath(new URL('./gas.json', import.meta.url));

/** The largest batch that is measured; as many wallets pay. */
const PAYERS = 100;

/** Not touched by rounding: all three fees are above zero. */
const AMOUNT = 2_500_000n;

/** As random as real ones: calldata costs by its bytes. */
const REFERENCE = `0x${keccak256('0x').slice(-32)}` as const;

const ADMIN = numberToHex(0xad_0000, { size: 20 });
const OPERATOR = numberToHex(0x0b_0000, { size: 20 });

type Stage = {
  node: TestNode;
  settlement: Hex;
  token: Hex;
  payers: readonly Hex[];
  /** The number of the next payment. */
  next: bigint;
};

/** Deploys everything anew on a chain of its own and measures each operation. */
export async function measureGas(): Promise<Record<'plainToken' | 'testUsdc', GasTable>> {
  const plain = compileContract('test/PlainToken');
  const plainData = encodeDeployData({ abi: plain.abi as Abi, bytecode: plain.bytecode });
  const usdcData = encodeDeployData({
    abi: testUsdcAbi,
    bytecode: testUsdcBytecode,
    args: [ADMIN],
  });
  return { plainToken: await measureOn(plainData), testUsdc: await measureOn(usdcData) };
}

/** The committed table. */
export function readGasTable(): unknown {
  return JSON.parse(readFileSync(gasFile, 'utf8'));
}

async function measureOn(tokenData: Hex): Promise<GasTable> {
  await using node = await startTestNode();
  const stage = await prepare(node, tokenData);
  await settle(stage, PAYERS, () => 1);
  const table: GasTable = {
    batchOf100: (await settle(stage, 100, () => 1)).perPayment,
    batchOf100With10Merchants: (await settle(stage, 100, (i) => 1 + Math.floor(i / 10))).perPayment,
    batchOf10: (await settle(stage, 10, () => 1)).perPayment,
  };
  const single = await settle(stage, 1, () => 1);
  table.single = single.perPayment;
  const hundred = await settle(stage, 100, () => 1);
  table.firstRefundOfBatchOf100 = await refund(stage, hundred, 0);
  table.secondRefundOfBatchOf100 = await refund(stage, hundred, 1);
  table.firstRefundOfSingle = await refund(stage, single, 0);
  return table;
}

async function prepare(node: TestNode, tokenData: Hex): Promise<Stage> {
  for (const address of [ADMIN, OPERATOR]) await fund(node, address);
  const token = await deploy(node, tokenData);
  const setup = {
    admin: ADMIN,
    operators: [OPERATOR],
    registrar: ADMIN,
    guardian: ADMIN,
    treasurer: ADMIN,
    adminDelay: 86_400,
    ratesDelay: 86_400,
    walletDelay: 86_400,
    payoutHold: 0,
    hourlyCeiling: 2 ** 24 - 1,
    rates: { acquirer: 30, protocol: 20, cashback: 5 },
  };
  const settlement = await deploy(
    node,
    encodeDeployData({ abi: settlementAbi, bytecode: settlementBytecode, args: [token, setup] }),
  );
  const payers = Array.from({ length: PAYERS }, (_, i) => payerAddress(i));
  const stage: Stage = { node, settlement, token, payers, next: 1n };
  for (let i = 1; i <= 10; i++) await registerMerchant(stage, i);
  for (const payer of payers) await preparePayer(stage, payer);
  // A few payments of earlier days: every word and balance is in use.
  for (let i = 1; i <= 10; i++) await settle(stage, 1, () => i);
  return stage;
}

/** Addresses as random as real ones, so that calldata costs what it costs in life. */
function payerAddress(index: number): Hex {
  return `0x${keccak256(numberToHex(index)).slice(-40)}`;
}

async function fund(node: TestNode, address: Hex): Promise<void> {
  await node.client.setBalance({ address, value: 10n ** 20n });
}

async function deploy(node: TestNode, data: Hex): Promise<Hex> {
  const { contractAddress } = await node.send({ from: ADMIN, data });
  if (!contractAddress) throw new Error('nothing was deployed');
  return contractAddress;
}

async function registerMerchant(stage: Stage, index: number): Promise<void> {
  const account = privateKeyToAccount(numberToHex(0x5eed + index, { size: 32 }));
  const reference = keccak256(numberToHex(index));
  const message = { reference, wallet: account.address, deadline: maxUint256 };
  const signature = await account.signTypedData({
    domain: {
      name: 'Tapline Settlement',
      version: '1',
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
  await node.send({ from: payer, to: token, data: encodeFunctionData(mint) });
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

type Settled = { batch: number; payments: Hex; perPayment: number };

async function settle(
  stage: Stage,
  count: number,
  merchantOf: (index: number) => number,
): Promise<Settled> {
  const payments = concat(
    stage.payers.slice(0, count).map((payer, i) =>
      packPayment({
        number: stage.next + BigInt(i),
        payer,
        merchant: merchantOf(i),
        amount: AMOUNT,
        orderId: `A${String(stage.next + BigInt(i)).padStart(7, '0')}`,
      }),
    ),
  );
  stage.next += BigInt(count);
  const validUntil = Number((await stage.node.client.getBlock()).timestamp) + 60;
  const call = {
    abi: settlementAbi,
    functionName: 'settleBatch',
    args: [payments, validUntil],
  } as const;
  const to = stage.settlement;
  const receipt = await stage.node.send({ from: OPERATOR, to, data: encodeFunctionData(call) });
  const settled = receipt.logs.filter((log) => log.address === to.toLowerCase()).length;
  if (settled !== count) throw new Error(`${settled} of ${count} payments settled`);
  const batch = await stage.node.client.readContract({
    address: to,
    abi: settlementAbi,
    functionName: 'batchCount',
  });
  return { batch, payments, perPayment: Math.ceil(Number(receipt.gasUsed) / count) };
}

async function refund(stage: Stage, settled: Settled, index: number): Promise<number> {
  const packed = splitPayments(settled.payments);
  // Any leaf of a full tree has a proof of the same length.
  const payment = packed[0];
  if (payment === undefined) throw new Error('an empty batch has no refunds');
  const proof = paymentProof(packed.map(paymentLeaf), 0);
  const amount = 1_000_000n;
  const data = encodeFunctionData({
    abi: settlementAbi,
    functionName: 'refund',
    args: [BigInt(settled.batch), payment, proof, amount, BigInt(index) * amount, REFERENCE],
  });
  const receipt = await stage.node.send({ from: OPERATOR, to: stage.settlement, data });
  return Number(receipt.gasUsed);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const table = await measureGas();
  writeFileSync(gasFile, `${JSON.stringify(table, null, 2)}\n`);
  console.table(table);
}
