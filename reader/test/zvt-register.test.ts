import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { afterEach, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { present } from '../../src/core/assert.ts';
import { type Caller, caller } from '../../testkit/apis/api-client.ts';
import { openForTests } from '../../testkit/fixtures/core/open-for-tests.ts';
import { openSharedSandbox } from '../../testkit/network/shared-sandbox.ts';
import { startReceiver } from '../../testkit/network/webhook-receiver.ts';
import { fundedAccount } from '../../web/testing/payer.ts';
import { DeviceApi, DeviceApiError } from '../src/device-api.ts';
import { mayComeAgain } from '../src/reader-without-screen.ts';
import type { Observation } from '../src/zvt/conversation-state.ts';
import { UNREGISTERED } from '../src/zvt/read-command.ts';
import { Sales } from '../src/zvt/sell-and-refund.ts';
import { NOTHING_STORED, withRefund, withSale } from '../src/zvt/stored-results.ts';
import { readFields, readFrame } from '../src/zvt/zvt-frames.ts';
import { haloChip } from './emulated-chips.ts';
import { tag } from './emulated-phones.ts';
import type { Make } from './started-till.ts';
import { type ServedRegister, serveTestRegister, type TestRegister } from './test-register.ts';
import { ASK, authorization, decodeText, REQUESTED } from './zvt-talk.ts';

/** A cash register that speaks the real protocol with a real network. */
let merchant: Caller;

const shared = openForTests(openSharedSandbox, async () => {
  merchant = caller(`${shared.sandbox.base_url}/v1`, shared.sandbox.test.secret_key);
});

const opened: ServedRegister[] = [];

afterEach(async () => {
  for (const served of opened.splice(0)) await served.end();
});

const PAID = /^040f(..|ff....)2700/;
const ABORTED = /^040f..276c/;
const COMPLETED = /^060f00/;
const WAITING = /^04ff010a/;
const NOT_POSSIBLE = /^061e0183/;
const PROCESSING = /^04ff0104/;

function pass(name: 'ok' | 'ok_2' | 'confirm') {
  return tag({ text: present(shared.sandbox.test.passes[name], name) });
}

/** Returns the error that `fetch` throws for a broken connection. */
function connectionLost(): TypeError {
  return new TypeError('fetch failed', { cause: new Error('ECONNRESET') });
}

/** Follows a sale over a connection that a test can cut. */
class CutOff extends DeviceApi {
  isCut = false;

  override async changed(...input: Parameters<DeviceApi['changed']>) {
    if (this.isCut) throw connectionLost();
    return super.changed(...input);
  }

  override async intent(...input: Parameters<DeviceApi['intent']>) {
    if (this.isCut) throw connectionLost();
    return super.intent(...input);
  }
}

function cut({ till }: ServedRegister, isCut: boolean): void {
  assert.ok(till.api instanceof CutOff);
  till.api.isCut = isCut;
}

async function paymentsOf({ till }: ServedRegister): Promise<Record<string, unknown>[]> {
  const { body } = await merchant.get(`/payments?terminal=${till.terminal.id}`);
  return body.data as Record<string, unknown>[];
}

async function registered(served: ServedRegister, ask: string = ASK.register) {
  const register = await served.connect();
  register.send(ask);
  await register.until(/^060f0a1900/);
  return register;
}

interface Opened {
  readonly make?: Make;
  readonly timeoutMs?: number;
  readonly ask?: string;
}

/** Starts a register that serves until the test ends, and connects to it. */
async function open({ ask, ...options }: Opened = {}) {
  const served = await serveTestRegister(shared.sandbox, options);
  opened.push(served);
  return { served, register: await registered(served, ask) };
}

/** Taps a pass once the reader waits for it. */
async function tapped({ till }: ServedRegister, name: 'ok' | 'ok_2'): Promise<void> {
  await till.until('waiting');
  await till.tap(pass(name));
}

/** Waits until a payment is completed. @returns its result. */
async function resultOf(register: TestRegister): Promise<string> {
  const result = await register.until(PAID);
  await register.until(COMPLETED);
  return result;
}

function printedBy(register: TestRegister): string[] {
  return register.frames
    .filter((frame) => frame.startsWith('06d1'))
    .map((frame) => {
      const read = present(readFrame(Buffer.from(frame, 'hex')), frame);
      return decodeText(read.frame.data.subarray(1), 'cp437');
    });
}

test('a sale in euros: the register asks, a pass pays, result and receipt come back', async () => {
  const { served, register } = await open();
  register.send(authorization(1250));
  await register.until(WAITING);
  await tapped(served, 'ok');
  const result = await resultOf(register);
  const [payment, ...others] = await paymentsOf(served);
  assert.deepEqual(others, []);
  const { presentment, receipt_number: receipt } = present(payment, 'a payment');
  const { currency, amount } = presentment as Record<string, unknown>;
  assert.deepEqual([currency, amount], ['eur', 1250]);
  const frame = present(readFrame(Buffer.from(result, 'hex')), result);
  const fields = readFields(frame.frame.data);
  assert.ok(fields.status === 'read');
  const hex = (field: number) => Buffer.from(fields.values.get(field) ?? []).toString('hex');
  assert.deepEqual([hex(0x04), hex(0x49)], ['000000001250', '0978']);
  assert.equal(Number(hex(0x87)), Number(String(receipt).split('-')[1]) % 10_000);
  assert.ok(printedBy(register).some((line) => line.includes(String(receipt))));
});

test('dollars are USDC without a rate, and a chip that signs pays as well', async () => {
  const account = await fundedAccount(shared.sandbox, 20_000_000n);
  const { served, register } = await open({ ask: '060006000000080840' });
  register.send(authorization(250));
  await register.until(WAITING);
  await served.till.until('waiting');
  await served.till.tap(haloChip(account));
  await resultOf(register);
  const [payment] = await paymentsOf(served);
  assert.deepEqual([payment?.amount, payment?.presentment], [2_500_000, null]);
});

test('a currency without a rate is refused before a sale exists', async () => {
  const { served, register } = await open();
  register.send('06010a04000000001250490999');
  await register.until(/^061e046f490978/);
  // Dirhams: registers know this currency, but this network has no rate for it.
  register.send('06010a04000000001250490504');
  await register.until(/^061e016f/);
  const { body } = await merchant.get(`/payment_intents?terminal=${served.till.terminal.id}`);
  assert.deepEqual(body.data, []);
});

test('a reversal returns the whole sale, and a refund names its receipt', async () => {
  const { served, register } = await open();
  const sell = async (cents: number) => {
    register.send(authorization(cents));
    await tapped(served, 'ok');
    const result = await resultOf(register);
    return present(/49097887(....)/.exec(result)?.[1], result);
  };
  const first = await sell(600);
  await sell(400);
  // This amount is not the one on the receipt.
  register.send(`06300d00000087${first}04000000000500`);
  await register.until(NOT_POSSIBLE);
  const untouched = (await paymentsOf(served)).map((one) => one.amount_refunded);
  assert.deepEqual(untouched, [0, 0]);
  register.send(ASK.reverseLast);
  assert.match(await resultOf(register), /04000000000400/);
  register.send(`06310d0000000400000000025087${first}`);
  assert.match(await resultOf(register), /04000000000250/);
  const shares = (await paymentsOf(served)).map((one) => [one.amount_refunded === one.amount]);
  assert.deepEqual(shares, [[true], [false]]);
  register.send(ASK.endOfDay);
  // The first sale has 3.50 EUR left to refund, the second one nothing.
  assert.match(await resultOf(register), /04000000000350.*01000000000350/);
  assert.ok(printedBy(register).includes('1 x TOTAL'));
  await sell(100);
  register.send(ASK.endOfDay);
  assert.match(await resultOf(register), /04000000000100.*01000000000100/);
});

test('an end of day with more sales than can be read reports no sum', async () => {
  let isEndless = false;
  class Endless extends DeviceApi {
    override async payments(...input: Parameters<DeviceApi['payments']>) {
      const [query, signal] = input;
      const page = await super.payments(query.replace(/&cursor=.*/, ''), signal);
      return isEndless ? { ...page, next_cursor: 'more' } : page;
    }
  }
  const make = (server: string, key: string) => new Endless(server, key);
  const { served, register } = await open({ make });
  register.send(authorization(100));
  await tapped(served, 'ok');
  await register.until(COMPLETED);
  isEndless = true;
  register.send(ASK.endOfDay);
  await register.until(/^061e019b/);
});

test('a register that floods or stalls is disconnected, and nothing of it is sold', async () => {
  const { served, register } = await open();
  register.send(ASK.statusEnquiry.repeat(1_500) + authorization(1250));
  while (!register.socket.destroyed) await setTimeout(20);
  const slow = await registered(served);
  const begun = Date.now();
  slow.send('0601ff0010');
  while (!slow.socket.destroyed && Date.now() - begun < 10_000) {
    await setTimeout(500);
    slow.send('00');
  }
  assert.ok(Date.now() - begun < 8_000, 'a byte now and then is no frame');
  const { sale } = JSON.parse(await readFile(served.file, 'utf8'));
  assert.equal(sale, null);
});

test('abort at the register cancels the sale, and so does a canceled intent', async () => {
  const { served, register } = await open();
  register.send(authorization(700));
  await register.until(WAITING);
  register.send(ASK.abort);
  await register.until(ABORTED);
  await register.until(/^061e016c/);
  register.send(authorization(800));
  await register.until(WAITING);
  const { sale } = JSON.parse(await readFile(served.file, 'utf8'));
  await merchant.post(`/payment_intents/${sale.intent}/cancel`);
  await register.until(ABORTED);
  await register.until(/^061e016c/);
  assert.deepEqual(await paymentsOf(served), []);
});

test('a sale that was paid with a phone while the register waited is paid there', async () => {
  const { served, register } = await open();
  register.send(authorization(760));
  await register.until(WAITING);
  await served.till.until('waiting');
  const { sale } = JSON.parse(await readFile(served.file, 'utf8'));
  const value = present(shared.sandbox.test.passes.ok, 'ok');
  await served.till.api.tap(sale.intent, { type: 'nfc_id', value }, 'with-a-phone');
  await resultOf(register);
  await served.till.until('paid');
});

test('a sale that was refunded before the register heard of it is aborted, not paid', async () => {
  const make = (server: string, key: string) => new CutOff(server, key);
  const { served, register } = await open({ make });
  register.send(authorization(770));
  await served.till.until('waiting');
  cut(served, true);
  await served.till.tap(pass('ok'));
  while ((await paymentsOf(served)).length < 1) await setTimeout(50);
  const [payment] = await paymentsOf(served);
  const { status } = await merchant.post('/refunds', { payment: payment?.id });
  assert.equal(status, 201);
  while ((await paymentsOf(served))[0]?.amount_refunded === 0) await setTimeout(50);
  cut(served, false);
  await register.until(/^061e016c/);
  assert.ok(!register.frames.some((frame) => PAID.test(frame)));
});

test('abort at the register also cancels a sale that its customer has yet to confirm', async () => {
  const { served, register } = await open();
  register.send(authorization(700));
  await register.until(WAITING);
  await served.till.until('waiting');
  const tapped = served.till.tap(pass('confirm'));
  await register.until(PROCESSING);
  register.send(ASK.abort);
  await register.until(ABORTED);
  await register.until(/^061e016c/);
  await tapped;
  assert.deepEqual(await paymentsOf(served), []);
});

test('a number whose sale was canceled is a new sale, and then the paid one', async () => {
  const { served, register: first } = await open();
  let register = first;
  register.send(authorization(720, '0117'));
  await register.until(WAITING);
  register.send(ASK.abort);
  await register.until(/^061e016c/);
  // The reader forgets the receipt number, but the network does not.
  await served.forget();
  register = await registered(served);
  register.send(authorization(720, '0117'));
  await register.until(WAITING);
  await served.till.until('waiting');
  await tapped(served, 'ok');
  await resultOf(register);
  await served.forget();
  register = await registered(served);
  register.send(authorization(720, '0117'));
  await resultOf(register);
  assert.equal((await paymentsOf(served)).length, 1);
});

test('a reader whose port is taken stops, and leaves the sale of the first one alone', async () => {
  const { served, register } = await open();
  register.send(authorization(730));
  await register.until(WAITING);
  await served.till.until('waiting');
  await assert.rejects(served.second(), /EADDRINUSE/);
  await setTimeout(500);
  await served.till.tap(pass('ok'));
  await resultOf(register);
});

test('a paid sale is found behind the newest page of payments', async () => {
  class SmallPages extends CutOff {
    override payments(query: string, signal: AbortSignal) {
      return super.payments(query.replace(/limit=\d+/, 'limit=1'), signal);
    }
  }
  const make = (server: string, key: string) => new SmallPages(server, key);
  const { served, register } = await open({ make });
  register.send(authorization(740));
  await served.till.until('waiting');
  cut(served, true);
  await served.till.tap(pass('ok'));
  while ((await paymentsOf(served)).length < 1) await setTimeout(50);
  const other = await served.till.api.createIntent(
    { amount: 1_000_000 },
    'another-sale',
    new AbortController().signal,
  );
  const value = present(shared.sandbox.test.passes.ok_2, 'ok_2');
  await served.till.api.tap(other.id, { type: 'nfc_id', value }, 'another-tap');
  while ((await paymentsOf(served)).length < 2) await setTimeout(50);
  cut(served, false);
  assert.match(await register.until(PAID), /04000000000740/);
});

test('a refund whose response was lost, and which is then pending, is made once', async () => {
  let isLost = true;
  const keys: string[] = [];
  class Slow extends DeviceApi {
    override async refund(...input: Parameters<DeviceApi['refund']>) {
      keys.push(input[1]);
      const made = await super.refund(...input);
      if (isLost) throw connectionLost();
      // Simulates the network's answer to a refund that is not confirmed within 60 s.
      return { ...made, status: 'pending' as const };
    }
  }
  const make = (server: string, key: string) => new Slow(server, key);
  const { served, register } = await open({ make });
  register.send(authorization(600));
  await tapped(served, 'ok');
  const receipt = present(/49097887(....)/.exec(await register.until(PAID))?.[1], 'a receipt');
  await register.until(COMPLETED);
  register.send(`06310d0000000400000000025087${receipt}`);
  while (keys.length === 0) await setTimeout(20);
  while ((await paymentsOf(served))[0]?.amount_refunded === 0) await setTimeout(50);
  await served.restart();
  isLost = false;
  const after = await served.connect();
  after.send(ASK.repeatReceipt);
  assert.match(await resultOf(after), /04000000000250/);
  const requests = keys.length;
  assert.equal(new Set(keys).size, 1);
  await setTimeout(2_500);
  assert.equal(keys.length, requests, 'nothing is requested after the answer');
  const { body } = await merchant.get('/refunds?limit=100');
  const [payment] = await paymentsOf(served);
  const refunds = (body.data as { payment: string }[]).filter((one) => one.payment === payment?.id);
  assert.equal(refunds.length, 1);
});

test('a proxy’s response refuses nothing, and a bug is not retried', async () => {
  const pages = { '/bad': 502, '/fine': 200, '/wall': 403 } as const;
  const proxy = await startReceiver();
  proxy.answer(({ path }, response) => {
    const [, status] = Object.entries(pages).find(([at]) => path.startsWith(at)) ?? [];
    response.writeHead(present(status, path), { 'content-type': 'text/html' });
    response.end('<h1>Please wait</h1>');
  });
  for (const at of Object.keys(pages)) {
    const api = new DeviceApi(`${proxy.url}${at}`, 'key');
    await assert.rejects(
      api.refund({ payment: 'pay_1' }, 'key', new AbortController().signal),
      (error) => error instanceof DeviceApiError && mayComeAgain(error),
      at,
    );
  }
  await proxy.close();
  class Broken extends DeviceApi {
    override createIntent(): Promise<never> {
      throw new TypeError('price is not a function');
    }
  }
  const news: unknown[] = [];
  const sales = new Sales({
    api: new Broken(proxy.url, 'key'),
    signal: new AbortController().signal,
    report: (observation) => news.push(observation),
  });
  const stored = withSale(NOTHING_STORED(UNREGISTERED), ASKED, { id: 'id', now: 0 });
  await assert.rejects(sales.sell(stored.sale), /price is not a function/);
  assert.equal(news.length, 1);
});

test('a refund is never requested after 47 hours, when the network forgets its key', async () => {
  class Counting extends DeviceApi {
    requests = 0;
    override refund(...input: Parameters<DeviceApi['refund']>) {
      this.requests += 1;
      return super.refund(...input);
    }
  }
  const api = new Counting('http://127.0.0.1:9', 'key');
  for (const [hours, requests] of [[48, 0] as const, [46, 1] as const]) {
    const end = new AbortController();
    const news: Observation[] = [];
    const report = (observation: Observation) => {
      news.push(observation);
      end.abort();
    };
    assert.ok(REQUESTED.status === 'requested');
    const request = { ...REQUESTED.request, at: Date.now() - hours * 3_600_000 };
    const reply = { of: { receipt: 17, price: null }, money: null, original_trace: null };
    const { refund } = withRefund(NOTHING_STORED(UNREGISTERED), reply, 'id');
    const stored = { ...refund, status: 'requested', request } as const;
    await new Sales({ api, signal: end.signal, report }).refund(stored);
    const expected = hours > 47 ? { status: 'refused', code: 0xff } : { status: 'unreachable' };
    assert.deepEqual(news, [{ type: 'refund', key: stored.key, news: expected }]);
    assert.equal(api.requests, requests);
  }
});

const ASKED = { amount: 1250, currency: null, number: null, mayName: [] };

test('a register that was cut off and asks for the same amount learns of its sale', async () => {
  const { served, register } = await open();
  register.acknowledges = (frame) => !PAID.test(frame);
  register.send(authorization(900));
  await tapped(served, 'ok');
  await register.until(PAID);
  await register.cut();
  const again = await registered(served);
  again.send(authorization(900));
  await again.until(/^040f..2783.*3cf[0-9]f[0-9]/);
  await again.until(NOT_POSSIBLE);
  again.send(ASK.repeatReceipt);
  await resultOf(again);
  assert.equal((await paymentsOf(served)).length, 1);
});

test('a restart of the reader forgets neither the result nor the last sale', async () => {
  const { served, register } = await open();
  register.acknowledges = (frame) => !PAID.test(frame);
  register.send(authorization(950));
  await tapped(served, 'ok_2');
  await register.until(PAID);
  const stored = JSON.parse(await readFile(served.file, 'utf8'));
  assert.deepEqual([stored.sale.status, stored.sale.delivery], ['paid', 'sent']);
  assert.equal((await stat(served.file)).mode & 0o077, 0);
  await served.restart();
  const after = await served.connect();
  after.send(ASK.repeatReceipt);
  assert.match(await resultOf(after), /04000000000950/);
  assert.equal((await paymentsOf(served)).length, 1);
});

test('an unknown result is never "declined": system error, and then the truth', async () => {
  const make = (server: string, key: string) => new CutOff(server, key);
  const { served, register } = await open({ make, timeoutMs: 3_000 });
  register.send(authorization(550));
  await served.till.until('waiting');
  cut(served, true);
  await served.till.tap(pass('ok'));
  await register.until(/^061e01ff/);
  assert.ok(!register.frames.some((frame) => /^040f|^060f00/.test(frame)));
  cut(served, false);
  register.send(ASK.repeatReceipt);
  await resultOf(register);
  assert.equal((await paymentsOf(served)).length, 1);
});
