import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { Abandon, type Sql } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { eventTopics } from '#settlement/contract/contract-events.ts';
import { CHARGE_INVARIANTS, readBothSides } from '#testing/invariants/contract-invariants.ts';
import { violationsOf } from '#testing/invariants/invariant.ts';
import { askRefund } from '#testing/relayer-scene.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

const PAID = 2_000_000n;
const REFUNDED = 500_000n;
/** The amount charged to the payer: acquirer and protocol fees minus the cashback add 0.45 %. */
const CHARGED = (PAID * 10_045n) / 10_000n;

let world: RelayerWorld;
let payer: PrivateKeyAccount;
let stranger: PrivateKeyAccount;
let stopMining: () => Promise<void>;
/** Intents of the payer; the first one was partly refunded. */
let intents: string[];
let refunded: string;

before(async () => {
  world = await startRelayerWorld();
  const { network, database } = world;
  const { db } = database;
  [payer, stranger] = (await network.addPayers(2)) as [PrivateKeyAccount, PrivateKeyAccount];
  stopMining = network.mineEvery(60);
  world.startRelayer();
  intents = [await settle('ORDER-1'), await settle('ORDER-2')];
  refunded = await world.recordPayment(intents[0] ?? '');
  await world.recordPayment(intents[1] ?? '');
  await ended(await askRefund(world, refunded, REFUNDED));
  await db.query('update payments set amount_reserved = $2, amount_refunded = $2 where id = $1', [
    refunded,
    REFUNDED,
  ]);
});

after(async () => {
  await stopMining?.();
  await world?.stop();
});

async function ended(subject: string): Promise<string> {
  const [outcome] = await world.outcomes([subject]);
  assert.equal(outcome?.succeeded, true);
  return subject;
}

/** Settles on the chain only. @returns the intent. */
async function settle(orderId: string): Promise<string> {
  return ended(await world.pay({ payer, amount: PAID, orderId }));
}

/** The promises of which a violation was found. */
const seenBroken = new Set<string>();

async function check(
  chain = world.network.chain,
  { db = world.database.db as Sql, unbookable = new Set<bigint>() } = {},
): Promise<string[]> {
  const sides = await readBothSides(db, chain, unbookable);
  const found = await violationsOf(CHARGE_INVARIANTS, sides);
  for (const { promise } of found) seenBroken.add(promise);
  return found.map(({ detail }) => detail);
}

/** Returns the differences after these statements, which are rolled back. */
function checkAfter(...damage: readonly string[]): Promise<string[]> {
  return world.database.db.transaction(async (tx) => {
    for (const sql of damage) await tx.query(sql);
    return new Abandon(await check(world.network.chain, { db: tx }));
  });
}

async function numberOf(intent: string | undefined): Promise<bigint> {
  const rows = await world.database.db.query<{ number: bigint }>(
    'select settlement_number as number from payment_intents where id = $1',
    [intent],
  );
  return rows[0]?.number ?? 0n;
}

/** Simulates a node that shows each settlement twice, which the contract itself prevents. */
function chainOfTwice(): Chain {
  const { chain } = world.network;
  const [settled] = eventTopics({ event: 'PaymentSettled', number: 1n });
  return {
    ...chain,
    logs: async (filter) => {
      const logs = await chain.logs(filter);
      return logs.flatMap((log) => (log.topics[0] === settled ? [log, log] : [log]));
    },
  };
}

async function call(from: PrivateKeyAccount, data: `0x${string}`): Promise<void> {
  await world.network.send(from, world.network.config.usdc, data);
}

describe('the check of charges', () => {
  it('passes if they equal the ledger', async () => {
    assert.deepEqual(await check(), []);
  });

  it('fails if the intent was reported as canceled', async () => {
    const broken = await checkAfter(
      `update payment_intents set status = 'canceled', payment_id = null, tx_hash = null,
         canceled_at = now(), cancellation_reason = 'expired' where id = '${intents[1]}'`,
    );
    assert.deepEqual(broken, [`${intents[1]} is canceled and was charged`]);
  });

  it('fails if the intent was reported as declined', async () => {
    const broken = await checkAfter(
      `update payment_intents set status = 'requires_payment_method', payment_id = null,
         tx_hash = null where id = '${intents[1]}'`,
    );
    assert.deepEqual(broken, [`${intents[1]} is requires_payment_method and was charged`]);
  });

  it('fails if the payment names another settlement', async () => {
    const broken = await checkAfter(
      `update payments set settlement_number = 1000 where payment_intent_id = '${intents[1]}'`,
    );
    const number = await numberOf(intents[1]);
    assert.deepEqual(broken, [`${intents[1]} was charged by ${number}, not by 1000`]);
  });

  it('fails if one intent was charged under two numbers', async () => {
    const other = await numberOf(intents[0]);
    const broken = await checkAfter(
      `update payment_intents set settlement_number = null where id = '${intents[0]}'`,
      'alter table settlement_numbers disable trigger settlement_numbers_given',
      `insert into settlement_numbers values (false, ${other}, '${intents[1]}')`,
    );
    assert.ok(broken.includes(`${intents[1]} was charged 2 times`), broken.join('\n'));
  });

  it('fails if it was settled twice', async () => {
    const broken = await check(chainOfTwice());
    assert.ok(broken.includes(`${intents[1]} was charged 2 times`), broken.join('\n'));
    assert.match(broken.join('\n'), /order ORDER-2 of merchant \d+ was charged 2 times/);
  });

  it('fails if no intent has its number', async () => {
    const broken = await checkAfter('update payment_intents set settlement_number = null');
    const number = await numberOf(intents[1]);
    const found = `${payer.address} was charged for no intent: ${number}`;
    assert.ok(broken.includes(found), broken.join('\n'));
  });

  it('accounts to the atom for settlements that cannot be booked', async () => {
    const unbookable = new Set([await numberOf(intents[1])]);
    const lose = `delete from payments where payment_intent_id = '${intents[1]}'`;
    const found = await world.database.db.transaction(async (tx) => {
      await tx.query(lose);
      return new Abandon(await check(world.network.chain, { db: tx, unbookable }));
    });
    assert.deepEqual(found, []);
    assert.notDeepEqual(await checkAfter(lose), []);
  });

  for (const change of [
    'amount = amount + 1',
    'fee_acquirer = fee_acquirer + 1',
    'fee_protocol = fee_protocol + 1',
    'fee_cashback = fee_cashback - 1',
    'amount_refunded = amount_refunded + 1, amount_reserved = amount_reserved + 1',
    `payer_address = '0x${'11'.repeat(20)}'`,
  ]) {
    it(`fails after the ledger is changed: ${change}`, async () => {
      const broken = await checkAfter(`update payments set ${change} where id = '${refunded}'`);
      const sums = new RegExp(`${payer.address.toLowerCase()} paid \\d+ atoms, the ledger says`);
      assert.match(broken.join('\n'), sums);
    });
  }

  it('fails if the ledger lacks a payer', async () => {
    const broken = await checkAfter('delete from payments');
    const sum = 2n * CHARGED - REFUNDED;
    const found = `${payer.address.toLowerCase()} paid ${sum} atoms, the ledger says nothing of it`;
    assert.ok(broken.includes(found), broken.join('\n'));
  });

  it('fails if tokens left a wallet other than by a settlement', async () => {
    const args = [world.network.config.settlement, 3n] as const;
    const transfer = { abi: testUsdcAbi, functionName: 'transfer', args } as const;
    await call(stranger, encodeFunctionData(transfer));
    const found = `${stranger.address.toLowerCase()} paid 3 atoms, the ledger says nothing of it`;
    assert.deepEqual(await check(), [found]);
  });

  it('fails if one order was charged under two intents', async () => {
    await settle('ORDER-1');
    assert.match((await check()).join('\n'), /order ORDER-1 of merchant \d+ was charged 2 times/);
  });
});

it('a violation of every promise was found', () => {
  const promises = CHARGE_INVARIANTS.map(({ promise }) => promise);
  assert.deepEqual([...seenBroken].toSorted(), promises.toSorted());
});
