import assert from 'node:assert/strict';
import { once } from 'node:events';
import { BlockList, connect, type Socket } from 'node:net';
import { afterEach, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { present } from '../../src/core/assert.ts';
import { type Caller, caller } from '../../testkit/apis/api-client.ts';
import { openForTests } from '../../testkit/fixtures/core/open-for-tests.ts';
import { createRandom } from '../../testkit/fixtures/core/random.ts';
import { openSharedSandbox } from '../../testkit/network/shared-sandbox.ts';
import { tag } from './emulated-phones.ts';
import { type ServedRegister, serveTestRegister, TestRegister } from './test-register.ts';
import { ASK, authorization } from './zvt-talk.ts';

/** Programs that connect to the register's port, with a real network behind it. */
let merchant: Caller;

const shared = openForTests(openSharedSandbox, async () => {
  merchant = caller(`${shared.sandbox.base_url}/v1`, shared.sandbox.test.secret_key);
});

const opened: ServedRegister[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const served of opened.splice(0)) await served.end();
});

const PAID = /^040f..2700/;
const COMPLETED = /^060f00/;
const REGISTERED = /^060f0a1900/;
const WAITING = /^04ff010a/;

async function open(options?: Parameters<typeof serveTestRegister>[1]): Promise<ServedRegister> {
  const served = await serveTestRegister(shared.sandbox, options);
  opened.push(served);
  return served;
}

async function connection({ port }: ServedRegister, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port: port(), host: '127.0.0.1', localAddress, noDelay: true });
  sockets.push(socket.on('error', () => {}));
  await once(socket, 'connect');
  return socket;
}

async function registerAt(served: ServedRegister, localAddress?: string): Promise<TestRegister> {
  return new TestRegister(await connection(served, localAddress));
}

async function registered(served: ServedRegister, localAddress?: string): Promise<TestRegister> {
  const register = await registerAt(served, localAddress);
  register.send(ASK.register);
  await register.until(REGISTERED);
  return register;
}

async function pays({ till }: ServedRegister): Promise<void> {
  await till.until('waiting');
  await till.tap(tag({ text: present(shared.sandbox.test.passes.ok, 'ok') }));
}

async function paymentsOf({ till }: ServedRegister): Promise<Record<string, unknown>[]> {
  const { body } = await merchant.get(`/payments?terminal=${till.terminal.id}&limit=100`);
  return body.data as Record<string, unknown>[];
}

async function sell(served: ServedRegister, register: TestRegister, cents: number): Promise<void> {
  register.send(authorization(cents));
  await pays(served);
  await register.until(PAID);
  await register.until(COMPLETED);
}

const REVERSAL = '06300600000087ffff';
const text = (words: string) => Buffer.from(words, 'latin1').toString('hex');

/** Beginnings of connections that a browser or a scanner makes; none is a register's. */
const NO_REGISTER = [
  ...['GET', 'POST', 'OPTIONS', 'PRI'].map((method) => text(`${method} / HTTP/1.1\r\n\r\n`)),
  '16030100c8010000c40303',
  '000100002112a442',
  '0003',
  '800000',
  '849c00',
  '061e016c',
  '040f022700',
  'ffffffffff',
  '05ff00',
];

test('a page or a scan moves no money: a connection begins with a command, or ends', async () => {
  const served = await open();
  const register = await registered(served);
  await sell(served, register, 250);
  for (const begin of NO_REGISTER) {
    const socket = await connection(served);
    const answers: Buffer[] = [];
    socket.on('data', (bytes: Buffer) => answers.push(bytes));
    socket.write(Buffer.from(`${begin}${ASK.register}${REVERSAL}`, 'hex'));
    if (!socket.destroyed) await once(socket, 'close');
    assert.equal(Buffer.concat(answers).toString('hex'), '', begin);
  }
  register.send(ASK.statusEnquiry);
  await register.until(/^060f0100/);
  assert.deepEqual(
    (await paymentsOf(served)).map((one) => one.amount_refunded),
    [0],
  );
});

test('a register that opens a connection per command sells and reverses', async () => {
  const served = await open();
  const first = await registered(served);
  first.socket.end();
  const second = await registerAt(served);
  await sell(served, second, 250);
  second.socket.end();
  const third = await registerAt(served);
  third.send(REVERSAL);
  await third.until(PAID);
  await third.until(COMPLETED);
  const [payment] = await paymentsOf(served);
  assert.equal(payment?.amount_refunded, payment?.amount);
  await served.restart();
  const stranger = await registerAt(served);
  stranger.send(authorization(300));
  await stranger.until(/^846b00/);
});

test('a register whose cable was pulled takes its sale over, and hears its result', async () => {
  for (const ask of ['', authorization(400), ASK.repeatReceipt]) {
    const served = await open();
    const lost = await registered(served);
    lost.send(authorization(400));
    await lost.until(WAITING);
    // The first connection stays open, and nothing is read from it any more.
    lost.socket.pause();
    const other = await registerAt(served, '127.0.0.2');
    other.send(ASK.register);
    await other.until(/^849c00/);
    const back = await registered(served);
    if (ask !== '') back.send(ask);
    await pays(served);
    await back.until(PAID);
    await back.until(COMPLETED);
    assert.equal((await paymentsOf(served)).length, 1);
  }
});

test('only the addresses that may connect reach the reader', async () => {
  const peers = new BlockList();
  peers.addAddress('127.0.0.2', 'ipv4');
  const served = await open({ peers });
  const stranger = await connection(served);
  await once(stranger.resume(), 'close');
  await registered(served, '127.0.0.2');
});

/** Connects as health checks and port scans do, until it is stopped. */
function probes(served: ServedRegister): () => Promise<number> {
  let isOver = false;
  let count = 0;
  const running = (async () => {
    for (; !isOver; count++) {
      const socket = await connection(served, count % 2 === 0 ? '127.0.0.1' : '127.0.0.2');
      const bytes = ['', '47', NO_REGISTER[count % NO_REGISTER.length] ?? '', ASK.statusEnquiry];
      socket.write(Buffer.from(bytes[count % bytes.length] ?? '', 'hex'));
      await setTimeout(100);
      if (count % 3 === 0) socket.resetAndDestroy();
      else if (count % 3 === 1) socket.end();
    }
  })();
  return async () => {
    isOver = true;
    await running;
    return count;
  };
}

test('with ten probes a second, 50 sales have 50 results', async () => {
  const served = await open();
  const register = await registered(served);
  const stop = probes(served);
  for (let sale = 1; sale <= 50; sale++) await sell(served, register, 100 + sale);
  assert.ok((await stop()) > 50);
  const prices = (await paymentsOf(served)).map((one) => (one.presentment as Price).amount);
  assert.deepEqual(
    prices.toSorted((a, b) => a - b),
    Array.from({ length: 50 }, (_, index) => 101 + index),
  );
});

interface Price {
  readonly amount: number;
}

test('of 10,000 mutated frames, none ends a sale that waits', async () => {
  const served = await open();
  const register = await registered(served);
  register.send(authorization(400));
  await register.until(WAITING);
  const random = createRandom(101, 'frames of a sale that waits');
  const valid = [...Object.values(ASK), authorization(1250), authorization(99, '0117')];
  for (let sent = 0; sent < 10_000; sent++) {
    const bytes = Buffer.from(random.pick(valid), 'hex');
    bytes[random.below(bytes.length)] = random.below(256);
    const hex = bytes.toString('hex');
    if (hex !== ASK.abort) register.send(hex);
    if (sent % 100 === 0) await setTimeout(1);
  }
  // A length that was mutated takes the frames after it with it, for the time of one frame.
  await setTimeout(6_000);
  await pays(served);
  await register.until(PAID);
  await register.until(COMPLETED);
});
