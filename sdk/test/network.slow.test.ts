import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { OutcomeUnknownError, type Refund, Tapline, usdc } from 'tapline';
import { installTool } from '../../testkit/fixtures/core/tools.ts';
import { type OwnNetwork, startOwnNetwork } from '../../testkit/network/spawn-network.ts';
import { type Cut, startCuttingProxy } from './cutting-proxy.ts';

const run = promisify(execFile);
const JOURNEY = path.join(import.meta.dirname, 'run-journey.mjs');

let network: OwnNetwork;
let tapline: Tapline;
let at: { readonly baseUrl: string; readonly apiKey: string; readonly terminal: string };

before(async () => {
  network = await startOwnNetwork({ env: { RATE_LIMIT: '1000/1' } });
  const { base_url: baseUrl, test: mode } = network.sandbox;
  at = { baseUrl, apiKey: mode.secret_key, terminal: mode.terminal };
  tapline = new Tapline(at.apiKey, { baseUrl });
});

after(() => network?.close());

/** Installs the supported Node versions: older ones from npm in a separate folder, and ours. */
async function installNodes(to: string): Promise<string[]> {
  const tool = await installTool('nodes', to);
  const older = ['node-20', 'node-22'];
  return [...older.map((name) => tool.installed(path.join(name, 'bin/node'))), process.execPath];
}

test('a whole sale works in Node 20, 22 and 24', async (t) => {
  const nodes = await installNodes(path.join(network.dataDir, 'nodes'));
  const versions: string[] = [];
  for (const node of nodes) {
    const { stdout: version } = await run(node, ['--version']);
    const { stdout } = await run(node, [JOURNEY, at.baseUrl, at.apiKey, at.terminal]);
    versions.push(version.split('.')[0] ?? '');
    t.diagnostic(`Node ${version.trim()}`);
    assert.deepEqual(JSON.parse(stdout), {
      intent: 'succeeded',
      onePayment: true,
      refund: 'succeeded',
      refusal: 'payment_already_refunded',
      event: 'payment.succeeded',
    });
  }
  assert.deepEqual(versions, ['v20', 'v22', 'v24']);
});

/** Sells and refunds, with each step's connection cut at a different byte. */
async function saleWithCuts(order_id: string, cuts: readonly Cut[]): Promise<string> {
  const port = Number(new URL(at.baseUrl).port);
  const through = async <T>(cut: Cut, act: (client: Tapline) => Promise<T>): Promise<T> => {
    const proxy = await startCuttingProxy(port, cut);
    const baseUrl = `http://127.0.0.1:${proxy.port}/api`;
    const result = await act(new Tapline(at.apiKey, { baseUrl, maxRetries: 5 }));
    await proxy.close();
    return result;
  };
  const [forCreate, forTap, forRefund] = cuts as [Cut, Cut, Cut];
  const order = { amount: usdc('2.50'), terminal: at.terminal, order_id, expires_in: 600 };
  const { id } = await through(forCreate, (client) => client.paymentIntents.create(order));
  await through(forTap, (client) => client.testHelpers.tap(at.terminal, { payment_intent: id }));
  const { payment } = await tapline.paymentIntents.waitFor(id);
  assert.ok(payment);
  await through(forRefund, (client) => client.refunds.create({ payment }));
  return payment;
}

test('money moves once in each direction, wherever the connections are cut', async () => {
  // Headers and bodies of requests end near byte 500, those of responses near byte 1,000 or 1,900.
  const places = [0, 1, 90, 250, 400, 500, 900, 1_200, 1_700];
  const cuts = places.flatMap((after) => [
    { of: 'request' as const, after },
    { of: 'answer' as const, after },
  ]);
  const sales = cuts.map((cut, index) => {
    const next = (by: number) => cuts[(index + by) % cuts.length] as Cut;
    return saleWithCuts(`cut-${index}`, [cut, next(5), next(11)]);
  });
  for (const [index, id] of (await Promise.all(sales)).entries()) {
    const payment = await tapline.payments.retrieve(id);
    assert.equal(payment.order_id, `cut-${index}`);
    assert.equal(payment.amount_refunded, payment.amount);
    const refunds = await tapline.refunds.list({ payment: id }).page;
    assert.deepEqual(
      refunds.data.map(({ status }) => status),
      ['succeeded'],
    );
    const intents = await tapline.payments.list({ payment_intent: payment.payment_intent }).page;
    assert.equal(intents.data.length, 1);
  }
});

test('the result of a lost refund is found, and it is the only refund', async () => {
  const { id } = await tapline.paymentIntents.create({ amount: 1_000_000, terminal: at.terminal });
  await tapline.testHelpers.tap(at.terminal, { payment_intent: id });
  const { payment } = await tapline.paymentIntents.waitFor(id);
  assert.ok(payment);
  const hasty = new Tapline(at.apiKey, { baseUrl: at.baseUrl, timeout: 100, maxRetries: 0 });
  const error = await hasty.refunds.create({ payment }).catch((one: unknown) => one);
  assert.ok(error instanceof OutcomeUnknownError);
  let refund: unknown;
  while (refund === undefined) {
    refund = await error.resolve().catch((still: unknown) => {
      assert.ok(still instanceof OutcomeUnknownError);
    });
  }
  const { data } = await tapline.refunds.list({ payment }).page;
  assert.deepEqual(
    data.map(({ id }) => id),
    [(refund as Refund).id],
  );
});

test('waitFor notices an end during its wait, and its own time limit', async () => {
  const { id } = await tapline.paymentIntents.create({ amount: 1_000_000, terminal: at.terminal });
  await assert.rejects(tapline.paymentIntents.waitFor(id, { timeout: 300 }), {
    name: 'WaitTimeoutError',
  });
  const signal = AbortSignal.timeout(300);
  await assert.rejects(tapline.paymentIntents.waitFor(id, { signal }), { name: 'TimeoutError' });
  const waiting = tapline.paymentIntents.waitFor(id);
  await tapline.paymentIntents.cancel(id);
  assert.equal((await waiting).cancellation_reason, 'requested_by_merchant');
});

test('all waits share one stream, and no wait polls by itself', async () => {
  const requests: string[] = [];
  const watched = (input: string | URL | Request, init: RequestInit = {}) => {
    requests.push(new URL(String(input)).pathname.replace(/pi_.*/, 'pi'));
    return fetch(input, init);
  };
  const client = new Tapline(at.apiKey, { baseUrl: at.baseUrl, fetch: watched });
  const order = { amount: 1_000_000, terminal: at.terminal };
  const many = Array.from({ length: 100 }, () => tapline.paymentIntents.create(order));
  const ids = (await Promise.all(many)).map(({ id }) => id);
  const waits = ids.map((id) => client.paymentIntents.waitFor(id));
  const count = (path: string) => requests.filter((one) => one.endsWith(path)).length;
  while (count('/pi') < ids.length || count('/stream') === 0) await sleep(20);
  await Promise.all(ids.map((id) => tapline.paymentIntents.cancel(id)));
  const ended = await Promise.all(waits);
  assert.ok(ended.every(({ status }) => status === 'canceled'));
  assert.equal(count('/stream'), 1);
  // A wait usually reads twice, before and after the event. The limit allows for one more read.
  assert.ok(count('/pi') <= 3 * ids.length, `${count('/pi')} looks`);
  assert.equal(count('/events'), 1);
});

test('events come one by one, without a gap after the last one seen', async () => {
  const [before] = (await tapline.events.list({ limit: 1 }).page).data;
  assert.ok(before);
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) {
    const order = { amount: 1_000_000, terminal: at.terminal };
    ids.push((await tapline.paymentIntents.create(order)).id);
  }
  const types = 'payment_intent.created';
  const seen: string[] = [];
  for await (const event of tapline.events.stream({ after: before.id, types })) {
    seen.push(event.type === types ? event.data.object.id : event.type);
    if (seen.length === 2) break;
  }
  assert.deepEqual(seen, ids.slice(0, 2));
});

test('a stream resumes after its last event, and never polls the list', async () => {
  const requests: string[] = [];
  let cut = new AbortController();
  const watched = (input: string | URL | Request, init: RequestInit = {}) => {
    requests.push(new URL(String(input)).pathname);
    const end = new AbortController();
    for (const signal of [init.signal, cut.signal]) {
      signal?.addEventListener('abort', () => end.abort(signal.reason));
    }
    return fetch(input, { ...init, signal: end.signal });
  };
  const client = new Tapline(at.apiKey, { baseUrl: at.baseUrl, fetch: watched });
  const [before] = (await tapline.events.list({ limit: 1 }).page).data;
  assert.ok(before);
  const create = () => tapline.paymentIntents.create({ amount: 1, terminal: at.terminal });
  const made = [(await create()).id];
  const seen: string[] = [];
  const types = 'payment_intent.created';
  for await (const event of client.events.stream({ types, after: before.id })) {
    assert.equal(event.type, types);
    seen.push((event.data.object as { id: string }).id);
    if (seen.length === 4) break;
    cut.abort();
    cut = new AbortController();
    made.push((await create()).id);
  }
  assert.deepEqual(seen, made);
  assert.deepEqual([...new Set(requests)], ['/api/v1/events/stream']);
  assert.ok(requests.length >= 4, 'it came back after each cut');
});

test('cancelCurrent cancels the terminal’s current request, or nothing', async () => {
  const terminal = network.sandbox.test.agent_terminal;
  const create = () => tapline.paymentIntents.create({ amount: usdc('2.50'), terminal });
  const [first, second] = [await create(), await create()];
  for (const { id } of [first, second]) {
    const canceled = await tapline.terminals.cancelCurrent(terminal);
    assert.deepEqual([canceled?.id, canceled?.status], [id, 'canceled']);
  }
  assert.equal(await tapline.terminals.cancelCurrent(terminal), null);
});
