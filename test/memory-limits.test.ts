import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import compile from 'icu-minify/compile';
import { createKeyAuthenticator } from '#accounts/authenticate-api-key.ts';
import { openCharts } from '#apis/dashboard/statistics/share-chart-reads.ts';
import { readTypes } from '#apis/merchant/stream-query.ts';
import { newSecret } from '#core/bearer-secrets.ts';
import { isTimeZone } from '#core/calendar.ts';
import { createLongPolls } from '#db/long-polls.ts';
import { connectWakeups, localWakeups } from '#db/wakeups.ts';
import { EVENT_TYPES } from '#events/event-types.ts';
import { createDrain } from '#http/drain.ts';
import { memoryRateLimiter } from '#http/rate-limit.ts';
import { createRightsWatch } from '#http/watch-rights.ts';
import { formatText } from '#i18n/text-format.ts';
import { createKeysInProgress } from '#idempotency/keys-in-progress.ts';
import { silentLog, stderrLog } from '#observability/log.ts';
import { readChain } from '#settlement/chain/read/read-chain.ts';
import { noteBlock } from '#settlement/relayer/track/watch-heads.ts';
import { openMemory } from '#signer/signed-nonces.ts';
import { createDeviceAuthenticator } from '#terminals/authenticate-terminal.ts';
import { openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';

/**
 * What a process remembers has a limit. V8 counts the entries of all maps and sets, and the
 * listeners of all emitters, so a test also counts those that only a closure refers to.
 */

/** Entries that the runtime itself adds or drops meanwhile. */
const NOISE = 60;

let store: TestStore;
const session = new Session();

before(async () => {
  store = await openStore();
  session.connect();
});
after(async () => {
  session.disconnect();
  await store.close();
});

/** Collects garbage, and sums `sizeOf` over all objects of this kind in the process. */
async function sum(kind: 'Map' | 'Set' | 'CountedEmitter', sizeOf: string): Promise<number> {
  Object.assign(globalThis, { CountedEmitter: EventEmitter });
  const { result: own } = await session.post('Runtime.evaluate', {
    expression: `${kind}.prototype`,
  });
  const prototypeObjectId = own.objectId ?? '';
  const { objects } = await session.post('Runtime.queryObjects', { prototypeObjectId });
  const { objectId = '' } = objects;
  const { result } = await session.post('Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: `function () {
      return this.reduce((all, one) => { try { return all + (${sizeOf}) } catch { return all } }, 0)
    }`,
    returnByValue: true,
  });
  // Otherwise the session would keep all of them in memory.
  await session.post('Runtime.releaseObject', { objectId });
  return Number(result.value);
}

const countEntries = async () => (await sum('Map', 'one.size')) + (await sum('Set', 'one.size'));

/** Returns the entries of all maps and sets, and the number of listeners. */
async function countHeld(): Promise<number[]> {
  const listenersOf = 'one.eventNames().reduce((n, name) => n + one.listenerCount(name), 0)';
  return [await countEntries(), await sum('CountedEmitter', listenersOf)];
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Asks a few hundred at a time, as concurrent clients do. */
async function inTurns<T>(items: readonly T[], ask: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += 500)
    await Promise.all(items.slice(at, at + 500).map(ask));
}

/** Writes a zone's name in another case for each number. */
function zoneName(number: number): string {
  const letters = [...'Antarctica/Dumontdurville'].map((letter, at) => {
    return at > 0 && at < 17 && (number >> at) % 2 === 1 && /[a-z]/.test(letter)
      ? letter.toUpperCase()
      : letter;
  });
  return letters.join('');
}

/** What the rows before filled. It stays in memory, so that a count never falls. */
const kept: unknown[] = [];

interface Row {
  readonly name: string;
  readonly limit: number;
  /** Adds more than the limit. @returns what must stay in memory until it is counted */
  readonly fill: () => unknown;
}

const CACHES: readonly Row[] = [
  {
    name: 'time zones',
    limit: 1_000,
    fill: () => {
      for (const number of times(1 << 13)) assert.ok(isTimeZone(zoneName(number * 2)));
    },
  },
  {
    name: 'formats of texts',
    limit: 500,
    fill: () => {
      const text = compile('{sum, number}');
      for (const n of times(700)) formatText(text, `en-x-${n.toString(36)}`, { sum: n });
    },
  },
  {
    name: 'callers of a rate limit',
    limit: 50_000,
    fill: () => {
      const limiter = memoryRateLimiter({ requests: 1, seconds: 3_600 });
      for (const n of times(60_000)) limiter.take(`address ${n}`);
      return limiter;
    },
  },
  {
    name: 'readings of a chain',
    limit: 500,
    fill: () => {
      const { remember } = readChain({ config: {}, rpc: {} } as never, silentLog);
      for (const n of times(700)) void remember(`reading ${n}`, 1, async () => n);
      return remember;
    },
  },
  {
    name: 'blocks of a chain',
    limit: 64,
    fill: () => {
      const recent = new Map();
      for (const n of times(200)) {
        const hash = `0x${n}` as const;
        const block = { number: BigInt(n), hash, parentHash: hash, time: new Date() };
        noteBlock(recent, { ...block, seenAt: new Date() });
      }
      return recent;
    },
  },
  {
    name: 'sets of event types, each with three',
    limit: 4 * 1_000,
    fill: () => {
      for (const [a, one] of EVENT_TYPES.entries())
        for (const [b, other] of EVENT_TYPES.slice(0, a).entries())
          for (const last of EVENT_TYPES.slice(0, b)) readTypes(`${one},${other},${last}`);
    },
  },
  {
    name: 'repeated log messages',
    limit: 1_000,
    fill: () => {
      const write = process.stderr.write;
      process.stderr.write = () => true;
      const log = stderrLog();
      for (const n of times(1_500)) log.warn(`message ${n}`);
      process.stderr.write = write;
      return log;
    },
  },
  {
    name: 'prepared statements',
    limit: 2_000,
    fill: () => inTurns(times(2_500), (n) => store.db.query(`select ${n} as n`)),
  },
  {
    name: 'API keys',
    limit: 10_000,
    fill: async () => {
      const authenticate = createKeyAuthenticator(store.db);
      const address = '203.0.113.9';
      await inTurns(times(11_000), () => {
        const authorization = `Bearer ${newSecret('apiKeyTest')}`;
        return authenticate({ authorization, address, now: new Date(), mustStand: false });
      });
      return authenticate;
    },
  },
  {
    name: 'device keys',
    limit: 10_000,
    fill: async () => {
      const authenticate = createDeviceAuthenticator(store.db);
      await inTurns(times(11_000), () => {
        const authorization = `Bearer ${newSecret('deviceKeyTest')}`;
        return authenticate({ authorization, now: new Date(), mustStand: false });
      });
      return authenticate;
    },
  },
  {
    name: 'hints that wait for a connection',
    limit: 10_000,
    fill: async () => {
      const connect = () => Promise.reject(new Error('away'));
      const wakeups = await connectWakeups({ ...store.db, connect });
      for (const n of times(12_000)) wakeups.send('intent', String(n));
      await wakeups.close();
      return wakeups;
    },
  },
  {
    name: 'nonces of a signer',
    limit: 256,
    fill: async () => {
      const memory = await openMemory(path.join(tmpdir(), `nonces-${process.pid}`), 'key');
      for (const nonce of times(400)) {
        const kept = { unsigned: '0x', signed: '0x', maxFeePerGas: '1', at: Date.now() } as const;
        await memory.note({ nonce, ...kept });
      }
      await memory.close();
      return memory;
    },
  },
];

describe('a cache keeps no more than its limit', () => {
  let counted = 0;
  before(async () => {
    counted = await countEntries();
  });
  for (const { name, limit, fill } of CACHES) {
    test(name, async () => {
      kept.push(await fill());
      const earlier = counted;
      counted = await countEntries();
      const grown = counted - earlier;
      assert.ok(grown <= limit + NOISE, `${grown} entries`);
      assert.ok(grown > limit / 4, `only ${grown} entries: it was not filled`);
    });
  }
});

const USES = 500;

/** Each row uses something for every request. @returns what must stay in memory */
const REQUESTS: readonly Omit<Row, 'limit'>[] = [
  {
    name: 'a long poll',
    fill: async () => {
      const wakeups = localWakeups();
      const polls = createLongPolls({ wakeups, topic: 'row', read: async () => new Map() });
      const gone = new AbortController();
      const limits = { waitMs: 1, gone: gone.signal, accept: () => false };
      await inTurns(times(USES), (n) => polls.wait(`row ${n}`, limits));
      return { wakeups, polls, gone };
    },
  },
  {
    name: 'an idempotency key',
    fill: async () => {
      const run = createKeysInProgress();
      const { tenant } = store.merchant;
      const request = { tenant, caller: '', method: 'POST', path: '/', docsUrl: '' };
      await inTurns(times(USES), (n) => {
        return run({ ...request, key: `${n}`, fingerprint: Buffer.of() }, async () => n);
      });
      return run;
    },
  },
  {
    name: 'a right behind an open response',
    fill: () => {
      const watch = createRightsWatch<number>(silentLog, async (all) => all.map(() => true));
      for (const stop of times(USES).map((n) => watch.watch(n, () => {}))) stop();
      return watch;
    },
  },
  {
    name: 'a response that a stop would wait for',
    fill: () => {
      const drain = createDrain();
      for (const n of times(USES)) {
        const response = Object.assign(new EventEmitter(), { headersSent: false });
        drain.waiting(response as never, { isPoll: n % 2 === 0 });
        response.emit('close');
      }
      return drain;
    },
  },
  {
    name: 'a chart',
    fill: async () => {
      const charts = openCharts(store.db);
      const { tenant } = store.merchant;
      // One after the other, because more connections have more listeners.
      for (const day of times(20)) {
        const from = `2026-01-${day + 10}`;
        await charts.statistics({ tenant, from, to: '2026-02-01' } as never, new Date());
      }
      return charts;
    },
  },
];

describe('nothing of an ended request is kept', () => {
  let counted: readonly number[] = [];
  before(async () => {
    counted = await countHeld();
  });
  for (const { name, fill } of REQUESTS) {
    test(name, async () => {
      kept.push(await fill());
      const earlier = counted;
      counted = await countHeld();
      const grown = counted.map((one, at) => one - (earlier[at] ?? 0));
      assert.ok(Math.max(...grown) <= NOISE, `${grown} entries and listeners`);
    });
  }
});
