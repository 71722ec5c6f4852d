import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { addSeconds } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import { type LogFields, silentLog } from '#observability/log.ts';
import { MADE_UP_SOURCE } from '#prices/ask-rate-feeds.ts';
import { quote } from '#prices/quote-price.ts';
import { selectRates } from '#prices/rate-queries.ts';
import type { RateSettings } from '#prices/rate-settings.ts';
import { createRateRefresher } from '#prices/refresh-rates.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import {
  type Answerer,
  startReceiver,
  type TestReceiver,
} from '#testkit/network/webhook-receiver.ts';

let database: TestDatabase;
let db: Database;
let clock: FakeClock;
let servers: [TestReceiver, TestReceiver];
let feeds: [string, string];

/** Sets how the two feeds respond from now on. */
function behave(...answerers: readonly [Answerer, Answerer]): void {
  servers[0].answer(answerers[0]);
  servers[1].answer(answerers[1]);
}

before(async () => {
  database = await testDatabase();
  ({ db } = database);
  servers = [await startReceiver(), await startReceiver()];
  const [one, other] = servers;
  feeds = [`${one.url}/latest?key=secret`, `${other.url}/latest?key=secret`];
});
after(async () => {
  await database.close();
  for (const server of servers) await server.close();
});
beforeEach(async () => {
  clock = new FakeClock();
  await db.query('truncate exchange_rates, rate_refresh, chain_alarms');
});

const json =
  (document: object): Answerer =>
  (_, response) =>
    void response.end(JSON.stringify(document));
/** Returns the handler of a feed that works correctly. */
const says = (eur: string, more: object = {}) =>
  json({ base: 'usd', as_of: clock.now().toISOString(), rates: { eur }, ...more });

const MAX_AGE_S = 120;
function refresher(settings: Partial<RateSettings> = {}, log = silentLog) {
  const rates = {
    feeds,
    maxAgeMs: MAX_AGE_S * 1000,
    maxSpread: 100,
    closedMargin: 0,
    ...settings,
  };
  return createRateRefresher({ db, clock, log, insertAlarms }, rates);
}

/** Returns a currency's current rate (by default the euro's), or the error code of the refusal. */
async function euro(currency = 'eur'): Promise<string> {
  const rates = await selectRates(db, [currency]);
  const quoted = quote({ currency, amount: 100 }, rates, clock.now());
  return 'refused' in quoted ? quoted.code : quoted.quote.rate;
}

/** Advances the clock far enough for the next query of the feeds. */
function wait(seconds = MAX_AGE_S / 4): void {
  clock.advance(seconds * 1000);
}

test('both feeds are queried in the background, and every process reads the result', async () => {
  assert.equal(await euro(), 'rates_unavailable');
  behave(says('0.8', { more: [1], notice: 'free plan' }), says('0.8'));
  await refresher()();
  assert.equal(await euro(), '1.25');
  const [row] = await db.query<{ source: string }>(
    `select source from exchange_rates where currency = 'eur'`,
  );
  assert.match(row?.source ?? '', /^127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+$/);
});

test('a currency that one feed omits has no rate', async () => {
  const both = { as_of: clock.now().toISOString(), base: 'usd' };
  behave(json({ ...both, rates: { eur: '1', sek: '10' } }), json({ ...both, rates: { eur: '1' } }));
  await refresher()();
  assert.deepEqual(
    [await euro('sek'), await euro('xyz'), await euro('usd')],
    ['parameter_invalid', 'parameter_invalid', '1'],
  );
});

const RATES = { eur: '0.8' };
/** Ways in which one feed can be wrong while the other is correct. */
const WRONG: readonly (readonly [string, () => Answerer])[] = [
  ['lies', () => says('0.6')],
  ['is unwell', () => (_, response) => void response.writeHead(500).end()],
  ['is not JSON', () => (_, response) => void response.end('<html>')],
  ['hangs up', () => (_, response) => void response.socket?.destroy()],
  [
    'redirects',
    () => (received, response) => {
      if (received.path === '/moved') return says('0.8')(received, response);
      response.writeHead(302, { location: '/moved' }).end();
    },
  ],
  ['sends 10 MB', () => says('0.8', { padding: 'x'.repeat(10_000_000) })],
  ['has another base', () => says('0.8', { base: 'eur' })],
  ['has no time', () => says('0.8', { as_of: undefined })],
  ['has a time without a zone', () => says('0.8', { as_of: '2026-10-01T12:00:00' })],
  ['is too old', () => says('0.8', { as_of: addSeconds(clock.now(), -121).toISOString() })],
  ['is too far ahead', () => says('0.8', { as_of: addSeconds(clock.now(), 61).toISOString() })],
  ['has a number as a number', () => says('0.8', { rates: { eur: 0.8 } })],
  ['has a rate of 0', () => says('0')],
  ['has a market time that is none', () => says('0.8', { market_at: 'friday' })],
  ['has a list of rates', () => says('0.8', { rates: [RATES] })],
];

for (const [how, feed] of WRONG) {
  test(`a feed that ${how} gives no rate, and the last good rate expires`, async () => {
    for (const order of [0, 1]) {
      await db.query('truncate exchange_rates, rate_refresh');
      const refresh = refresher();
      behave(says('0.8'), says('0.8'));
      await refresh();
      const until = addSeconds(clock.now(), MAX_AGE_S);
      while (clock.now() <= until) {
        assert.equal(await euro(), '1.25');
        wait();
        if (order === 0) behave(feed(), says('0.79'));
        else behave(says('0.79'), feed());
        await refresh();
      }
      assert.equal(await euro(), 'rates_unavailable');
    }
  });
}

for (const wrong of ['0', '-1', '1e2', '1234567890123456', '٣', '', null, 0.8, {}, ['1']]) {
  test(`a rate of ${JSON.stringify(wrong)} stops only its own currency`, async () => {
    for (const order of [0, 1]) {
      await db.query('truncate exchange_rates, rate_refresh');
      const bad = says('0.8', { rates: { ...RATES, gbp: wrong } });
      const good = says('0.8', { rates: { ...RATES, gbp: '0.7' } });
      if (order === 0) behave(bad, good);
      else behave(good, bad);
      await refresher()();
      assert.deepEqual([await euro(), await euro('gbp')], ['1.25', 'rates_unavailable']);
    }
  });
}

test('feeds that confirm rates of a closed market keep a shop selling, at a margin', async () => {
  const refresh = refresher({ closedMargin: 150 });
  const closed = clock.now().toISOString();
  const confirms = () => says('0.8', { market_at: closed });
  behave(confirms(), says('0.8'));
  await refresh();
  clock.advance(60 * 60_000);
  behave(confirms(), says('0.8', { market_at: clock.now().toISOString() }));
  await refresh();
  assert.equal(await euro(), '1.25', 'the market moved an hour ago');
  clock.advance(2 * 24 * 60 * 60_000);
  behave(confirms(), says('0.8', { market_at: clock.now().toISOString() }));
  await refresh();
  assert.equal(await euro(), '1.26875', 'the older of the two counts');
  behave(says('0.79', { market_at: clock.now().toISOString() }), says('0.79', { market_at: null }));
  wait();
  await refresh();
  assert.equal(await euro(), '1.26582278481', 'the market has opened');
});

test('a margin is rounded in favor of the shop', async () => {
  behave(says('0.9213', { market_at: '2026-01-01T00:00:00Z' }), says('0.9213'));
  await refresher({ closedMargin: 333 })();
  // 1.08542277217 × 1.0333 = 1.121567350483261
  assert.equal(await euro(), '1.121567350484');
});

function warnings() {
  const lines: LogFields[] = [];
  const warn = (message: string, fields: LogFields = {}) => void lines.push({ message, ...fields });
  return { log: { ...silentLog, warn }, take: () => lines.splice(0) };
}

test('each reason for a missing rate is logged once, with feed and currency', async () => {
  const { log, take } = warnings();
  const refresh = refresher({}, log);
  const [one, other] = feeds.map((url) => new URL(url).host);
  const round = async (...answerers: readonly [Answerer, Answerer]) => {
    wait();
    behave(...answerers);
    await refresh();
    return take().map(({ feed, currencies, problem }) => [feed, currencies, problem]);
  };
  const both = { rates: { ...RATES, gbp: '0.7' } };
  assert.deepEqual(await round(says('0.8', both), says('0.8', both)), []);
  const bad = says('0.8', { rates: { ...RATES, gbp: '0' } });
  const malformed = [one, 'gbp', 'the rate is not decimal text above 0'];
  assert.deepEqual(await round(bad, says('0.8', both)), [malformed]);
  assert.deepEqual(await round(bad, says('0.8', both)), []);
  const old = { ...both, as_of: '2020-01-01T00:00:00Z' };
  assert.deepEqual(await round(says('0.8', both), says('0.8', old)), [
    [other, 'eur, gbp, usd', 'as_of is older than RATES_MAX_AGE'],
  ]);
  const early = { ...both, as_of: addSeconds(clock.now(), 3600).toISOString() };
  assert.deepEqual(await round(says('0.8', early), says('0.8', both)), [
    [one, 'eur, gbp, usd', 'as_of is over a minute in the future'],
  ]);
  const apart = { rates: { eur: '0.9', gbp: '0.7' } };
  assert.deepEqual(await round(says('0.8', both), says('0.9', apart)), [
    [`${one}, ${other}`, 'eur', 'the feeds differ by more than RATES_MAX_SPREAD'],
  ]);
  const jump = { rates: { eur: '0.8', gbp: '0.5' } };
  assert.deepEqual(await round(says('0.8', jump), says('0.8', jump)), [
    [
      `${one}, ${other}`,
      'gbp',
      'the rate moved by more than 10 percent and waits for five minutes of agreement',
    ],
  ]);
});

test('a third of the maximum age without a rate raises one alarm for operators', async () => {
  const refresh = refresher();
  const alarms = () =>
    db.query('select kind, subject from chain_alarms where resolved_at is null order by id');
  behave(says('0.8'), says('0.8'));
  await refresh();
  const round = async (answerer: Answerer) => {
    wait(MAX_AGE_S / 6);
    behave(says('0.8'), answerer);
    await refresh();
    return alarms();
  };
  const stale = says('0.8', { as_of: '2020-01-01T00:00:00Z' });
  assert.deepEqual(await round(stale), []);
  assert.deepEqual(await round(stale), []);
  const alarm = { kind: 'rates_missing', subject: 'eur, usd' };
  assert.deepEqual(await round(stale), [alarm]);
  assert.deepEqual(await round((_, response) => void response.writeHead(500).end()), [alarm]);
  await db.query('update chain_alarms set resolved_at = now()');
  for (let n = 0; n < 6; n++) await round(stale);
  await db.query('update chain_alarms set resolved_at = now()');
  assert.deepEqual(await round(stale), [], 'an alarm that was resolved does not return');
});

test('a feed that does not finish its response within 5 s gives no rate', async () => {
  behave(says('0.8'), (_, response) => void response.write('{"base":"usd",'));
  const start = performance.now();
  await refresher()();
  assert.ok(performance.now() - start < 7_000);
  assert.equal(await euro(), 'rates_unavailable');
});

test('a jump of 30 percent is not used before both have returned it for five minutes', async () => {
  const refresh = refresher();
  behave(says('0.8'), says('0.8'));
  await refresh();
  const jumpAt = addSeconds(clock.now(), 30);
  while (clock.now() < addSeconds(jumpAt, 300)) {
    wait(30);
    behave(says('0.56'), says('0.56'));
    await refresh();
    const said = await euro();
    if (clock.now() < addSeconds(jumpAt, 300)) {
      assert.ok(['1.25', 'rates_unavailable'].includes(said), said);
    }
  }
  assert.equal(await euro(), '1.785714285714');
});

test('one process queries the feeds for all', async () => {
  const [one, other] = [refresher(), refresher()];
  behave(says('0.8'), says('0.8'));
  await Promise.all([one(), other()]);
  const requests = () => servers[0].received.length + servers[1].received.length;
  const before = requests();
  for (let second = 0; second < MAX_AGE_S; second += 10) {
    wait(10);
    await Promise.all([one(), other()]);
  }
  const rounds = (requests() - before) / 2;
  assert.ok(rounds >= 3 && rounds <= 6, `${rounds} rounds`);
});

test('made-up rates of a sandbox are marked, and never compared with real rates', async () => {
  await refresher({ feeds: 'made-up' })();
  assert.equal(await euro(), '1.08542277217');
  const [row] = await db.query<{ source: string }>(
    `select source from exchange_rates where currency = 'eur'`,
  );
  assert.equal(row?.source, MADE_UP_SOURCE);
  for (const code of [
    'eur',
    'usd',
    'gbp',
    'chf',
    'brl',
    'sek',
    'pln',
    'cad',
    'jpy',
    'bhd',
    'kwd',
  ]) {
    assert.match(await euro(code), /^\d+(\.\d+)?$/, code);
  }
  behave(says('0.5'), says('0.5'));
  await refresher()();
  assert.equal(await euro(), '2');
});

test('without feeds there are no rates', async () => {
  await refresher({ feeds: null })();
  assert.equal(await euro(), 'rates_unavailable');
});
