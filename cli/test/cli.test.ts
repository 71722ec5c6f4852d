import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { sign, verify } from 'tapline/webhooks';
import { EVENT_TYPES } from '../../src/events/event-types.ts';
import { freePort } from '../../src/sandbox/find-and-stop-processes.ts';
import { eventually } from '../../testkit/fixtures/webhooks/webhooks.ts';
import { type OwnNetwork, startOwnNetwork } from '../../testkit/network/spawn-network.ts';
import { startTcpProxy, type TcpProxy } from '../../testkit/network/tcp-proxy.ts';
import { startReceiver } from '../../testkit/network/webhook-receiver.ts';
import { type JsonObject, PROGRAM, type Ran, runCli, startCli } from './run-cli.ts';

let network: OwnNetwork;
let env: Record<string, string>;

before(async () => {
  network = await startOwnNetwork({ env: { RATE_LIMIT: '1000/1' } });
  const { dataDir } = network;
  env = { TAPLINE_DATA_DIR: dataDir, XDG_CONFIG_HOME: path.join(dataDir, 'config') };
});

after(() => network?.close());

const cli = (...args: string[]) => runCli([...args, '--json'], env);

async function done(...args: string[]): Promise<JsonObject> {
  const ran = await cli(...args);
  assert.equal(ran.code, 0, `${args}: ${ran.stdout}${ran.stderr}`);
  return ran.objects[0] ?? {};
}

interface Received {
  readonly url: string;
  readonly type: string;
  readonly id: string;
  readonly tunnel: unknown;
}

interface Shop {
  readonly url: string;
  readonly received: Received[];
  close(): Promise<void>;
}

/** Starts a merchant's receiver, as in the SDK's guide. It stores correctly signed events. */
async function startShop(secret: string): Promise<Shop> {
  const received: Received[] = [];
  const { url, answer, close } = await startReceiver();
  answer(async ({ path: target, headers, body }, response) => {
    try {
      const { type, id } = await verify(body, headers, secret);
      // The Standard Webhooks headers are valid, too.
      new Webhook(secret).verify(body.toString(), headers as Record<string, string>);
      received.push({ url: target, type, id, tunnel: headers['x-tunnel'] });
      response.writeHead(200).end();
    } catch {
      response.writeHead(400).end();
    }
  });
  return { url, received, close };
}

const typeOf = ({ event }: JsonObject) => (event as { type?: string } | undefined)?.type;

describe('listen and trigger', () => {
  let receiver: Shop;
  let wire: TcpProxy;

  before(async () => {
    const { secret } = await done('listen', '--print-secret');
    receiver = await startShop(String(secret));
    wire = await startTcpProxy(Number(new URL(network.sandbox.base_url).port));
  });

  after(async () => {
    await wire?.close();
    await receiver?.close();
  });

  test('every type of event reaches a receiver, signed, even if connections break', async () => {
    const baseUrl = `http://127.0.0.1:${wire.port}/api`;
    const to = `${receiver.url}/hook?shop=7`;
    const listening = startCli(['listen', '--forward-to', to, '--base-url', baseUrl], env);
    await listening.until(({ ready }) => ready === true);
    const types = EVENT_TYPES.filter((type) => type !== 'ping');
    const cutting = setInterval(() => wire.cutAll(), 700);
    const left = [...types];
    const worker = async () => {
      for (let type = left.pop(); type !== undefined; type = left.pop())
        await done('trigger', type);
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    clearInterval(cutting);
    for (const type of types) await listening.until((line) => typeOf(line) === type);
    // Every listed event was forwarded at least once.
    const { objects } = await cli('events', '--limit', '100');
    const begun = objects.findIndex(({ type }) => type === 'kyb.status_changed');
    const listed = objects.slice(0, begun).map(({ id }) => String(id));
    const forwarded = () => new Set(receiver.received.map(({ id }) => id));
    await eventually('all is forwarded', async () => listed.every((id) => forwarded().has(id)));
    assert.equal(await listening.stop(), 0);
    assert.deepEqual([...new Set(receiver.received.map(({ type }) => type))].sort(), types.sort());
    assert.ok(receiver.received.every(({ url }) => url === '/hook?shop=7'));
  });

  test('a resent event reaches the listener, and the result is shown', async () => {
    const listening = startCli(['listen', '--forward-to', receiver.url], env);
    await listening.until(({ ready }) => ready === true);
    const { intent } = await done('trigger', 'payment_intent.canceled');
    const canceled = (line: JsonObject) => typeOf(line) === 'payment_intent.canceled';
    const { event } = await listening.until(canceled);
    const { id } = event as { id: string };
    const again = await done('resend', id);
    assert.equal((again.forward as { status: number }).status, 200);
    assert.equal(receiver.received.filter((one) => one.id === id).length, 2);
    assert.ok((intent as { id: string }).id.startsWith('pi_'));
    await listening.stop();
    const alone = await cli('resend', id);
    assert.equal(alone.code, 1);
    assert.match(alone.stdout, /No listener is running on this machine/);
  });

  test('each receiver gets its event types, with the requested headers', async (t) => {
    const other = await startShop(String((await done('listen', '--print-secret')).secret));
    t.after(() => other.close());
    receiver.received.length = 0;
    const to = ['--forward-to', `payment.*=${receiver.url}`, '--forward-to', `${other.url}/all`];
    const listening = startCli(['listen', ...to, '--header', 'X-Tunnel: shop'], env);
    await listening.until(({ ready }) => ready === true);
    const chosen = ['--amount', '3.75', '--order', 'T-1', '--metadata', 'table=7'];
    await done('trigger', 'payment_intent.created', ...chosen, '--description', 'Two teas');
    const created = (line: JsonObject) => typeOf(line) === 'payment_intent.created';
    await listening.until(created);
    await done('trigger', 'payment.succeeded');
    await listening.until((line) => typeOf(line) === 'payment.succeeded');
    await listening.stop();
    assert.ok(receiver.received.some(({ type }) => type === 'payment.succeeded'));
    assert.ok(receiver.received.every(({ type }) => type.startsWith('payment.')));
    assert.ok(other.received.some(({ type }) => type === 'payment_intent.created'));
    assert.ok(other.received.every(({ tunnel }) => tunnel === 'shop'));
    const { objects } = await cli('list', 'payment_intents', 'order_id=T-1');
    const [{ amount, description, metadata } = {}] = objects;
    const expected = { amount: 3_750_000, description: 'Two teas', metadata: { table: '7' } };
    assert.deepEqual({ amount, description, metadata }, expected);
  });

  test('--events chooses what is shown and forwarded', async () => {
    const chosen = 'payment_intent.canceled';
    const args = ['listen', '--events', chosen, '--forward-to', receiver.url];
    const listening = startCli(args, env);
    await listening.until(({ ready }) => ready === true);
    receiver.received.length = 0;
    await done('trigger', 'payment.succeeded');
    await done('trigger', chosen);
    await listening.until((line) => typeOf(line) === chosen);
    assert.equal(await listening.stop(), 0);
    assert.ok(receiver.received.length > 0);
    assert.ok(receiver.received.every(({ type }) => type === chosen));
    const types = listening.objects.map(typeOf).filter((type) => type !== undefined);
    assert.ok(types.every((type) => type === chosen));
  });

  test('in CI: --until exits with 0 once delivered, with 1 on time-out or refusal', async () => {
    const seen = startCli(['listen', '--until', 'payment_intent.canceled', '--timeout', '60'], env);
    await seen.until(({ ready }) => ready === true);
    const ended = once(seen.child, 'exit');
    await done('trigger', 'payment_intent.canceled');
    assert.deepEqual(await ended, [0, null]);
    const late = await cli('listen', '--until', 'refund.failed', '--timeout', '0.5');
    assert.equal(late.code, 1);
    const until = ['--until', 'payment_intent.canceled'];
    const refused = startCli(
      ['listen', ...until, '--forward-to', `${network.sandbox.web_url}/x`],
      env,
    );
    await refused.until(({ ready }) => ready === true);
    const refusal = once(refused.child, 'exit');
    await done('trigger', 'payment_intent.canceled');
    assert.deepEqual(await refusal, [1, null]);
  });

  test('replay --forward-to sends the events of a period again, oldest first', async () => {
    receiver.received.length = 0;
    const ran = await cli(
      'replay',
      '--since',
      '1h',
      '--types',
      'payment.*',
      '--forward-to',
      receiver.url,
    );
    assert.equal(ran.code, 0, ran.stderr);
    assert.ok(receiver.received.length >= 3);
    assert.ok(receiver.received.every(({ type }) => type.startsWith('payment.')));
    const ids = ran.objects.map(({ event }) => event);
    assert.deepEqual(
      receiver.received.map(({ id }) => id),
      ids,
    );
  });

  test('probe buys like a customer, and Prometheus sees since when it has failed', async () => {
    const once = await cli('probe');
    assert.equal(once.code, 0, once.stderr);
    assert.match(String(once.objects[0]?.detail), /^pi_/);
    const { ok, revoked } = network.sandbox.test.passes;
    const own = startCli(['probe'], { ...env, TAPLINE_PROBE_PASS: String(ok) });
    assert.ok(await own.until((line) => line.ok === true));
    const refused = startCli(['probe'], { ...env, TAPLINE_PROBE_PASS: String(revoked) });
    const said = await refused.until((line) => line.ok === false);
    assert.match(String(said.detail), /pass_revoked/);
    const away = await cli('probe', '--base-url', 'http://127.0.0.1:9/api');
    assert.equal(away.code, 1);
    const port = await freePort();
    const running = startCli(['probe', '--listen', `127.0.0.1:${port}`], env);
    await running.until(({ ok }) => ok === true);
    const numbers = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const [, at] = /^tapline_probe_last_success_timestamp_seconds ([\d.]+)$/m.exec(numbers) ?? [];
    assert.ok(Math.abs(Number(at) - Date.now() / 1_000) < 10, numbers);
    assert.match(numbers, /^tapline_probe_failures_total 0$/m);
    await running.stop();
  });

  test('post accepts the example in its help', async () => {
    const { stdout } = await runCli(['post', '--help'], env);
    const [example = ''] = /amount=\d+ metadata\.table=\d+/.exec(stdout.replace(/\s+/g, ' ')) ?? [];
    const made = await cli('post', 'payment_intents', ...example.split(' '), 'order_id=1007');
    assert.equal(made.code, 0, made.stdout);
    const { amount, metadata, order_id } = made.objects.at(-1) as Record<string, unknown>;
    assert.deepEqual([amount, metadata, order_id], [2_500_000, { table: '7' }, '1007']);
  });

  test('doctor checks a receiver of Standard Webhooks', async (t) => {
    const { secret } = await done('listen', '--print-secret');
    const webhook = new Webhook(String(secret));
    const standard = await startReceiver();
    t.after(() => standard.close());
    standard.answer(({ headers, body }, response) => {
      try {
        webhook.verify(body.toString(), headers as Record<string, string>);
        response.writeHead(204).end();
      } catch {
        response.writeHead(400).end();
      }
    });
    const { code, objects } = await cli('doctor', '--receiver', String(standard.port));
    const failed = objects.filter(({ ok }) => ok === false).map(({ check }) => check);
    assert.deepEqual([code, failed], [0, []]);
  });

  test('doctor finds a receiver that accepts everything', async () => {
    const good = await cli('doctor', '--receiver', receiver.url);
    assert.equal(good.code, 0, good.stdout);
    const token = good.objects.find(({ check }) => check === 'token of the testnet');
    assert.equal(token?.detail, '"Test USD Coin", version "1"');
    const naive = await startReceiver();
    const bad = await cli('doctor', '--receiver', naive.url);
    await naive.close();
    assert.equal(bad.code, 1);
    const failed = bad.objects.filter(({ ok }) => ok === false).map(({ check }) => check);
    assert.deepEqual(failed, [
      'receiver refuses a wrong signature',
      'receiver refuses an old signature',
    ]);
    const away = await cli('doctor', '--base-url', `${naive.url}/api`);
    assert.equal(away.code, 1);
    assert.match(String(away.objects[0]?.detail), /does not answer.*ECONNREFUSED/);
  });
});

describe('acting as the customer', () => {
  test('tap, confirm, expire and clock do what they say', async () => {
    // Rejects first: after an approval, this pass would pay at this merchant without a
    // confirmation.
    const doubted = await done('tap', '--pass', 'confirm', '--amount', '2.51');
    const rejected = await done('confirm', String(doubted.id), '--reject');
    assert.equal((rejected.last_payment_error as JsonObject).decline_code, 'payer_rejected');
    await done('expire', String(doubted.id));
    const tapped = await done('tap', '--pass', 'confirm', '--amount', '2.50');
    assert.equal(tapped.status, 'requires_action');
    const confirmed = await done('confirm', String(tapped.id));
    assert.ok(['processing', 'succeeded'].includes(String(confirmed.status)));
    const poor = await done('tap', '--pass', 'insufficient_funds', '--amount', '2.50');
    assert.equal((poor.last_payment_error as JsonObject).decline_code, 'insufficient_funds');
    const expired = await done('expire', String(poor.id));
    assert.equal(expired.cancellation_reason, 'expired');
    assert.equal((await done('get', String(poor.id))).id, poor.id);
    const { advanced_seconds: before } = await done('clock');
    const { advanced_seconds } = await done('clock', '--advance', '2m');
    assert.equal(advanced_seconds, Number(before) + 120);
  });

  test('trigger runs the steps of a file, each with values from earlier responses', async () => {
    const file = path.join(network.dataDir, 'scene.json');
    const of = (answered: string) => `\${${answered}}`;
    const write = (steps: unknown) => writeFile(file, JSON.stringify({ steps }));
    const params = { amount: 1_250_000, terminal: of('tapline:terminal'), order_id: 'S-1' };
    const sale = { name: 'sale', path: 'payment_intents', params };
    const tapped = {
      name: 'tap',
      path: `test_helpers/terminals/${of('tapline:terminal')}/tap`,
      params: { payment_intent: of('sale:id') },
    };
    const paid = {
      name: 'paid',
      method: 'get',
      path: `payment_intents/${of('sale:id')}`,
      until: { status: 'succeeded' },
    };
    const back = { name: 'back', path: 'refunds', params: { payment: of('paid:payment') } };
    await write([sale, tapped, paid, back]);
    const ran = await cli('trigger', file);
    assert.equal(ran.code, 0, ran.stdout);
    assert.deepEqual(
      ran.objects.map(({ step }) => step),
      ['sale', 'tap', 'paid', 'back'],
    );
    const { answer } = ran.objects[3] ?? {};
    assert.equal((answer as JsonObject).amount, 1_250_000);
    await write([sale]);
    const again = await cli('trigger', file);
    assert.equal(again.code, 1);
    assert.match(again.stdout, /step 1 \(sale\): .*order_id_in_use/s);
    await write([
      { ...sale, params: { ...params, order_id: 'S-2' } },
      { ...back, till: 1 },
    ]);
    const wrong = await cli('trigger', file);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stdout, /step 2: unknown field till/);
    assert.equal((await cli('list', 'payment_intents', 'order_id=S-2')).objects.length, 0);
  });

  test('colors are used in terminals only: not in pipes, not with NO_COLOR', async () => {
    const esc = '\u001b[';
    const words = (more: Record<string, string>) =>
      runCli(['list', 'payment_intents', 'order_id=S-1'], { ...env, ...more });
    const plain = (await words({})).stdout;
    assert.match(plain, /succeeded/);
    assert.ok(!plain.includes(esc));
    const { stdout: painted } = await words({ FORCE_COLOR: '1' });
    assert.ok(painted.includes(`${esc}32msucceeded${esc}0m`));
    assert.equal(stripVTControlCharacters(painted), plain);
    assert.equal((await words({ FORCE_COLOR: '1', NO_COLOR: '1' })).stdout, plain);
    const { stdout: json } = await cli('list', 'payment_intents', 'order_id=S-1');
    assert.ok(!json.includes(esc));
    const onTerminal = (more: Record<string, string>) => {
      const command = `${process.execPath} ${PROGRAM} list payment_intents order_id=S-1`;
      const options = { env: { PATH: process.env.PATH, TERM: 'xterm', ...env, ...more } };
      return execFileSync('script', ['-qec', command, '/dev/null'], options).toString();
    };
    assert.ok(onTerminal({}).includes(esc));
    assert.ok(!onTerminal({ NO_COLOR: '1' }).includes(esc));
  });

  test('logs tail continues with new requests', async () => {
    const tailing = startCli(['logs', 'tail', '--status', '4xx', '--limit', '1'], env);
    const id = 'pi_111111111111111111111111';
    const lost = ({ path: target }: JsonObject) => String(target).includes(id);
    // Sends requests until the log shows one, because the log's first read may come before or after
    // any of them.
    const asking = setInterval(() => void cli('get', id), 500);
    const seen = await tailing.until(lost).finally(() => clearInterval(asking));
    assert.equal(seen.status, 404);
    assert.equal(await tailing.stop(), 0);
    assert.ok(tailing.objects.every(({ status }) => String(status).startsWith('4')));
  });

  test('logs filters requests by status', async () => {
    const missing = await cli('get', 'pi_000000000000000000000000');
    assert.equal(missing.code, 1);
    const deadline = Date.now() + 10_000;
    let result: Ran;
    do result = await cli('logs', '--status', '4xx');
    while (result.objects.length === 0 && Date.now() < deadline);
    assert.ok(result.objects.some(({ status }) => status === 404));
    assert.ok(result.objects.every(({ status }) => String(status).startsWith('4')));
  });

  test('login stores a checked key for a network, readable by this user alone', async () => {
    const { base_url, test: mode } = network.sandbox;
    const remote = { XDG_CONFIG_HOME: env.XDG_CONFIG_HOME ?? '' };
    const bad = await runCli(['login', '--base-url', base_url], remote, {
      input: 'tlsk_test_wrong\n',
    });
    assert.equal(bad.code, 1);
    const args = ['login', '--base-url', base_url];
    const good = await runCli(args, remote, { input: `${mode.secret_key}\n` });
    assert.equal(good.code, 0, good.stderr);
    const file = path.join(remote.XDG_CONFIG_HOME, 'tapline/login.json');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const balance = await runCli(['get', 'balance', '--json'], remote);
    assert.equal(balance.objects[0]?.object, 'balance');
    await runCli(['logout'], remote);
    assert.equal((await runCli(['get', 'balance'], remote)).code, 2);
  });
});

describe('without a network', () => {
  test('wrong usage exits with 2 and says what to do', async () => {
    const nowhere = { XDG_CONFIG_HOME: '/nonexistent' };
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['nonsense'], /unknown command/],
      [['get'], /missing required argument/],
      [['replay'], /required option '--since/],
      [['completion', 'tcsh'], /bash, zsh, fish and powershell/],
    ];
    for (const [args, words] of cases) {
      const { code, stderr } = await runCli(args, nowhere);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, words);
    }
    for (const args of [
      ['get', 'xx_1'],
      ['clock', '--advance', 'soon'],
      ['tap', '--pass', 'gold'],
    ]) {
      assert.equal((await cli(...args)).code, 2, args.join(' '));
    }
    const fraction = await cli('tap', '--amount', '2,50');
    assert.equal(fraction.code, 2);
    assert.match(fraction.stdout, /usdc\('2.50'\)/);
  });

  test('verify says whether a saved message is valid', async () => {
    const body = JSON.stringify({ id: 'evt_1', type: 'ping', data: { object: {} } });
    const signature = await sign(body, 'whsec_x');
    const verifying = (secret: string) =>
      runCli(
        ['verify', '--signature', signature, '--secret', secret, '--json'],
        {},
        { input: body },
      );
    const good = await verifying('whsec_x');
    assert.deepEqual([good.code, good.objects[0]?.valid], [0, true]);
    const bad = await verifying('whsec_y');
    assert.deepEqual([bad.code, bad.objects[0]?.valid], [1, false]);
  });

  test('completion has the commands and their options', async () => {
    const { stdout } = await runCli(['completion', 'bash'], {});
    const call = `_tapline; echo "\${COMPREPLY[@]}"`;
    const ask = (line: string) => {
      const words = `COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1))`;
      return execFileSync('bash', ['-c', `${stdout}\n${words}\n${call}`]).toString();
    };
    assert.match(ask('tapline li'), /^listen/);
    assert.match(ask('tapline listen --for'), /^--forward-to/);
    for (const shell of ['zsh', 'fish']) {
      assert.match((await runCli(['completion', shell], {})).stdout, /forward-to/);
    }
  });
});
