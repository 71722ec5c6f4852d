import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { bookMovements, type Movement } from '#books/book-movements.ts';
import { stampOrder } from '#db/commit-order.ts';
import { Abandon, type Sql } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { eventTopics } from '#settlement/contract/contract-events.ts';
import { askRefund } from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import {
  type BothSides,
  CHARGE_INVARIANTS,
  CONTRACT_INVARIANTS,
  readBothSides,
} from '#testkit/simulation/invariants/contract-invariants.ts';
import { type Invariant, violationsOf } from '#testkit/simulation/invariants/invariant.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

const PAID = 2_000_000n;
const REFUNDED = 500_000n;
const WITHDRAWN = 300_000n;
/** The amount that the payer is charged: fees minus cashback add 0.45 %. */
const CHARGED = (PAID * 10_045n) / 10_000n;

let world: RelayerWorld;
let payer: PrivateKeyAccount;
let stopMining: () => Promise<void>;
/** The invariants that the current test suite violates on purpose. */
let invariants: readonly Invariant<BothSides>[];

/** Opens a network with payers. The tests of this suite compare its ledger with its chain. */
async function openWorld(payers: number): Promise<PrivateKeyAccount[]> {
  world = await startRelayerWorld();
  stopMining = world.network.mineEvery(60);
  world.startRelayer();
  return world.network.addPayers(payers);
}

async function closeWorld(): Promise<void> {
  await stopMining?.();
  await world?.stop();
}

async function ended(subject: string): Promise<string> {
  assertSucceeded(await world.outcomes([subject]));
  return subject;
}

/**
 * Settles a payment only on the chain.
 * @returns the intent's id
 */
async function settle(amount: bigint, orderId?: string): Promise<string> {
  return ended(await world.pay({ payer, amount, ...(orderId !== undefined && { orderId }) }));
}

/** Refunds on the chain only. */
async function refund(paymentId: string, amount: bigint): Promise<void> {
  await ended(await askRefund(world, paymentId, amount));
}

/**
 * Makes a withdrawal only on the chain.
 * @returns its id
 */
async function withdraw(amount: bigint): Promise<string> {
  const merchantNumber = world.merchant.merchantNumber.toString();
  const wallet = world.merchant.wallet.address;
  const payload = { merchantNumber, wallet, amount: amount.toString() };
  return ended(await world.ask({ kind: 'withdrawal', payload }));
}

/** Books a refund only in the ledger. */
async function bookRefund(paymentId: string, amount: bigint): Promise<void> {
  await world.database.db.query(
    `update payments set amount_reserved = amount_reserved + $2,
       amount_refunded = amount_refunded + $2 where id = $1`,
    [paymentId, amount],
  );
  await bookEntry({ type: 'refund', objectId: `re_${paymentId}`, amount: -amount });
}

async function bookEntry(entry: Pick<Movement, 'type' | 'objectId' | 'amount'>): Promise<void> {
  const tenant = { accountId: 'acct_test', livemode: false };
  await world.database.db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, tenant, new Date(), 1);
    await bookMovements(tx, [{ ...entry, tenant, happened: null, stamp }]);
  });
}

/** Books a withdrawal only in the ledger. */
async function bookWithdrawal(id: string, amount: bigint): Promise<void> {
  await world.database.db.query(
    `insert into withdrawals (id, account_id, livemode, position, created, updated, amount, wallet,
       status, requested_by)
     values ($1, 'acct_test', false, 1, now(), now(), $2, $3, 'succeeded', 'usr_test')`,
    [id, amount, world.merchant.wallet.address],
  );
  await bookEntry({ type: 'payout', objectId: id, amount: -amount });
}

/** Invariants for which a test has found a violation. */
const seenBroken = new Set<string>();

async function check(
  chain = world.network.chain,
  db: Sql = world.database.db,
  unbookable?: ReadonlySet<bigint>,
): Promise<string[]> {
  const sides = await readBothSides(db, chain, unbookable);
  const result = await violationsOf(invariants, sides);
  for (const { promise } of result) seenBroken.add(promise);
  return result.map(({ detail }) => detail);
}

/**
 * Returns the differences between ledger and chain after these statements, which are then rolled
 * back.
 */
function checkAfter(...damage: readonly string[]): Promise<string[]> {
  return checkWithout(undefined, ...damage);
}

/** Like `checkAfter`, but the chain has settlements that cannot be booked for any merchant. */
function checkWithout(unbookable: ReadonlySet<bigint> | undefined, ...damage: readonly string[]) {
  return world.database.db.transaction(async (tx) => {
    for (const sql of damage) await tx.query(sql);
    return new Abandon(await check(world.network.chain, tx, unbookable));
  });
}

async function numberOf(intent: string | undefined): Promise<bigint> {
  const rows = await world.database.db.query<{ number: bigint }>(
    'select number from chain_requests where subject_id = $1',
    [intent],
  );
  return rows[0]?.number ?? 0n;
}

/**
 * Simulates a node that returns these events twice, or not at all. The contract itself never does
 * that.
 */
function chainWithLogs(
  times: number,
  event: 'PaymentSettled' | 'PaymentRefunded' | 'Withdrawn',
): Chain {
  const { chain } = world.network;
  const [topic] = eventTopics({ event, number: 1n });
  return {
    ...chain,
    logs: async (filter) => {
      const logs = await chain.logs(filter);
      return logs.flatMap((log) => (log.topics[0] === topic ? Array(times).fill(log) : [log]));
    },
  };
}

/** SQL assignments. Each makes one column of the payment wrong. */
const FIGURES: readonly string[] = [
  `payer_address = '0x${'11'.repeat(20)}'`,
  `order_id = 'other'`,
  'amount = amount + 1',
  'fee_acquirer = fee_acquirer + 1',
  'fee_protocol = fee_protocol + 1',
  'fee_cashback = fee_cashback - 1',
  // The payment's position on the chain, which its receipt shows.
  `tx_hash = '0x${'33'.repeat(32)}'`,
  'block_number = block_number + 1',
  'log_index = log_index + 1',
];

/** SQL assignments. Each changes something that only the relayer recorded about a payment. */
const PLACES: readonly string[] = [
  'batch_number = batch_number + 1',
  `tx_hash = '0x${'22'.repeat(32)}'`,
];

describe('the contract', () => {
  /** The id of a payment that is partly refunded. The other payment has no refund. */
  let refunded: string;
  let untouched: string;

  before(async () => {
    invariants = CONTRACT_INVARIANTS;
    [payer] = (await openWorld(1)) as [PrivateKeyAccount];
    const { merchant, database } = world;
    await database.db.query(
      `insert into accounts (id, name, created) values ('acct_test', 'Shop', now())`,
    );
    await database.db.query(
      `insert into account_modes (account_id, livemode, merchant_number, live_at)
       values ('acct_test', false, $1, now())`,
      [merchant.merchantNumber],
    );
    refunded = await world.recordPayment(await settle(PAID));
    untouched = await world.recordPayment(await settle(PAID + 1n));
    await refund(refunded, REFUNDED);
    await bookRefund(refunded, REFUNDED);
    await bookWithdrawal(await withdraw(WITHDRAWN), WITHDRAWN);
  });
  after(closeWorld);

  describe('the check of the ledger against the chain', () => {
    it('passes if every figure is equal', async () => {
      assert.deepEqual(await check(), []);
    });

    for (const change of FIGURES) {
      it(`fails after: ${change}`, async () => {
        const broken = await checkAfter(`update payments set ${change} where id = '${untouched}'`);
        assert.ok(broken.includes(`${untouched} differs from its settlement`), broken.join('\n'));
      });
    }

    for (const change of PLACES) {
      it(`fails after a change of the relayer's record: ${change}`, async () => {
        const broken = await checkAfter(`update chain_payments set ${change}`);
        assert.ok(broken.includes(`${untouched} differs from its settlement`), broken.join('\n'));
      });
    }

    it('fails if the chain record of a payment is missing', async () => {
      const broken = await checkAfter('delete from chain_payments');
      assert.ok(broken.includes(`${untouched} differs from its settlement`), broken.join('\n'));
    });

    it('fails for a payment that was never settled', async () => {
      const invented = await checkAfter(
        `update payments set settlement_number = 1000 where id = '${untouched}'`,
      );
      assert.ok(
        invented.includes(`${untouched} was not settled on the chain`),
        invented.join('\n'),
      );
    });

    it('fails if a payment is missing', async () => {
      const lost = await checkAfter(`delete from payments where id = '${untouched}'`);
      assert.match(lost.join('\n'), /settlement \d+ of the chain is no payment of ours/);
    });

    it('fails for two payments of one settlement', async () => {
      const twice = await checkAfter(
        'alter table payments drop constraint payments_livemode_settlement_number_key',
        'alter table payments drop constraint payments_payment_intent_id_key',
        `insert into payments select (jsonb_populate_record(p, '{"id": "pay_second"}')).*
       from payments p where id = '${untouched}'`,
      );
      assert.match(twice.join('\n'), /settlement \d+ of the chain is 2 payments of ours/);
    });

    it('fails for a refund that was never paid', async () => {
      const broken = await checkAfter(
        `update payments set amount_reserved = 7, amount_refunded = 7 where id = '${untouched}'`,
      );
      const result = `${untouched} was refunded 0 on the chain, 7 in the ledger`;
      assert.ok(broken.includes(result), broken.join('\n'));
    });

    it('fails for a withdrawal that was never paid', async () => {
      const broken = await checkAfter(`update withdrawals set id = 'wdr_other'`);
      assert.match(broken.join('\n'), /wdr_other was not withdrawn on the chain/);
      assert.match(broken.join('\n'), /transfer \d+ of the chain is no withdrawal of ours/);
    });

    const withdrawals: readonly (readonly [string, string, RegExp])[] = [
      ['of another amount', 'amount = amount + 1', /differs from its withdrawal/],
      ['to another wallet', `wallet = '0x${'33'.repeat(20)}'`, /differs from its withdrawal/],
      ['with another number', 'number = 77', /has another number than its request/],
    ];
    for (const [name, change, result] of withdrawals) {
      it(`fails for a withdrawal ${name}`, async () => {
        assert.match((await checkAfter(`update withdrawals set ${change}`)).join('\n'), result);
      });
    }

    it('fails for two withdrawals of one transfer', async () => {
      const broken = await checkAfter(
        `insert into withdrawals select (jsonb_populate_record(w, '{"id": "wdr_second"}')).*
       from withdrawals w`,
        `insert into chain_requests (livemode, kind, subject_id, number, payload, status, outcome,
         created)
       select livemode, kind, 'wdr_second', number, payload, status, outcome, created
       from chain_requests where kind = 'withdrawal'`,
      );
      assert.match(broken.join('\n'), /transfer \d+ of the chain is 2 withdrawals of ours/);
    });

    it('fails for books that lack an entry or have another sum', async () => {
      for (const damage of [
        'delete from balance_entries',
        'update balance_entries set amount = amount - 1',
        'update payments set recovered = true',
      ]) {
        const broken = await checkAfter(damage);
        assert.match(broken.join('\n'), /the books of acct_test have -?\d+, the contract \d+/);
      }
    });

    it('fails for a payment to another merchant', async () => {
      const broken = await checkAfter('update account_modes set merchant_number = 77');
      assert.match(broken.join('\n'), /merchant 77 has 0 on the chain, \d+ in the ledger/);
      assert.ok(broken.includes(`${untouched} differs from its settlement`));
    });
  });

  describe('the check of the chain against the ledger', () => {
    it('fails for a payment that was settled twice', async () => {
      const twice = chainWithLogs(2, 'PaymentSettled');
      const broken = await check(twice);
      assert.ok(broken.includes(`${untouched} was settled 2 times`), broken.join('\n'));
    });

    it('fails for a refund that was paid twice', async () => {
      const twice = chainWithLogs(2, 'PaymentRefunded');
      const broken = await check(twice);
      const sums = `${2n * REFUNDED} on the chain, ${REFUNDED} in the ledger`;
      assert.deepEqual(broken, [`${refunded} was refunded ${sums}`]);
    });

    it('fails for a withdrawal that was paid twice', async () => {
      const twice = chainWithLogs(2, 'Withdrawn');
      const broken = await check(twice);
      assert.match(broken.join('\n'), /was withdrawn 2 times/);
    });

    it("fails if a merchant's balance shrank without an event", async () => {
      const silent = chainWithLogs(0, 'Withdrawn');
      const broken = (await check(silent)).join('\n');
      assert.match(broken, /merchant \d+ has \d+ on the chain, \d+ in the ledger/);
      assert.match(broken, /the contract holds \d+ USDC atoms, the ledger knows \d+/);
    });

    it('fails for a settlement that the ledger lacks', async () => {
      const intent = await settle(PAID);
      assert.match((await check()).join('\n'), /settlement \d+ of the chain is no payment of ours/);
      await world.recordPayment(intent);
      assert.deepEqual(await check(), []);
    });

    it('fails for a settlement of a lost merchant that no alarm names', async () => {
      const intent = await settle(PAID);
      const number = await numberOf(intent);
      const result = `settlement ${number} is not booked, and no alarm names it`;
      const isMissing = async (...damage: readonly string[]) =>
        (await checkWithout(new Set([number]), ...damage)).includes(result);
      const alarmIn = (livemode: boolean) =>
        `insert into chain_alarms (livemode, kind, subject, details, created)
       values (${livemode}, 'foreign_settlement', 'payment ${number}', '{}', now())`;
      const missing = [await isMissing(), await isMissing(alarmIn(true))];
      assert.deepEqual([...missing, await isMissing(alarmIn(false))], [true, true, false]);
      await world.recordPayment(intent);
      assert.deepEqual(await check(), []);
    });

    it('fails for a refund that the ledger lacks', async () => {
      await refund(untouched, 9n);
      const result = `${untouched} was refunded 9 on the chain, 0 in the ledger`;
      assert.ok((await check()).includes(result));
      await bookRefund(untouched, 9n);
      assert.deepEqual(await check(), []);
    });

    it('fails for a withdrawal that the ledger lacks', async () => {
      const id = await withdraw(11n);
      assert.match(
        (await check()).join('\n'),
        /transfer \d+ of the chain is no withdrawal of ours/,
      );
      await bookWithdrawal(id, 11n);
      assert.deepEqual(await check(), []);
    });

    it('fails if the chain has no events', async () => {
      const empty: Chain = { ...world.network.chain, logs: async () => [] };
      const broken = await check(empty);
      assert.ok(broken.includes(`${untouched} was not settled on the chain`), broken.join('\n'));
    });

    it('fails for tokens that no payment brought', async () => {
      const { network } = world;
      const { settlement, usdc } = network.config;
      const gift = { abi: testUsdcAbi, functionName: 'mint', args: [settlement, 1n] } as const;
      await network.send(payer, usdc, encodeFunctionData(gift));
      const broken = await check();
      assert.equal(broken.length, 1);
      assert.match(broken[0] ?? '', /the contract holds \d+ USDC atoms, the ledger knows \d+/);
    });

    it('fails for tokens that not even the chain explains', async () => {
      const { chain } = world.network;
      // Simulates a node that hides transfers to the contract, so that the tokens given in an
      // earlier test stay unexplained.
      const call: Chain['rpc']['call'] = async (method, params) =>
        method === 'eth_getLogs' ? [] : chain.rpc.call(method, params);
      const broken = await check({ ...chain, rpc: { ...chain.rpc, call } });
      assert.match(broken.join('\n'), /the contract holds \d+ USDC atoms, and \d+ are explained/);
    });
  });
});

describe('the check of the charges', () => {
  let stranger: PrivateKeyAccount;
  /** The ids of the payer's intents. The first one's payment is partly refunded. */
  let intents: string[];
  let refunded: string;

  before(async () => {
    invariants = CHARGE_INVARIANTS;
    [payer, stranger] = (await openWorld(2)) as [PrivateKeyAccount, PrivateKeyAccount];
    intents = [await settle(PAID, 'ORDER-1'), await settle(PAID, 'ORDER-2')];
    refunded = await world.recordPayment(intents[0] ?? '');
    await world.recordPayment(intents[1] ?? '');
    await refund(refunded, REFUNDED);
    await world.database.db.query(
      'update payments set amount_reserved = $2, amount_refunded = $2 where id = $1',
      [refunded, REFUNDED],
    );
  });
  after(closeWorld);

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
    const broken = await check(chainWithLogs(2, 'PaymentSettled'));
    assert.ok(broken.includes(`${intents[1]} was charged 2 times`), broken.join('\n'));
    assert.match(broken.join('\n'), /order ORDER-2 of merchant \d+ was charged 2 times/);
  });

  it('fails if no intent has its number', async () => {
    const broken = await checkAfter('update payment_intents set settlement_number = null');
    const number = await numberOf(intents[1]);
    const result = `${payer.address} was charged for no intent: ${number}`;
    assert.ok(broken.includes(result), broken.join('\n'));
  });

  it('accounts to the atom for settlements that cannot be booked', async () => {
    const unbookable = new Set([await numberOf(intents[1])]);
    const lose = `delete from payments where payment_intent_id = '${intents[1]}'`;
    const result = await checkWithout(unbookable, lose);
    assert.deepEqual(result, []);
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
    const words = `${payer.address.toLowerCase()} paid ${sum} atoms, the ledger says nothing of it`;
    assert.ok(broken.includes(words), broken.join('\n'));
  });

  it('fails if tokens left a wallet other than by a settlement', async () => {
    const args = [world.network.config.settlement, 3n] as const;
    const transfer = { abi: testUsdcAbi, functionName: 'transfer', args } as const;
    await world.network.send(stranger, world.network.config.usdc, encodeFunctionData(transfer));
    const result = `${stranger.address.toLowerCase()} paid 3 atoms, the ledger says nothing of it`;
    assert.deepEqual(await check(), [result]);
  });

  it('fails if one order was charged under two intents', async () => {
    await settle(PAID, 'ORDER-1');
    assert.match((await check()).join('\n'), /order ORDER-1 of merchant \d+ was charged 2 times/);
  });
});

it('every invariant was violated by a test', () => {
  const promises = [...CONTRACT_INVARIANTS, ...CHARGE_INVARIANTS].map(({ promise }) => promise);
  assert.deepEqual([...seenBroken].toSorted(), promises.toSorted());
});
