import assert from 'node:assert/strict';
import { encodeFunctionData } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import type { SignedIn } from '#testkit/apis/store-server.ts';
import type { TestNetwork } from '#testkit/network/test-network.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';

export interface ShownMovement {
  readonly id: string;
  readonly type: 'payment' | 'refund' | 'sent' | 'received' | 'faucet';
  readonly status: 'pending' | 'succeeded';
  readonly amount: number;
  readonly fee: number;
  readonly with: string | null;
  readonly payment: string | null;
  readonly tx_hash: string | null;
  readonly created: string;
}

/** Reads all pages of a wallet's movements. */
export async function movementsOf(me: Caller, limit = 100): Promise<ShownMovement[]> {
  const movements: ShownMovement[] = [];
  let cursor: unknown = null;
  do {
    const after = cursor === null ? '' : `&cursor=${cursor}`;
    const { status, body } = await me.get(`/movements?limit=${limit}${after}`);
    assert.equal(status, 200, JSON.stringify(body));
    movements.push(...(body.data as unknown as ShownMovement[]));
    cursor = body.next_cursor;
  } while (cursor !== null);
  return movements;
}

export const typesOf = (movements: readonly ShownMovement[]) => movements.map(({ type }) => type);

function sumOf(movements: readonly ShownMovement[]): number {
  const isOut = (type: string) => type === 'payment' || type === 'sent';
  return movements.reduce((sum, { type, amount }) => sum + (isOut(type) ? -amount : amount), 0);
}

type Wallet = Pick<SignedIn, 'account' | 'me'>;

/** Asserts that the movements of a wallet that began empty add up to its balance. */
export async function assertAddsUp(
  network: TestNetwork,
  { account, me }: Wallet,
): Promise<ShownMovement[]> {
  const movements = await movementsOf(me);
  assert.equal(new Set(movements.map(({ id }) => id)).size, movements.length, 'an id twice');
  assert.equal(sumOf(movements), Number(await network.usdcOf(account.address)));
  const times = movements.map(({ created }) => created);
  assert.deepEqual(times, times.toSorted().toReversed(), 'newest first');
  return movements;
}

export interface TestTransfer {
  readonly from: PrivateKeyAccount;
  readonly to: PrivateKeyAccount;
  readonly amount: bigint;
}

export function transferData({ to, amount }: Pick<TestTransfer, 'to' | 'amount'>): Hex {
  const args = [to.address, amount] as const;
  return encodeFunctionData({ abi: testUsdcAbi, functionName: 'transfer', args });
}

/** Transfers USDC in a block of its own. */
export function transferUsdc(network: TestNetwork, transfer: TestTransfer): Promise<void> {
  return network.send(transfer.from, network.config.usdc, transferData(transfer));
}
