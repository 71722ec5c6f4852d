import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectWakeups, localWakeups, type Wakeups } from '#db/wakeups.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const database = databaseForTests();

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, 'it did not happen within 5 s');
    await sleep(2);
  }
}

function count(wakeups: Wakeups, topic: string, key = '') {
  const heard = { times: 0, stop: () => {} };
  heard.stop = wakeups.on(topic, key, () => {
    heard.times++;
  });
  return heard;
}

/** Runs `work` with the wake-ups of two processes on one database. */
async function withTwo(work: (one: Wakeups, other: Wakeups) => Promise<void>): Promise<void> {
  const [one, other] = [await connectWakeups(database.db), await connectWakeups(database.db)];
  try {
    await work(one, other);
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
}

const LINES = `from pg_stat_activity where datname = current_database()
  and (query ilike 'listen%' or query like '%pg_notify%') and pid <> pg_backend_pid()`;

async function lines(): Promise<number> {
  return (await database.db.query(`select 1 as line ${LINES}`)).length;
}

test('every listener to a topic and key gets a hint once, in both processes', () =>
  withTwo(async (one, other) => {
    const [here, there] = [count(one, 'intent', 'pi_1'), count(other, 'intent', 'pi_1')];
    const [key, topic] = [count(other, 'intent', 'pi_2'), count(other, 'refund', 'pi_1')];
    const end = count(other, 'end');
    one.send('intent', 'pi_1');
    assert.equal(here.times, 1);
    one.send('end');
    await until(() => end.times === 1);
    assert.deepEqual([here.times, there.times, key.times, topic.times], [1, 1, 0, 0]);
  }));

test('a listener that unsubscribed gets no more hints', () =>
  withTwo(async (one, other) => {
    const [stopped, end] = [count(other, 'intent'), count(other, 'end')];
    stopped.stop();
    one.send('intent');
    one.send('end');
    await until(() => end.times === 1);
    assert.equal(stopped.times, 0);
  }));

test('ten thousand hints at once all arrive, and repeated ones only once', () =>
  withTwo(async (one, other) => {
    const end = count(other, 'end');
    const heard = Array.from({ length: 2_000 }, (_, i) => count(other, 'intent', `pi_${i}`));
    one.send('start');
    for (let times = 0; times < 5; times++) {
      for (let i = 0; i < 2_000; i++) one.send('intent', `pi_${i}`);
    }
    one.send('end');
    await until(() => end.times === 1);
    assert.deepEqual(new Set(heard.map(({ times }) => times)), new Set([1]));
  }));

test('a connection that the server ends is replaced, and hints arrive again', () =>
  withTwo(async (one, other) => {
    const heard = count(other, 'intent');
    await database.db.query(`select pg_terminate_backend(pid, 1000) ${LINES}`);
    await until(() => {
      one.send('intent');
      return heard.times > 0;
    });
    const back = count(one, 'back');
    other.send('back');
    await until(() => back.times === 1);
    assert.equal(await lines(), 2);
  }));

test('hints sent while disconnected arrive here at once, and elsewhere on reconnect', () =>
  withTwo(async (third, other) => {
    let isAway = false;
    let refused = 0;
    const db = {
      ...database.db,
      connect: async () => {
        if (isAway) {
          refused++;
          throw new Error('away');
        }
        return database.db.connect();
      },
    };
    const one = await connectWakeups(db);
    isAway = true;
    await database.db.query(`select pg_terminate_backend(pid, 1000) ${LINES}`);
    const [here, there] = [count(one, 'intent'), count(other, 'intent')];
    one.send('intent');
    assert.equal(here.times, 1);
    await until(() => refused > 0);
    // Wait for a later hint. A hint sent by mistake would have arrived before it.
    const later = count(other, 'later');
    await until(() => {
      third.send('later');
      return later.times > 0;
    });
    assert.equal(there.times, 0);
    isAway = false;
    await until(() => there.times === 1);
    await one.close();
  }));

test('closing leaves no connection behind, not even one that is just being opened', async () => {
  const wakeups = await connectWakeups(database.db);
  assert.equal(await lines(), 1);
  const gate = Promise.withResolvers<void>();
  let [request, opened, ended] = [0, 0, 0];
  const slow = {
    ...database.db,
    connect: async () => {
      if (++request > 1) await gate.promise;
      const client = await database.db.connect();
      opened++;
      client.once('end', () => ended++);
      return client;
    },
  };
  const reconnecting = await connectWakeups(slow);
  await database.db.query(`select pg_terminate_backend(pid, 1000) ${LINES}`);
  await until(() => request === 2);
  const closing = Promise.all([reconnecting.close(), wakeups.close()]);
  gate.resolve();
  await closing;
  assert.deepEqual([opened, ended], [2, 2]);
});

test('a database that is down at the start is connected to once it is up', async () => {
  let tries = 0;
  const away = {
    ...database.db,
    connect: async () => {
      if (++tries === 1) throw new Error('away');
      return database.db.connect();
    },
  };
  const [one, other] = [await connectWakeups(away), await connectWakeups(database.db)];
  const heard = count(other, 'intent');
  one.send('intent');
  await until(() => heard.times === 1);
  await Promise.all([one.close(), other.close()]);
});

test('within one process a listener that stops another does not affect the rest', () => {
  const wakeups = localWakeups();
  const last = count(wakeups, 'topic');
  const stop = wakeups.on('topic', '', () => stop());
  const after = count(wakeups, 'topic');
  wakeups.send('topic');
  wakeups.send('topic');
  assert.deepEqual([last.times, after.times], [2, 2]);
});
