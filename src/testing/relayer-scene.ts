import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
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
import { assertSucceeded, type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';
import { settlementCall, type TestNetwork } from '#testing/test-network.ts';
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
  const payer = await world.network.addPayer();
  world.network.mineEvery(options.blockMs);
  world.startRelayer();
  return { ...world, payer };
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
  assertSucceeded(await world.outcomes([intent], waitMs));
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

/** Asserts that payments of the default amount, the only ones so far, were settled once each. */
export async function assertSettledOnce(
  world: RelayerWorld,
  ids: readonly string[],
): Promise<void> {
  assertSucceeded(await world.outcomes(ids));
  const numbers = await settledNumbers(world.network);
  assert.equal(numbers.length, ids.length);
  assert.equal(new Set(numbers).size, ids.length);
  assert.equal(await world.balance(), BigInt(ids.length) * 1_000_000n);
}

/** Returns the newest block with a transaction whose result was read. */
export function minedBlock(world: RelayerWorld): Promise<number> {
  return world.count(
    `select max(block_number) as count from chain_transactions where status = 'mined'`,
  );
}

/**
 * Applies the job's result once its transaction is mined: after the relayer has read the
 * transaction, and before it writes the result. @returns a function that ends this.
 */
export async function applyOnceMined(
  { database: { db } }: RelayerWorld,
  kind: 'payment' | 'refund',
): Promise<() => Promise<unknown>> {
  await db.query(
    `create function apply_once_mined() returns trigger language plpgsql as $$ begin
       update chain_requests set applied_at = now()
       where transaction_id = new.id and status = 'succeeded' and applied_at is null;
       return new;
     end $$`,
  );
  await db.query(
    `create trigger apply_once_mined after update on chain_transactions for each row
       when (new.kind = '${kind}' and new.status = 'mined') execute function apply_once_mined()`,
  );
  return () => db.query('drop function apply_once_mined cascade');
}

/** Adds the account to which the contract's merchant belongs. Default: the account that sells. */
export async function addAccount(
  { database, merchant }: Pick<RelayerWorld, 'database' | 'merchant'>,
  accountId = 'acct_test',
): Promise<void> {
  await database.db.query(
    `with account as (
       insert into accounts (id, name, created) values ($1, 'Test', now()) on conflict do nothing
     )
     insert into account_modes (account_id, livemode, merchant_number, settlement_wallet, live_at)
     values ($1, false, $2, $3, now()) on conflict do nothing`,
    [accountId, merchant.merchantNumber, merchant.wallet.address.toLowerCase()],
  );
}

/** Applies the relayer's results as the payments domain does. */
export async function applyOutcomes({ database }: RelayerWorld): Promise<void> {
  await database.db.transaction(async (tx) => {
    const outcomes = await takeOutcomes(tx, 'payment', 10);
    const ids = outcomes.map((outcome) => outcome.requestId);
    await applied(tx, ids, new Date());
  });
}

type Switch = 'pauseSettling' | 'unpauseSettling' | 'pauseRefunding' | 'unpauseRefunding';

/** Returns the account that may use this switch: the guardian pauses, the admin resumes. */
function switcher({ guardian, admin }: TestNetwork, name: Switch): PrivateKeyAccount {
  return name.startsWith('pause') ? guardian : admin;
}

/** Pauses or resumes part of the contract, in a block of its own. */
export async function switchContract(network: TestNetwork, name: Switch): Promise<void> {
  await network.callSettlement(switcher(network, name), name);
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
    data: settlementCall(name),
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
