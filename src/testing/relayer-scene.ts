import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import {
  applied,
  type Hex,
  type RequestPayloads,
  takeOutcomes,
} from '#settlement/chain-requests.ts';
import { readEvents } from '#settlement/contract/contract-events.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import type { TestDatabase } from '#testing/database.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';
import type { TestNetwork } from '#testing/test-network.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';

/** A proxy in front of the test's chain. A test can make it misbehave. */
interface OddNode {
  readonly url: string;
  stop(): Promise<void>;
}

type StartOddNode<Node extends OddNode> = (target: string) => Promise<Node>;

interface OddWorldOptions {
  /** Number of nodes; default: one. */
  readonly nodes?: number;
  readonly config?: Partial<NetworkConfig>;
  /** True to use the block announcements of the chain's own node. */
  readonly announces?: boolean;
  /** Default: a new one. */
  readonly database?: TestDatabase;
}

/**
 * A world whose relayer reaches its chain only through these nodes. They stop when the world stops.
 */
export interface OddWorld<Node> extends RelayerWorld {
  readonly nodes: readonly Node[];
}

export async function startOddWorld<Node extends OddNode>(
  startNode: StartOddNode<Node>,
  options: OddWorldOptions = {},
): Promise<OddWorld<Node>> {
  const nodes: Node[] = [];
  const world = await startRelayerWorld(async (rpcUrl) => {
    while (nodes.length < (options.nodes ?? 1)) nodes.push(await startNode(rpcUrl));
    const heads = options.announces === true ? { headsUrl: rpcUrl.replace('http', 'ws') } : {};
    return { ...options.config, ...heads, rpcUrls: nodes.map(({ url }) => url) };
  }, options.database);
  const stop = async () => {
    await world.stop();
    await Promise.all(nodes.map((node) => node.stop()));
  };
  return { ...world, nodes, stop };
}

/** An {@link OddWorld} with a payer, blocks that are mined automatically, and a running relayer. */
export interface BusyWorld<Node> extends OddWorld<Node> {
  readonly payer: PrivateKeyAccount;
}

export async function startBusyWorld<Node extends OddNode>(
  startNode: StartOddNode<Node>,
  options: OddWorldOptions & { readonly blockMs: number },
): Promise<BusyWorld<Node>> {
  const world = await startOddWorld(startNode, options);
  const [payer] = (await world.network.addPayers(1)) as [PrivateKeyAccount];
  const stopMining = world.network.mineEvery(options.blockMs);
  world.startRelayer();
  const stop = async () => {
    await stopMining();
    await world.stop();
  };
  return { ...world, payer, stop };
}

interface Sale {
  readonly payer: PrivateKeyAccount;
  readonly amount: bigint;
}

/**
 * Waits until the sale is settled, and books its payment.
 * @returns the payment's id
 */
export async function settleSale(
  world: RelayerWorld,
  sale: Sale,
  waitMs?: number,
): Promise<string> {
  const intent = await world.pay(sale);
  const [outcome] = await world.outcomes([intent], waitMs);
  assert.equal(outcome?.succeeded, true);
  return world.recordPayment(intent);
}

export async function askRefund(
  world: RelayerWorld,
  paymentId: string,
  amount: bigint,
): Promise<string> {
  return world.ask({ kind: 'refund', payload: await refundPayload(world, paymentId, amount) });
}

/** Returns the payload of a settlement job for a refund with a new reference. */
export async function refundPayload(
  { database }: Pick<RelayerWorld, 'database'>,
  paymentId: string,
  amount: bigint,
): Promise<RequestPayloads['refund']> {
  const [payment] = await database.db.query<{ number: bigint }>(
    'select settlement_number as number from payments where id = $1',
    [paymentId],
  );
  const paymentNumber = String(present(payment, 'payment').number);
  const reference: Hex = `0x${randomBytes(16).toString('hex')}`;
  return { paymentId, paymentNumber, amount: String(amount), reference };
}

/** Requests a withdrawal to the merchant's own wallet. */
export function askWithdrawal(world: RelayerWorld, amount: bigint): Promise<string> {
  const { merchantNumber, wallet } = world.merchant;
  const payload = {
    merchantNumber: merchantNumber.toString(),
    wallet: wallet.address,
    amount: amount.toString(),
  };
  return world.ask({ kind: 'withdrawal', payload });
}

/** Returns the settlement numbers of settled payments, in the chain's order. */
export async function settledNumbers({ chain, config }: TestNetwork): Promise<bigint[]> {
  const { number: toBlock } = await chain.newest();
  const logs = await chain.logs({ fromBlock: 0n, toBlock });
  return readEvents(config, logs).flatMap((event) =>
    event.event === 'PaymentSettled' ? [event.number] : [],
  );
}

export async function haveOutcomes(world: RelayerWorld, ids: readonly string[]): Promise<boolean> {
  const outcomes = await Promise.all(ids.map((id) => world.outcome(id)));
  return outcomes.every((outcome) => outcome !== null);
}

/** Applies the relayer's results as the payments domain does. */
export async function applyOutcomes({ database }: RelayerWorld): Promise<void> {
  await database.db.transaction(async (tx) => {
    const outcomes = await takeOutcomes(tx, 'payment', 10);
    const ids = outcomes.map((outcome) => outcome.requestId);
    await applied(tx, ids, new Date());
  });
}

/** Minimum time limit, because a busy machine may mine faster than its relayer can follow. */
const LEAST_MS = 20_000;

/**
 * Mines blocks one by one, with pauses before and after each, until `check` succeeds.
 * @throws after `blocks` blocks, but never before {@link LEAST_MS}
 */
export async function mineUntil(
  network: TestNetwork,
  done: () => Promise<boolean>,
  { blocks, everyMs }: { readonly blocks: number; readonly everyMs: number },
): Promise<void> {
  const began = performance.now();
  for (let mined = 0; mined < blocks || performance.now() - began < LEAST_MS; mined++) {
    if (await done()) return;
    await sleep(everyMs / 2);
    await network.mine();
    await sleep(everyMs / 2);
  }
  throw new Error('never came true');
}

type Switch = 'pauseSettling' | 'unpauseSettling' | 'pauseRefunding' | 'unpauseRefunding';

/** Returns the account that may use this switch: the guardian pauses, the admin resumes. */
function switcher({ guardian, admin }: TestNetwork, name: Switch): PrivateKeyAccount {
  return name.startsWith('pause') ? guardian : admin;
}

const switchData = (functionName: Switch) =>
  encodeFunctionData({ abi: settlementAbi, functionName });

/** Pauses or resumes part of the contract, in a block of its own. */
export async function switchContract(network: TestNetwork, name: Switch): Promise<void> {
  await network.send(switcher(network, name), network.config.settlement, switchData(name));
}

/**
 * Pauses or resumes like {@link switchContract}, but leaves the transaction in the pool. The node
 * orders transactions by fee, so one block can pause before the relayer's transaction and resume
 * after it.
 */
export async function postSwitch(network: TestNetwork, name: Switch, fee: bigint): Promise<void> {
  const { config, rpc, chain } = network;
  const by = switcher(network, name);
  const nonce = Number((await chain.nonces([by.address]))[0] ?? 0n);
  const raw = await by.signTransaction({
    type: 'eip1559',
    chainId: config.chainId,
    nonce,
    to: config.settlement,
    data: switchData(name),
    gas: 200_000n,
    maxFeePerGas: fee,
    maxPriorityFeePerGas: 0n,
  });
  await rpc.call('eth_sendRawTransaction', [raw]);
}

/** Signs a transaction by which the payer changes the allowance. Its fees are high. */
export function signApproval(
  { config }: TestNetwork,
  payer: PrivateKeyAccount,
  { nonce, amount }: { readonly nonce: number; readonly amount: bigint },
): Promise<Hex> {
  const args = [config.settlement, amount] as const;
  return payer.signTransaction({
    type: 'eip1559',
    chainId: config.chainId,
    nonce,
    to: config.usdc,
    data: encodeFunctionData({ abi: testUsdcAbi, functionName: 'approve', args }),
    gas: 100_000n,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 5_000_000_000n,
  });
}
