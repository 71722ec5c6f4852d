import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { present } from '../../src/core/assert.ts';
import { type Caller, caller } from '../../testkit/apis/api-client.ts';
import { openForTests } from '../../testkit/fixtures/core/open-for-tests.ts';
import { listen } from '../../testkit/network/listen.ts';
import { openSharedSandbox } from '../../testkit/network/shared-sandbox.ts';
import { fundedAccount } from '../../web/testing/payer.ts';
import { watchSleep } from '../src/detect-sleep.ts';
import { DeviceApi, type TapCredential } from '../src/index.ts';
import { haloChip, keycard } from './emulated-chips.ts';
import { bankCard, tag } from './emulated-phones.ts';
import { type Make, pairedTill, type Till } from './started-till.ts';

let merchant: Caller;

const shared = openForTests(openSharedSandbox, async () => {
  merchant = caller(`${shared.sandbox.base_url}/v1`, shared.sandbox.test.secret_key);
});

const startTill: (make?: Make) => Promise<Till> = (make) => pairedTill(shared.sandbox, make);

function pass(name: 'ok' | 'ok_2' | 'revoked') {
  return tag({ text: present(shared.sandbox.test.passes[name], name) });
}

function charge(till: Till, amount = 2_500_000) {
  return merchant.post('/payment_intents', { amount, terminal: till.terminal.id });
}

async function intentOf(id: unknown): Promise<Record<string, unknown>> {
  return (await merchant.get(`/payment_intents/${String(id)}`)).body;
}

test('a charge created by the API is paid by a chip held to the reader', async () => {
  const till = await startTill();
  const { body: intent } = await charge(till);
  await till.until('waiting');
  await till.tap(pass('ok'));
  await till.until('read');
  await till.until('paid');
  assert.equal((await intentOf(intent.id)).status, 'succeeded');
  await till.until('idle');
  await till.end();
});

/** Pays as a customer's phone does, without the reader. */
async function payElsewhere(till: Till, id: unknown): Promise<void> {
  const value = present(shared.sandbox.test.passes.ok, 'ok');
  await till.api.tap(String(id), { type: 'nfc_id', value }, `elsewhere-${String(id)}`);
}

test('a sale that was paid with a phone is paid at the reader, too', async () => {
  const till = await startTill();
  const { body: intent } = await charge(till);
  await till.until('waiting');
  await payElsewhere(till, intent.id);
  await till.until('paid');
  await till.until('idle');
  assert.ok(!till.events.some(({ status }) => status === 'ended'));
  const { body: canceled } = await charge(till);
  await till.until('waiting');
  await merchant.post(`/payment_intents/${String(canceled.id)}/cancel`);
  await till.until('ended');
  await till.end();
});

test('a sale that was paid while the reader was offline is paid when it is back', async () => {
  let isCut = false;
  class Cut extends DeviceApi {
    override async changed(...request: Parameters<DeviceApi['changed']>) {
      if (isCut) throw new TypeError('fetch failed');
      const intent = await super.changed(...request);
      if (isCut) throw new TypeError('fetch failed');
      return intent;
    }
  }
  const till = await startTill((server, key) => new Cut(server, key));
  const { body: intent } = await charge(till);
  await till.until('waiting');
  isCut = true;
  await payElsewhere(till, intent.id);
  await till.until('offline');
  isCut = false;
  await till.until('paid');
  await till.end();
});

test('a reader reports its platform once, as soon as it reaches the network', async () => {
  let requests = 0;
  class FirstOffline extends DeviceApi {
    override async report(signal: AbortSignal) {
      requests += 1;
      if (requests === 1) throw new TypeError('fetch failed');
      return super.report(signal);
    }
  }
  const till = await startTill((server, key) => new FirstOffline(server, key));
  await charge(till);
  await till.until('offline');
  await till.until('waiting');
  const { body: terminal } = await merchant.get(`/terminals/${till.terminal.id}`);
  const { version } = JSON.parse(await readFile('reader/package.json', 'utf8'));
  assert.deepEqual([terminal.platform, terminal.software_version], ['reader', version]);
  await till.tap(pass('ok'));
  await till.until('paid');
  await till.until('idle');
  assert.equal(requests, 2);
  await till.end();
});

test('a foreign card is reported, a decline gives its reason, and the next card pays', async () => {
  const till = await startTill();
  await charge(till);
  await till.until('waiting');
  await till.tap(bankCard);
  assert.deepEqual(await till.until('not_read'), {
    status: 'not_read',
    message: 'This is not a payment card of this network.',
  });
  await till.until('waiting');
  await till.tap(pass('revoked'));
  const declined = await till.until('declined');
  assert.ok(declined.status === 'declined' && declined.message.length > 10);
  await till.until('waiting');
  await till.tap(pass('ok_2'));
  await till.until('paid');
  await till.end();
});

test('a chip signs the requested sale, and nothing without a sale', async () => {
  const account = await fundedAccount(shared.sandbox, 10_000_000n);
  const till = await startTill();
  for (const chip of [haloChip(account), keycard(account)]) {
    const { body: intent } = await charge(till);
    await till.until('waiting');
    await till.tap(chip);
    await till.until('paid');
    const paid = await intentOf(intent.id);
    assert.equal(paid.status, 'succeeded');
    await till.until('idle');
  }
  const { body: paid } = await merchant.get(`/payments?terminal=${till.terminal.id}`);
  const methods = (paid.data as Record<string, unknown>[]).map((each) => each.payment_method);
  assert.deepEqual(methods, Array(2).fill({ type: 'wallet', credential: 'chip' }));
  let requests = 0;
  const counted = haloChip(account);
  await till.tap(async (bytes) => {
    if (bytes[5] === 0x01) requests++;
    return counted(bytes);
  });
  assert.equal(requests, 0, 'without a payment, the chip is not asked to sign');
  await till.end();
});

test('a lost response never charges twice: the same tap is sent again', async () => {
  const keys: string[] = [];
  class LosingAnswers extends DeviceApi {
    override async tap(id: string, credential: TapCredential, key: string) {
      keys.push(key);
      const answer = await super.tap(id, credential, key);
      if (keys.length === 1) throw new TypeError('fetch failed');
      return answer;
    }
  }
  const till = await startTill((server, key) => new LosingAnswers(server, key));
  const { body: intent } = await charge(till);
  await till.until('waiting');
  await till.tap(pass('ok'));
  await till.until('offline');
  await till.until('paid');
  assert.equal(keys.length, 2);
  assert.equal(new Set(keys).size, 1);
  const { body: paid } = await merchant.get(`/payments?payment_intent=${String(intent.id)}`);
  assert.equal((paid.data as unknown[]).length, 1);
  await till.end();
});

test('a canceled charge stops waiting, and an old tap pays nothing later', async () => {
  const till = await startTill();
  const { body: first } = await charge(till);
  await till.until('waiting');
  await merchant.post(`/payment_intents/${String(first.id)}/cancel`);
  await till.until('ended');
  await till.tap(pass('ok'));
  const { body: second } = await charge(till);
  await till.until('waiting');
  assert.equal((await intentOf(second.id)).status, 'requires_payment_method');
  await till.end();
});

test('a device key that has ended stops the reader with a message', async () => {
  // The key shown in the dashboard was revoked when the pairing code was used.
  const till = await startTill((server, _, first) => new DeviceApi(server, first));
  await till.until('unpaired');
  await till.end();
});

/** Opens a proxy to the server. When cut, it swallows all data, as after a sleep. */
async function openWay(to: string) {
  const { hostname, port } = new URL(to);
  const sockets: Socket[] = [];
  const way = createServer((near) => {
    const far = connect(Number(port), hostname);
    sockets.push(near, far);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => {});
  });
  const { url, close } = await listen(way);
  return {
    url,
    cut: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return close();
    },
  };
}

test('within two seconds after a sleep it is back, with the waiting payment', async () => {
  const way = await openWay(shared.sandbox.web_url);
  const apis: DeviceApi[] = [];
  const till = await startTill((_server, key) => {
    apis.push(new DeviceApi(way.url, key));
    return present(apis[0], 'the api');
  });
  await setTimeout(500);
  way.cut();
  await charge(till);
  await setTimeout(1_000);
  assert.ok(!till.events.some(({ status }) => status === 'waiting'), 'the way is cut');
  const woken = performance.now();
  present(apis[0], 'the api').woke();
  await till.until('waiting');
  assert.ok(performance.now() - woken < 2_000);
  await till.end();
  await way.close();
});

test('a sleep is detected by a clock that advanced while timers did not', async () => {
  let now = 0;
  let wakes = 0;
  const end = new AbortController();
  watchSleep(
    () => wakes++,
    end.signal,
    () => now,
  );
  now += 1_000;
  await setTimeout(600);
  assert.equal(wakes, 0, 'a timer that is late is no sleep');
  now += 60_000;
  await setTimeout(600);
  assert.equal(wakes, 1);
  end.abort();
});
