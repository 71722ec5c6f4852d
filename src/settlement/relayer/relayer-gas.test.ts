import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesToHex, numberToHex, parseTransaction } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { gasOfContract } from '#settlement/network-config.ts';
import { batchGasLimit } from '#settlement/relayer/send/gas-limits.ts';
import { groupByGas } from '#settlement/relayer/send/plan-batches.ts';
import type { OpenRequest } from '#settlement/relayer/state-machine/transaction.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import { startOddWorld } from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import type { ProviderCall } from '#testkit/network/back-ends.ts';
import type { Behavior } from '#testkit/network/provider-behaviors.ts';
import { startProviderProxy } from '#testkit/network/provider-proxy.ts';

/** Gas limits: of a contract of version 1, of cancellations, and of numbers that are far apart. */

const database = databaseForTests(12);
let world: RelayerWorld;

afterEach(() => world.stop());

it('settles on a contract of version 1 with the gas that this contract allows', async () => {
  world = await startRelayerWorld(undefined, database, undefined, { payoutHold: 0, version: 1 });
  const { config } = world.network;
  const contract = gasOfContract(config, config.settlement);
  assert.deepEqual(contract, { pull: 200_000n, signature: 500_000n });
  world.network.mineEvery(50);
  world.startRelayer();
  const payer = await world.network.addPayer();
  assertSucceeded(await world.outcomes([await world.pay({ payer })]));
  const sql = "select gas_limit as gas from chain_transactions where kind = 'payment'";
  const [row] = await database.db.query<{ gas: bigint }>(sql);
  assert.equal(row?.gas, batchGasLimit({ payments: 1, words: 1, merchants: 1, contract }));
});

/** Answers calls for the gas of an empty transfer to oneself. */
const isCancellation = ({ method, params }: ProviderCall) =>
  method === 'eth_estimateGas' && (params[0] as { data?: string }).data === '0x';

/** Has a transaction replaced by a cancellation. @returns the gas limit of the cancellation. */
async function gasOfCancellation(behavior: Behavior): Promise<bigint> {
  const odd = await startOddWorld(startProviderProxy, { database });
  world = odd;
  for (const node of odd.nodes) node.behavior = behavior;
  const { network } = world;
  world.startRelayer();
  const leased = 'relayer_senders where lease_owner is not null';
  for (let i = 0; i < 300 && (await world.countRows(leased)) < 5; i++) {
    await network.mine();
    await sleep(30);
  }
  // Below the gas limit of the transfer, and above that of any cancellation here.
  await network.rpc.call('evm_setBlockGasLimit', [numberToHex(90_000)]);
  const to = privateKeyToAccount(generatePrivateKey()).address;
  await world.ask({ kind: 'faucet', payload: { to, amount: '7000000' } });
  const sql = 'select raw from chain_attempts where cancels';
  for (let i = 0; i < 300; i++) {
    const [row] = await database.db.query<{ raw: Buffer }>(sql);
    if (row !== undefined)
      return parseTransaction(bytesToHex(row.raw) as `0x02${string}`).gas ?? 0n;
    await network.mine();
    await sleep(30);
  }
  throw new Error('no cancellation was signed');
}

it('cancels with the gas that the chain wants for a cancellation', async () => {
  const result = numberToHex(60_000);
  const answer: Behavior['answer'] = (call, real) => (isCancellation(call) ? { result } : real);
  assert.equal(await gasOfCancellation({ answer }), 72_000n);
});

it('cancels with 21,000 gas and no delay while no node says what the chain wants', async () => {
  const whole: Behavior['whole'] = (calls) => (calls.some(isCancellation) ? 'silent' : null);
  assert.equal(await gasOfCancellation({ whole }), 21_000n);
});

it('splits payments whose numbers are far apart, and no others', async () => {
  world = await startRelayerWorld(undefined, database);
  const payment = (number: number) =>
    ({
      number: BigInt(number),
      kind: 'payment',
      payload: {
        payer: world.merchant.wallet.address,
        merchantNumber: String(world.merchant.merchantNumber),
        amount: '1',
        orderId: 'x',
      },
    }) as unknown as OpenRequest;
  const numbers = (step: number) => Array.from({ length: 100 }, (_, i) => payment(1 + i * step));
  const relayer = { chain: world.network.chain };
  const sizes = (step: number) => groupByGas(relayer, numbers(step)).map((group) => group.length);
  assert.deepEqual(sizes(1), [100]);
  const far = sizes(256);
  assert.ok(far.length > 1 && Math.max(...far) <= 36 && far.reduce((a, b) => a + b) === 100);
});
