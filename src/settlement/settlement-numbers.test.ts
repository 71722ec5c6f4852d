import assert from 'node:assert/strict';
import { beforeEach, describe, it, type TestContext } from 'node:test';
import { type Database, openDatabase } from '#db/database.ts';
import {
  areStale,
  createSettlementNumbers,
  raiseAboveChain,
  raiseSettlementNumbers,
  type SettlementNumbers,
} from '#settlement/settlement-numbers.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';

const MILLION = 1_048_576n;
/** The distance by which numbers are at least raised. */
const FAR = 4_294_967_296n;

describe('settlement numbers', () => {
  const database = databaseForTests();
  let db: Database;
  beforeEach((t) => {
    db = openDatabase({ url: database.url, maxConnections: 2 });
    (t as TestContext).after(() => db.close());
  });
  const nextBlock = async (livemode = false): Promise<bigint> => {
    const rows = await database.db.query<{ next_block: bigint }>(
      'select next_block from settlement_number_blocks where livemode = $1',
      [livemode],
    );
    return rows[0]?.next_block ?? 0n;
  };
  const many = (count: number, livemode = false) => Array.from({ length: count }, () => livemode);

  it('of one block share a storage slot, in random order', async () => {
    const orders: number[][] = [];
    for (let n = 0; n < 2; n++) {
      const drawn = await createSettlementNumbers(db).take(many(256));
      assert.equal(new Set(drawn.map(({ number }) => number / 256n)).size, 1);
      const order = drawn.map(({ number }) => Number(number % 256n));
      assert.equal(new Set(order).size, 256);
      orders.push(order);
    }
    const [one = [], other = []] = orders;
    assert.notDeepEqual(one, other);
    // The difference between two numbers must not reveal how many numbers were assigned between
    // them.
    const rising = one.filter((position, n) => n > 0 && position > (one[n - 1] ?? 0)).length;
    assert.ok(rising > 85 && rising < 170, `${rising} of 255 steps go up`);
    const next = one.filter((position, n) => n > 0 && position === (one[n - 1] ?? 0) + 1).length;
    assert.ok(next < 16, `${next} of 255 numbers follow their neighbor`);
  });

  it('of a process begin at a random position, up to 2^20 numbers ahead', async () => {
    const skips: bigint[] = [];
    for (let n = 0; n < 30; n++) {
      const before = await nextBlock();
      await createSettlementNumbers(db).take(many(1));
      skips.push((await nextBlock()) - 1n - before);
    }
    assert.ok(skips.every((skip) => skip >= 0n && skip * 256n <= MILLION));
    assert.ok(new Set(skips).size > 15, `the skips are ${skips.join()}`);
  });

  it('have gaps between their blocks whose mean is not predictable', async () => {
    const means: number[] = [];
    for (let n = 0; n < 20; n++) {
      const numbers = createSettlementNumbers(db);
      await numbers.take(many(1));
      const before = await nextBlock();
      const blocks = new Set<bigint>();
      for (const { number } of await numbers.take(many(4_000))) blocks.add(number / 256n);
      means.push(Number(((await nextBlock()) - before) / BigInt(blocks.size)));
    }
    const [least, most] = [Math.min(...means), Math.max(...means)];
    assert.ok(most >= 8 * Math.max(1, least), `blocks are ${means.join()} apart`);
  });

  it('begin above all numbers that the previous release has drawn or may still draw', async () => {
    const [drawn] = await createSettlementNumbers(db).take([true]);
    assert.ok((drawn?.number ?? 0n) >= MILLION);
  });

  it('of many processes are all different, and each block belongs to one of them', async () => {
    const processes = Array.from({ length: 4 }, () => createSettlementNumbers(db));
    const takes = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const drawn = await processes[n % 4]?.take(many(10));
        return (drawn ?? []).map(({ number }) => ({ number, process: n % 4 }));
      }),
    );
    const all = takes.flat();
    assert.equal(new Set(all.map(({ number }) => number)).size, 2_000);
    const owners = Map.groupBy(all, ({ number }) => number / 256n);
    for (const taken of owners.values()) {
      assert.equal(new Set(taken.map(({ process }) => process)).size, 1);
    }
  });

  /**
   * Cuts a process's connections to the database. Returns the number of blocks that it then still
   * keeps.
   */
  const cutOff = async (own: Database, numbers: SettlementNumbers): Promise<number> => {
    await own.close();
    const blocks = new Set<bigint>();
    try {
      for (;;) for (const { number } of await numbers.take(many(1))) blocks.add(number / 256n);
    } catch {
      return blocks.size;
    }
  };

  it('of the next eight blocks are available before a busy process needs them', async () => {
    const own = openDatabase({ url: database.url, maxConnections: 2 });
    const numbers = createSettlementNumbers(own);
    await numbers.take(many(1));
    const drawn = await nextBlock();
    await numbers.take(many(149));
    await eventually('the next are drawn', async () => (await nextBlock()) > drawn);
    assert.equal(await cutOff(own, numbers), 9);
  });

  it('are drawn one block at a time by a process that rarely creates intents', async (t) => {
    const own = openDatabase({ url: database.url, maxConnections: 2 });
    let nowMs = 0;
    const clock = t.mock.method(performance, 'now', () => nowMs);
    const numbers = createSettlementNumbers(own);
    await numbers.take(many(1));
    const drawn = await nextBlock();
    nowMs += 1_000;
    await numbers.take(many(149));
    clock.mock.restore();
    await eventually('the next is drawn', async () => (await nextBlock()) > drawn);
    assert.equal(await cutOff(own, numbers), 2);
  });

  it('that are put back are used again, even those of an exhausted block', async () => {
    const numbers = createSettlementNumbers(db);
    const used = await numbers.take(many(250));
    const spare = await numbers.take(many(64));
    numbers.putBack(spare);
    const again = await numbers.take(many(64));
    const numberOf = ({ number }: { readonly number: bigint }) => number;
    assert.deepEqual(again.map(numberOf), spare.map(numberOf));
    const blocks = [...used.slice(0, 1), ...again].map(({ number }) => number / 256n);
    assert.deepEqual(
      blocks.map((block) => block === blocks[0]),
      blocks.map((_, position) => position <= 6),
    );
  });

  it('are counted separately for each network', async () => {
    const drawn = await createSettlementNumbers(db).take([false, true, false]);
    const next = [await nextBlock(false), await nextBlock(true)];
    assert.deepEqual(
      drawn.map(({ livemode, number }) => [livemode, number / 256n + 1n]),
      [
        [false, next[0]],
        [true, next[1]],
        [false, next[0]],
      ],
    );
  });

  it('that were put back are taken next', async () => {
    const numbers = createSettlementNumbers(db);
    const drawn = await numbers.take(many(5));
    numbers.putBack(drawn.slice(1, 3));
    const again = await numbers.take(many(3));
    assert.deepEqual(
      again.slice(0, 2).map(({ number }) => number),
      drawn.slice(1, 3).map(({ number }) => number),
    );
    assert.ok(!drawn.some(({ number }) => number === again[2]?.number));
  });

  it('are dropped when a connection breaks, even if they are put back later', async () => {
    const numbers = createSettlementNumbers(db);
    const drawn = await numbers.take(many(3));
    const before = await nextBlock();
    const { epoch } = db.watch;
    await database.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()
         and application_name = 'tapline'`,
    );
    await eventually('the break is noticed', async () => db.watch.epoch !== epoch);
    numbers.putBack(drawn);
    const [next] = await numbers.take([false]);
    assert.ok((next?.number ?? 0n) / 256n >= before);
  });

  it('are all invalid once numbers are raised, and new ones are far above', async () => {
    const processes = [createSettlementNumbers(db), createSettlementNumbers(db)];
    const drawn = (await Promise.all(processes.map((one) => one.take(many(2))))).flat();
    const stale = (some: typeof drawn) => database.db.transaction((tx) => areStale(tx, some));
    assert.equal(await stale(drawn), false);
    const [onLive] = await createSettlementNumbers(db).take([true]);
    const highest = (await nextBlock()) * 256n + 5_000n;
    await database.db.transaction((tx) => raiseSettlementNumbers(tx, false, highest));
    for (const one of drawn) assert.equal(await stale([one]), true);
    assert.ok(onLive !== undefined && !(await stale([onLive])));
    const [fresh] = await createSettlementNumbers(db).take([false]);
    assert.ok(fresh !== undefined && fresh.number > highest + FAR);
    assert.equal(await stale([fresh]), false);
  });

  it("are never lowered, even if the chain's highest is below the ledger's", async () => {
    const ledger = (await nextBlock()) * 256n;
    await database.db.transaction((tx) => raiseSettlementNumbers(tx, false, 0n));
    assert.ok((await nextBlock()) * 256n > ledger + FAR);
  });

  it('are not raised above the numbers that the service can assign', async () => {
    const before = await nextBlock();
    await database.db.query(
      `insert into chain_payments (livemode, number, batch_number, payer, merchant_number, amount,
         order_id, fee_acquirer, fee_protocol, cashback, tx_hash, block_number, log_index,
         block_time)
       values (false, 9000000000000000000, 1, '', 1, 1, '', 0, 0, 0, '', 1, 0, now())`,
    );
    await database.db.transaction((tx) => raiseSettlementNumbers(tx, false, 0n));
    assert.ok((await nextBlock()) * 256n < before * 256n + 2n * FAR);
    await database.db.transaction((tx) => raiseAboveChain(tx, false));
    assert.ok((await nextBlock()) * 256n < before * 256n + 2n * FAR);
  });

  it('get a new epoch each time they are raised, as after two restores of one backup', async () => {
    const epochs = new Set<bigint>();
    for (let n = 0; n < 3; n++) {
      await database.db.transaction((tx) => raiseSettlementNumbers(tx, false, 0n));
      const [drawn] = await createSettlementNumbers(db).take([false]);
      if (drawn !== undefined) epochs.add(drawn.epoch);
    }
    assert.equal(epochs.size, 3);
  });
});

describe('an intent that the previous release created', () => {
  const database = databaseForTests();
  const addIntent = async (id: string, number: bigint | null) => {
    await database.db.query(
      `insert into payment_intents (id, account_id, livemode, position, created, amount,
         terminal_id, order_id, metadata, source, expires_at, status, settlement_number)
       values ($1, 'acct_1', false, 0, now(), 1, 'tml_1', $1, '{}', 'api', now(),
         'requires_payment_method', $2)`,
      [id, number],
    );
  };
  /** Draws an intent's number at the tap, as the previous release did. */
  const tap = async (id: string): Promise<bigint | undefined> => {
    const rows = await database.db.query<{ number: bigint }>(
      `insert into settlement_numbers (livemode, number, payment_intent_id)
       values (false, nextval('settlement_number_test'), $1) returning number`,
      [id],
    );
    return rows[0]?.number;
  };

  it('gets a number that no other intent has or will have', async () => {
    const numbers = createSettlementNumbers(database.db);
    const [before] = await numbers.take([false]);
    await addIntent('old', null);
    const given = (await tap('old')) ?? 0n;
    const rest = await numbers.take(Array.from({ length: 600 }, () => false));
    const taken = [before, ...rest].map((drawn) => drawn?.number);
    assert.ok(given > 0n && !taken.includes(given));
  });

  it('keeps its number when the previous release taps it', async () => {
    const [drawn] = await createSettlementNumbers(database.db).take([false]);
    await addIntent('new', drawn?.number ?? null);
    assert.equal(await tap('new'), drawn?.number);
  });
});
