import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { present } from '#core/assert.ts';
import { type Caller, caller } from '#testing/api-client.ts';
import { openSharedSandbox, type SharedSandbox } from '#testing/shared-sandbox.ts';
import { DeviceApi } from '../../reader/src/index.ts';
import { readFields, readFrame } from '../../reader/src/zvt/apdu.ts';
import { decodeText } from '../../reader/src/zvt/text.ts';
import { fundedAccount } from '../../web/testing/payer.ts';
import { haloChip } from './emulated-chips.ts';
import { tag } from './emulated-phones.ts';
import { type ServedRegister, serveTestRegister, type TestRegister } from './test-register.ts';
import { ASK, authorization } from './zvt-talk.ts';

/** A cash register on the real protocol, at a real network. */
let shared: SharedSandbox;
let merchant: Caller;

before(async () => {
  shared = await openSharedSandbox();
  merchant = caller(`${shared.sandbox.base_url}/v1`, shared.sandbox.test.secret_key);
});

after(() => shared.close());

const PAID = /^040f(..|ff....)2700/;
const ABORTED = /^040f..276c/;
const COMPLETED = /^060f00/;
const WAITING = /^04ff010a/;

function pass(name: 'ok' | 'ok_2') {
  return tag({ text: present(shared.sandbox.test.passes[name], name) });
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

/** Returns the printed lines that a register has received. */
function printedBy(register: TestRegister): string[] {
  return register.frames
    .filter((frame) => frame.startsWith('06d1'))
    .map((frame) => {
      const read = present(readFrame(Buffer.from(frame, 'hex')), frame);
      return decodeText(read.frame.data.subarray(1), 'cp437');
    });
}

test('a sale in euros: the register asks, a pass pays, result and receipt come back', async () => {
  const served = await serveTestRegister(shared.sandbox);
  const register = await registered(served);
  register.send(authorization(1250));
  await register.until(WAITING);
  await served.till.until('waiting');
  await served.till.tap(pass('ok'));
  const result = await register.until(PAID);
  await register.until(COMPLETED);
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
  await served.end();
});

test('dollars are USDC without a rate, and a chip that signs pays as well', async () => {
  const account = await fundedAccount(shared.sandbox, 20_000_000n);
  const served = await serveTestRegister(shared.sandbox);
  const register = await registered(served, '060006000000080840');
  register.send(authorization(250));
  await register.until(WAITING);
  await served.till.until('waiting');
  await served.till.tap(haloChip(account));
  await register.until(PAID);
  await register.until(COMPLETED);
  const [payment] = await paymentsOf(served);
  assert.deepEqual([payment?.amount, payment?.presentment], [2_500_000, null]);
  await served.end();
});

test('a currency without a rate is refused before a sale exists', async () => {
  const served = await serveTestRegister(shared.sandbox);
  const register = await registered(served);
  register.send('06010a04000000001250490999');
  await register.until(/^061e046f490978/);
  await served.end();
});

test('a reversal returns the whole sale, and a refund names its receipt', async () => {
  const served = await serveTestRegister(shared.sandbox);
  const register = await registered(served);
  const sell = async (cents: number) => {
    register.send(authorization(cents));
    await served.till.until('waiting');
    await served.till.tap(pass('ok'));
    const result = await register.until(PAID);
    await register.until(COMPLETED);
    return present(/49097887(....)/.exec(result)?.[1], result);
  };
  const first = await sell(600);
  await sell(400);
  register.send(ASK.reverseLast);
  assert.match(await register.until(PAID), /04000000000400/);
  await register.until(COMPLETED);
  register.send(`06310d0000000400000000025087${first}`);
  assert.match(await register.until(PAID), /04000000000250/);
  await register.until(COMPLETED);
  const shares = (await paymentsOf(served)).map((one) => [one.amount_refunded === one.amount]);
  assert.deepEqual(shares, [[true], [false]]);
  register.send(ASK.endOfDay);
  // 3.50 EUR are left of the first sale, and nothing of the second one.
  assert.match(await register.until(PAID), /04000000000350.*01000000000350/);
  await register.until(COMPLETED);
  assert.ok(printedBy(register).includes('1 x TOTAL'));
  await served.end();
});

test('abort at the register cancels the sale, and so does a canceled intent', async () => {
  const served = await serveTestRegister(shared.sandbox);
  const register = await registered(served);
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
  await served.end();
});

test('a register that is cut off gets the result of the same amount when it is back', async () => {
  const served = await serveTestRegister(shared.sandbox);
  const register = await registered(served);
  register.acknowledges = (frame) => !PAID.test(frame);
  register.send(authorization(900));
  await served.till.until('waiting');
  await served.till.tap(pass('ok'));
  await register.until(PAID);
  await register.cut();
  const again = await registered(served);
  again.send(authorization(900));
  await again.until(PAID);
  await again.until(COMPLETED);
  assert.equal((await paymentsOf(served)).length, 1);
  await served.end();
});

test('a restart of the reader forgets neither the result nor the last sale', async () => {
  const served = await serveTestRegister(shared.sandbox);
  const register = await registered(served);
  register.acknowledges = (frame) => !PAID.test(frame);
  register.send(authorization(950));
  await served.till.until('waiting');
  await served.till.tap(pass('ok_2'));
  await register.until(PAID);
  const stored = JSON.parse(await readFile(served.file, 'utf8'));
  assert.deepEqual([stored.sale.status, stored.sale.delivery], ['paid', 'sent']);
  assert.equal((await stat(served.file)).mode & 0o077, 0);
  await served.restart();
  const after = await served.connect();
  after.send(ASK.repeatReceipt);
  assert.match(await after.until(PAID), /04000000000950/);
  await after.until(COMPLETED);
  assert.equal((await paymentsOf(served)).length, 1);
  await served.end();
});

test('an unknown result is never "declined": system error, and then the truth', async () => {
  let isCut = false;
  class Unreachable extends DeviceApi {
    override async changed(...asked: Parameters<DeviceApi['changed']>) {
      if (isCut) throw new TypeError('fetch failed');
      return super.changed(...asked);
    }
    override async intent(...asked: Parameters<DeviceApi['intent']>) {
      if (isCut) throw new TypeError('fetch failed');
      return super.intent(...asked);
    }
  }
  const make = (server: string, key: string) => new Unreachable(server, key);
  const served = await serveTestRegister(shared.sandbox, { make, timeoutMs: 3_000 });
  const register = await registered(served);
  register.send(authorization(550));
  await served.till.until('waiting');
  isCut = true;
  await served.till.tap(pass('ok'));
  await register.until(/^061e01ff/);
  assert.ok(!register.frames.some((frame) => /^040f|^060f00/.test(frame)));
  isCut = false;
  register.send(ASK.repeatReceipt);
  await register.until(PAID);
  await register.until(COMPLETED);
  assert.equal((await paymentsOf(served)).length, 1);
  await served.end();
});
