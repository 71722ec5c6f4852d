import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sign as signWebhook } from 'tapline/webhooks';
import { type Address, createTestClient, createWalletClient, http, publicActions } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { present } from '#core/assert.ts';
import { type Caller, caller } from '#testkit/apis/api-client.ts';
import { readLink, sign } from '#testkit/apis/pay-links.ts';
import { newWallet, signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { type OwnNetwork, startOwnNetwork } from '#testkit/network/spawn-network.ts';
import { runCli, startCli } from '../../cli/test/run-cli.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';
import { freePort } from '../../web/testing/free-port.ts';
import { payingFetch } from '../../x402/test/x402-ground.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** Allows for the next block, one per second, and the webhook that follows it. */
const PAID_WITHIN_MS = 30_000;

let network: OwnNetwork;
let merchant: Caller;
let env: Record<string, string>;
const children: ChildProcess[] = [];

before(async () => {
  network = await startOwnNetwork();
  const { base_url, test: mode } = network.sandbox;
  merchant = caller(`${base_url}/v1`, mode.secret_key);
  env = { TAPLINE_DATA_DIR: network.dataDir, EXAMPLE_PORT: '0' };
});

after(async () => {
  for (const child of children) {
    if (child.exitCode !== null) continue;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
  await network?.close();
});

interface Example {
  readonly child: ChildProcess;
  readonly lines: string[];
  /** Waits for a matching line. */
  line(fits: RegExp): Promise<string>;
}

function startExample(name: string, extra: Readonly<Record<string, string>> = {}): Example {
  const { EXAMPLE_ARG: argument, ...settings } = extra;
  const program = name.endsWith('.py') ? 'python3' : process.execPath;
  const args = [path.join(ROOT, 'examples', name), ...(argument === undefined ? [] : [argument])];
  const child = spawn(program, args, {
    env: { ...process.env, ...env, ...settings },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  assert.ok(child.stdout);
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  return {
    child,
    lines,
    line: async (fits) => {
      const until = Date.now() + PAID_WITHIN_MS;
      for (;;) {
        const result = lines.find((line) => fits.test(line));
        if (result !== undefined) return result;
        assert.ok(Date.now() < until && child.exitCode === null, `${name}: ${lines.join(' / ')}`);
        await sleep(20);
      }
    },
  };
}

async function addressOf(example: Example): Promise<string> {
  return (await example.line(/^listening on /)).replace('listening on ', '');
}

describe('merchant-server.mjs', () => {
  let shop: string;

  before(async () => {
    shop = await addressOf(startExample('merchant-server.mjs'));
  });

  async function order(name: string): Promise<{ status: string; payment?: string }> {
    const response = await fetch(`${shop}/orders/${name}`);
    return (await response.json()) as { status: string; payment?: string };
  }

  test('an order is paid when its webhook arrives, and two requests make one payment', async () => {
    const ask = async () => {
      const response = await fetch(`${shop}/orders`, {
        method: 'POST',
        body: JSON.stringify({ order: 'A-1001', amount: 2_500_000 }),
      });
      assert.equal(response.status, 201);
      return (await response.json()) as { paymentIntent: string };
    };
    const { paymentIntent } = await ask();
    assert.equal((await ask()).paymentIntent, paymentIntent);
    assert.equal((await order('A-1001')).status, 'waiting');
    const tapped = await merchant.post(
      `/test_helpers/terminals/${network.sandbox.test.terminal}/tap`,
      { payment_intent: paymentIntent },
    );
    assert.equal(tapped.status, 200);
    const until = Date.now() + PAID_WITHIN_MS;
    while ((await order('A-1001')).status !== 'paid' && Date.now() < until) await sleep(50);
    const { body } = await merchant.get(`/payments?payment_intent=${paymentIntent}`);
    const [payment] = body.data as { id: string }[];
    assert.deepEqual(await order('A-1001'), { status: 'paid', payment: payment?.id });
    assert.equal((await ask()).paymentIntent, paymentIntent);
    assert.equal((await order('A-1001')).status, 'paid', 'asking again takes nothing back');

    const refunded = await merchant.post('/refunds', { payment: payment?.id });
    assert.equal(refunded.status, 201);
    while ((await order('A-1001')).status !== 'refunded' && Date.now() < until) await sleep(50);
    assert.deepEqual(await order('A-1001'), { status: 'refunded', payment: payment?.id });
  });

  test('a webhook that is not signed with the secret changes nothing', async () => {
    const event = { id: 'evt_1', type: 'payment.succeeded', data: { object: { order_id: 'X' } } };
    const now = Math.floor(Date.now() / 1000);
    for (const signature of ['', `t=${now},v1=${'00'.repeat(32)}`, 't=1,v1=00', 'nonsense']) {
      const response = await fetch(`${shop}/webhooks`, {
        method: 'POST',
        headers: { 'Service-Signature': signature },
        body: JSON.stringify(event),
      });
      assert.equal(response.status, 400, signature);
    }
    const response = await fetch(`${shop}/orders/X`);
    assert.equal(response.status, 404);
  });
});

/** Returns the events of one payment: paid, half refunded, then fully refunded. */
function eventsOfPayment() {
  const states = ['succeeded', 'partially_refunded', 'refunded'];
  return states.map((status, index) => ({
    id: `evt_${index}`,
    type: index === 0 ? 'payment.succeeded' : 'payment.refunded',
    sequence: index + 7,
    data: { object: { object: 'payment', id: 'pay_1', order_id: 'R-1', status } },
  }));
}

/** Returns all orders in which three events can arrive, each event twice. */
function deliveries() {
  const [paid, part, all] = eventsOfPayment();
  const orders = [
    [paid, part, all],
    [paid, all, part],
    [part, paid, all],
    [part, all, paid],
    [all, paid, part],
    [all, part, paid],
  ];
  return orders.flatMap((order) => [
    [...order, ...order],
    order.flatMap((event) => [event, event]),
  ]);
}

/**
 * Each entry runs the example's own code and prints its state after each sequence of deliveries.
 */
const REPLAYS: readonly (readonly [string, string, (code: string, rows: string) => string[]])[] = [
  [
    'merchant-server.mjs',
    'async function readBody',
    (code, rows) => [
      process.execPath,
      '--input-type=module',
      '-e',
      `${code}\nfor (const row of ${rows}) { orders.clear(); newest.clear(); ` +
        `for (const event of row) apply(event); console.log(orders.get('R-1').status); }`,
    ],
  ],
  [
    'merchant_server.py',
    'class Handler',
    (code, rows) => [
      'python3',
      '-B',
      '-c',
      `__file__ = ${JSON.stringify(path.join(ROOT, 'examples/merchant_server.py'))}\n${code}\n` +
        `for row in json.loads(${JSON.stringify(rows)}):\n  orders.clear(); newest.clear()\n` +
        `  for event in row: apply(event)\n  print(orders['R-1']['status'])`,
    ],
  ],
];
for (const [name, end, command] of REPLAYS) {
  test(`${name} says that an order is refunded, in whatever order events arrive`, (t) => {
    const [code = ''] = readFileSync(path.join(ROOT, 'examples', name), 'utf8').split(end);
    const [program = '', ...args] = command(code, JSON.stringify(deliveries()));
    if (!isHere(program)) return t.skip(`${program} is not on this machine`);
    const ran = spawnSync(program, args, { env: { ...process.env, ...env }, encoding: 'utf8' });
    assert.equal(ran.stdout, 'refunded\n'.repeat(deliveries().length), ran.stderr);
  });
}

test('webhook-server.mjs says that an order is refunded, in any order of events', async () => {
  const secret = 'whsec_c2VjcmV0IG9mIGEgdGVzdA==';
  for (const events of deliveries().slice(0, 4)) {
    const server = startExample('webhook-server.mjs', { TAPLINE_WEBHOOK_SECRET: secret });
    const url = await addressOf(server);
    for (const event of events) {
      const body = JSON.stringify(event);
      const headers = { 'Service-Signature': await signWebhook(body, secret) };
      assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 200);
    }
    await server.line(/^R-1 is refunded by pay_1/);
    assert.match(server.lines.at(-1) ?? '', /refunded/);
  }
});

test('webhook-server.mjs accepts what listen forwards, and nothing else', async () => {
  const { stdout } = await runCli(['listen', '--print-secret'], env);
  const secret = stdout.trim();
  const server = startExample('webhook-server.mjs', { TAPLINE_WEBHOOK_SECRET: secret });
  const url = await addressOf(server);
  const listening = startCli(['listen', '--forward-to', url], env);
  await listening.until(({ ready }) => ready === true);
  const { objects } = await runCli(['trigger', 'payment.succeeded', '--json'], env);
  await server.line(new RegExp(`is paid by ${String(objects[0]?.payment)}`));
  assert.equal(await listening.stop(), 0);
  assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 400);
});

test('till.mjs sells, and shows the result', async () => {
  const till = startExample('till.mjs');
  till.child.stdin?.write('ten\n');
  await till.line(/An amount, please/);
  till.child.stdin?.write('2.50\n');
  await till.line(/2\.50 USDC: tap, please/);
  till.child.stdin?.write('tap\n');
  await till.line(/^Paid\. pay_/);
  const ended = once(till.child, 'exit');
  till.child.stdin?.end();
  assert.deepEqual(await ended, [0, null]);
});

test('merchant_server.py knows when an order is paid', async (t) => {
  if (!isHere('python3')) return t.skip('python3 is not on this machine');
  const shop = await addressOf(startExample('merchant_server.py'));
  const ask = async () => {
    const body = JSON.stringify({ order: 'P-1001', amount: '2.50' });
    const response = await fetch(`${shop}/orders`, { method: 'POST', body });
    assert.equal(response.status, 201);
    return (await response.json()) as { payment_intent: string };
  };
  const { payment_intent } = await ask();
  assert.equal((await ask()).payment_intent, payment_intent);
  await merchant.post(`/test_helpers/terminals/${network.sandbox.test.terminal}/tap`, {
    payment_intent,
  });
  const until = Date.now() + PAID_WITHIN_MS;
  const read = async () =>
    (await (await fetch(`${shop}/orders/P-1001`)).json()) as { status: string };
  while ((await read()).status !== 'paid' && Date.now() < until) await sleep(50);
  assert.equal((await read()).status, 'paid');
  const headers = {
    'Service-Signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}`,
  };
  const forged = await fetch(`${shop}/webhooks`, { method: 'POST', headers, body: '{}' });
  assert.equal(forged.status, 400);
});

test('agent.mjs buys from paywall.mjs', async () => {
  const shop = startExample('paywall.mjs');
  const url = await addressOf(shop);
  assert.equal((await fetch(url)).status, 402);
  const agent = startExample('agent.mjs', { EXAMPLE_ARG: url });
  await agent.line(/^Paid in 0x[0-9a-f]{64}: .*Sunny/);
  await shop.line(/^0x[0-9a-fA-F]{40} has paid pi_/);
});

test('paywall.mjs delivers once to twenty requests with one payment', async () => {
  const url = await addressOf(startExample('paywall.mjs'));
  const { test: mode, web_url, base_url } = network.sandbox;
  const buyer = newWallet();
  const token = await signInWallet(web_url, buyer, { chainId: mode.chain_id });
  const wallet = caller(`${base_url}/payer/v1`, token);
  assert.equal((await wallet.post('/faucet', { amount: 1_000_000 })).status, 201);
  let statuses: number[] = [];
  const send = async (request: Request) => {
    if (!request.headers.has('PAYMENT-SIGNATURE')) return fetch(request);
    const all = await Promise.all(Array.from({ length: 20 }, () => fetch(request.clone())));
    statuses = all.map(({ status }) => status);
    return present(
      all.find(({ ok }) => ok),
      'delivery',
    );
  };
  assert.equal((await payingFetch({ shared: network }, buyer, send)(url)).status, 200);
  assert.deepEqual(statuses.sort(), [200, ...Array.from({ length: 19 }, () => 409)]);
});

test('server-driven.mjs takes each step of a server-driven terminal', async () => {
  const url = await addressOf(startExample('server-driven.mjs'));
  type Answer = Record<string, unknown> & { readonly error?: { readonly message: string } };
  const step = async (name: string, body?: object): Promise<Answer> => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return (await (await fetch(`${url}/${name}`, sent)).json()) as Answer;
  };
  const { terminal: reader } = network.sandbox.test;
  // Cancels intents that earlier examples left open.
  while ((await step('stop', { reader })) !== null);
  const readers = (await step('readers')) as unknown as readonly { readonly id: string }[];
  assert.ok(readers.some(({ id }) => id === reader));
  assert.equal((await step('reader', { reader })).id, reader);

  const { id: intent, amount } = await step('sell', { reader, amount: '2.50' });
  assert.equal(amount, 2_500_000);
  assert.equal((await step('sale', { intent })).status, 'requires_payment_method');
  assert.equal((await step('present', { reader })).id, intent);
  const { status, payment } = await step('collect', { intent });
  assert.equal(status, 'succeeded');
  assert.equal((await step('refund', { intent })).payment, payment);

  const { id: dropped } = await step('sell', { reader, amount: '1' });
  assert.deepEqual(
    [(await step('stop', { reader })).id, (await step('sale', { intent: dropped })).status],
    [dropped, 'canceled'],
  );
  assert.equal(await step('stop', { reader }), null, 'nothing is left to stop');
  const headers = { Origin: 'https://page.example', 'Content-Type': 'text/plain' };
  const page = { method: 'POST', headers, body: JSON.stringify({ intent }) };
  assert.equal((await fetch(`${url}/refund`, page)).status, 403, 'a page refunds nothing');
  const refused = await step('sell', { reader, amount: 2.5 });
  assert.match(refused.error?.message ?? '', /received the number 2\.5.*usdc\('2\.50'\)/);
});

test('kiosk.mjs shows a code that any wallet can pay', async () => {
  const url = await addressOf(startExample('kiosk.mjs'));
  assert.match(await (await fetch(url)).text(), /<button>coffee<\/button>/);
  const order = async (item: string, key: string) =>
    await fetch(`${url}/orders/${item}?key=${key}`, { method: 'POST' });
  assert.equal((await order('steak', 'k0')).status, 400);
  const placed = (await (await order('coffee', 'kiosk-1')).json()) as KioskOrder;
  const again = (await (await order('coffee', 'kiosk-1')).json()) as KioskOrder;
  assert.equal(again.id, placed.id);
  assert.match(placed.qr, /^<svg/);
  await payByLink(placed.payment_url);
  const seen = async (status: string) =>
    (await (await fetch(`${url}/orders/${placed.id}?seen=${status}`)).json()) as { status: string };
  let { status } = await seen('requires_payment_method');
  const until = Date.now() + PAID_WITHIN_MS;
  while (status !== 'succeeded' && Date.now() < until) ({ status } = await seen(status));
  assert.equal(status, 'succeeded');
});

test('register.mjs asks for an amount by ZVT, and prints result and receipt', async () => {
  const ZVT_PORT = await freePort();
  const register = startExample('register.mjs', { EXAMPLE_ARG: '4.20', ZVT_PORT });
  await register.line(/^Paid\.$/);
  await register.line(/^ {2}\| .*4\.20/);
});

interface KioskOrder {
  readonly id: string;
  readonly payment_url: string;
  readonly qr: string;
}

/** Pays through the link, as a wallet does after scanning it. */
async function payByLink(paymentUrl: string): Promise<void> {
  const { test: mode, base_url } = network.sandbox;
  const transport = http(mode.rpc_url);
  const chain = { ...foundry, id: mode.chain_id };
  const wallet = privateKeyToAccount(generatePrivateKey());
  const node = createTestClient({ mode: 'anvil', chain, transport, pollingInterval: 100 }).extend(
    publicActions,
  );
  await node.setBalance({ address: wallet.address, value: 10n ** 18n });
  const hash = await createWalletClient({ account: wallet, chain, transport }).writeContract({
    address: mode.usdc as Address,
    abi: testUsdcAbi,
    functionName: 'mint',
    args: [wallet.address, 10_000_000n],
  });
  await node.waitForTransactionReceipt({ hash });
  const pay = caller(`${base_url}/pay/v1`, 'none');
  const token = paymentUrl.split('/').at(-1) ?? '';
  const signature = await sign(wallet, await readLink(pay, token, wallet.address));
  const { address: from } = wallet;
  const paid = await pay.post(`/${token}/authorization`, { from, signature });
  assert.equal(paid.status, 200, JSON.stringify(paid.body));
}

function isHere(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

test('the Python client follows the common rules', (t) => {
  if (!isHere('python3')) return t.skip('python3 is not on this machine');
  const { base_url, test: mode } = network.sandbox;
  const args = ['-B', 'test_tapline.py', base_url, mode.secret_key, mode.terminal];
  const ran = spawnSync('python3', args, { cwd: path.join(ROOT, 'python'), encoding: 'utf8' });
  assert.equal(ran.status, 0, ran.stderr);
  const [, count] = /^Ran (\d+) tests/m.exec(ran.stderr) ?? [];
  assert.ok(Number(count) >= 11, ran.stderr);
});

const SNIPPETS: readonly (readonly [string, readonly string[]])[] = [
  [process.execPath, ['verify.ts']],
  ['python3', ['-B', 'verify.py']],
  ['php', ['verify.php']],
  ['go', ['run', 'verify.go']],
];
for (const [program, args] of SNIPPETS) {
  test(`the verification in ${program} accepts valid messages and no others`, async (t) => {
    if (!isHere(program)) return t.skip(`${program} is not on this machine`);
    const cwd = path.join(ROOT, 'examples/verify');
    const body = JSON.stringify({ id: 'evt_1', type: 'payment.succeeded' });
    const now = Math.floor(Date.now() / 1000);
    const good = await signWebhook(body, 'whsec_x', now);
    const both = `${await signWebhook(body, 'whsec_old', now)},${good.split(',')[1]}`;
    for (const header of [good, both]) {
      const type = execFileSync(program, [...args, 'whsec_x', header], { cwd, input: body });
      assert.equal(type.toString().trim(), 'payment.succeeded');
    }
    const wrong: readonly (readonly [string, string])[] = [
      [body, await signWebhook(body, 'whsec_y', now)],
      [`${body} `, good],
      [body, await signWebhook(body, 'whsec_x', now - 301)],
      [body, 'nonsense'],
      [body, `t=${now},${good}`],
      [body, good.replace(/v1=.*/, (digest) => `v1=${digest.slice(3).toUpperCase()}`)],
      [body, `t=${now},v1=é`],
    ];
    for (const [input, header] of wrong) {
      const { status } = spawnSync(program, [...args, 'whsec_x', header], { cwd, input });
      assert.equal(status, 1, header);
    }
  });
}
