import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { ApiError, OutcomeUnknownError, Tapline } from 'tapline';
import { KEY } from '../../sdk/test/scripted-api.ts';
import { testFolder } from '../../testkit/fixtures/core/test-folder.ts';
import { type Running, runCli, startCli } from './run-cli.ts';

const running: Running[] = [];

after(async () => {
  for (const one of running) if (one.child.exitCode === null) await one.stop();
});

async function startMock(script: string) {
  const mock = startCli(['mock', '--port', '0', '--script', script], {});
  running.push(mock);
  const { base_url } = await mock.until(({ ready }) => ready === true);
  const baseUrl = String(base_url);
  return { mock, baseUrl, tapline: new Tapline(KEY, { baseUrl }) };
}

const ORDER = { amount: 2_500_000, terminal: 'tml_1', order_id: 'A-1' };

describe('tapline mock', () => {
  test('a client that retries correctly ends every fault with one object', async () => {
    const { mock, tapline } = await startMock('lost,cut,503,500,409');
    const made = await tapline.paymentIntents.create(ORDER, { maxRetries: 5 });
    assert.equal(made.amount, ORDER.amount);
    const { data } = await tapline.paymentIntents.list().page;
    assert.deepEqual(
      data.map(({ id }) => id),
      [made.id],
    );
    const keys = mock.objects.filter(({ method }) => method === 'POST').map(({ key }) => key);
    assert.deepEqual([keys.length, new Set(keys).size], [6, 1]);
  });

  test('a lost response leaves an unknown result, which a lookup resolves', async () => {
    const { tapline } = await startMock('cut');
    const error = await tapline.paymentIntents.create(ORDER, { maxRetries: 0 }).catch((one) => one);
    assert.ok(error instanceof OutcomeUnknownError);
    assert.equal((await error.resolve()).order_id, 'A-1');
  });

  test('503 does nothing, slow delays, replay is marked', async () => {
    const { tapline } = await startMock('503,slow:0.3,replay');
    await assert.rejects(tapline.paymentIntents.create(ORDER, { maxRetries: 0 }), ApiError);
    const begun = performance.now();
    assert.deepEqual((await tapline.paymentIntents.list().page).data, []);
    assert.ok(performance.now() - begun >= 300);
    const { response } = await tapline.paymentIntents.create(ORDER).withResponse();
    assert.equal(response.headers.get('Idempotent-Replayed'), 'true');
  });

  test('an unknown fault is wrong usage', async () => {
    const { code, stderr } = await runCli(['mock', '--script', 'cut,fire'], {});
    assert.equal(code, 2);
    assert.match(stderr, /Unknown fault fire/);
  });
});

test('post sends fields under one key, and get and list read the created object', async () => {
  const { baseUrl } = await startMock('');
  const env = { TAPLINE_BASE_URL: baseUrl, TAPLINE_API_KEY: KEY };
  const fields = ['amount=100', 'terminal=tml_1', 'metadata.table=x7'];
  const args = ['post', 'payment_intents', ...fields, '--idempotency-key', 'k-1', '--json'];
  const [first, again] = [await runCli(args, env), await runCli(args, env)];
  assert.deepEqual([first.code, first.objects], [0, again.objects]);
  assert.match(first.stderr, /^Idempotency-Key: k-1$/m);
  const { id, amount, metadata } = first.objects[0] as Record<string, unknown>;
  assert.deepEqual([amount, metadata], [100, { table: 'x7' }]);
  const listed = await runCli(['list', 'payment_intents', '--json'], env);
  assert.deepEqual(
    listed.objects.map((one) => one.id),
    [id],
  );
  assert.equal((await runCli(['list', 'unicorns'], env)).code, 2);
});

test('whoami says which profile, network and mode are used, and never the key', async (t) => {
  const { baseUrl } = await startMock('');
  const env = { XDG_CONFIG_HOME: testFolder(t) };
  const shop = ['--profile', 'shop'];
  const login = ['login', ...shop, '--base-url', baseUrl, '--api-key', KEY];
  assert.equal((await runCli(login, env)).code, 0);
  const { code, stdout, objects } = await runCli(['whoami', ...shop, '--json'], env);
  assert.equal(code, 0);
  const { base_url, mode, source } = objects[0] as Record<string, string>;
  assert.deepEqual([base_url, mode], [baseUrl, 'test']);
  assert.match(String(source), /login-shop\.json/);
  assert.ok(!stdout.includes(KEY));
  assert.equal((await runCli(['whoami', '--profile', 'none'], env)).code, 2);
  assert.equal((await runCli(['whoami', '--profile', '../x'], env)).code, 2);
});
