import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createPublicClient,
  erc20Abi,
  type Hash,
  http,
  type PublicClient,
  parseEventLogs,
} from 'viem';
import { type Caller, caller } from '#testkit/apis/api-client.ts';
import { constructEvent } from '#testkit/fixtures/webhooks/stripe-webhooks.ts';
import {
  type SpawnedNetwork,
  spawnMain,
  spawnNetwork,
  temporaryDataDir,
} from '#testkit/network/spawn-network.ts';
import { startReceiver, type TestReceiver } from '#testkit/network/webhook-receiver.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { unpackTerms } from '../../contracts/payment-tree.ts';

/** A complete network for this file: real database, real chains, real HTTP. */
let folder: Awaited<ReturnType<typeof temporaryDataDir>>;
let network: SpawnedNetwork;
let receiver: TestReceiver;
let merchant: Caller;
let terminal: Caller;
let chain: PublicClient;

function connect(): void {
  const { base_url, test: mode } = network.sandbox;
  merchant = caller(`${base_url}/v1`, mode.secret_key);
  terminal = caller(`${base_url}/device/v1`, mode.device_key);
  chain = createPublicClient({ transport: http(mode.rpc_url) });
}

async function restart(env: Readonly<Record<string, string>> = {}): Promise<void> {
  network = await spawnNetwork({ dataDir: folder.path, env: { ...ENV, ...env } });
  connect();
}

const ENV = { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' };

before(async () => {
  folder = await temporaryDataDir();
  receiver = await startReceiver();
  await restart();
});

after(async () => {
  await network?.stop();
  await receiver?.close();
  await folder?.remove();
});

async function balanceOf(address: `0x${string}`): Promise<bigint> {
  const { usdc } = network.sandbox.test;
  return chain.readContract({
    address: usdc as `0x${string}`,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [address],
  });
}

async function availableBalance(): Promise<number> {
  const { body } = await merchant.get('/balance');
  const [{ amount } = { amount: Number.NaN }] = body.available as { amount: number }[];
  return amount;
}

function tap(intentId: string, pass: string, key?: string) {
  const credential = { type: 'nfc_id', value: network.sandbox.test.passes[pass] };
  return terminal.post(`/payment_intents/${intentId}/tap`, { credential }, key);
}

async function create(amount: number): Promise<string> {
  const { status, body } = await merchant.post('/payment_intents', {
    amount,
    terminal: network.sandbox.test.terminal,
  });
  assert.equal(status, 201);
  return String(body.id);
}

async function createTipped(amount: number): Promise<string> {
  const { status, body } = await merchant.post('/payment_intents', {
    amount,
    terminal: network.sandbox.test.terminal,
    tipping: { percentages: [10, 15, 20] },
  });
  assert.equal(status, 201);
  return String(body.id);
}

/** Returns the settlement event of a transaction, read from the chain and not from our tables. */
async function settledOnChain(txHash: string) {
  const receipt = await chain.getTransactionReceipt({ hash: txHash as Hash });
  assert.equal(receipt.status, 'success');
  const logs = parseEventLogs({
    abi: settlementAbi,
    eventName: 'PaymentSettled',
    logs: receipt.logs,
  });
  return { receipt, logs };
}

test('npm start -- --help prints help, and starts nothing', () => {
  const help = spawnSync(process.execPath, ['src/app/main.ts', '--help'], { encoding: 'utf8' });
  assert.equal(help.status, 0, help.stderr);
  assert.match(help.stdout, /npm start -- --lan/);
});

test('the start prints all links at localhost: passkeys need a name', async () => {
  const isPrinted = () => network.logs().includes('Ctrl+C stops it');
  for (let i = 0; i < 200 && !isPrinted(); i++) await sleep(50);
  const local = `http://localhost:${new URL(network.sandbox.web_url).port}`;
  for (const link of [`${local}/wallet`, `${local}/dashboard`, local]) {
    assert.ok(network.logs().split(/\s+/).includes(link), `${link} in: ${network.logs()}`);
  }
  const screen = network.logs().slice(network.logs().indexOf('Tapline is running'));
  assert.equal(screen.includes('http://127.0.0.1'), false, screen);
});

test('a payment passes every part: intent, terminal, tap, chain, balance, webhooks', async () => {
  const endpoint = await merchant.post('/webhook_endpoints', {
    url: `${receiver.url}/hooks`,
    enabled_events: ['*'],
  });
  assert.equal(endpoint.status, 201);
  const before = await availableBalance();

  const waiting = terminal.get('/payment_intents/next?wait=20');
  await sleep(200);
  const amount = 2_500_000;
  const intentId = await create(amount);
  const picked = await waiting;
  assert.equal(picked.status, 200);
  assert.equal(picked.body.id, intentId);
  assert.ok(picked.body.picked_up_at);

  const tapped = await tap(intentId, 'ok');
  assert.equal(tapped.status, 200);
  assert.equal(tapped.body.status, 'succeeded');

  const payment = (await merchant.get(`/payments/${tapped.body.payment}`)).body;
  assert.equal(payment.payment_intent, intentId);
  assert.equal(payment.net, amount);
  assert.deepEqual(payment.fees, { acquirer: 7_500, protocol: 5_000, cashback: 1_250 });
  assert.equal(payment.total_charged, amount + 12_500);
  assert.equal(payment.tx_hash, tapped.body.tx_hash);

  const { receipt, logs } = await settledOnChain(String(payment.tx_hash));
  assert.equal(Number(receipt.blockNumber), payment.block_number);
  const own = logs.find((log) => log.logIndex === payment.log_index);
  assert.equal(own?.args.payer, payment.payer);
  assert.equal(own && unpackTerms(own.args.terms).amount, BigInt(amount));
  const payer = payment.payer as `0x${string}`;
  assert.equal(await balanceOf(payer), 10_000_000_000_000n - 2_511_250n);
  assert.equal(await availableBalance(), before + amount);

  const listed = (await merchant.get('/payments')).body.data as { id: string }[];
  assert.equal(listed[0]?.id, payment.id);
  await checkWebhooks(String(endpoint.body.secret), intentId);
});

/** Checks that every event arrived, was signed, and equals the API's response byte for byte. */
async function checkWebhooks(secret: string, intentId: string): Promise<void> {
  const expected = [
    'payment_intent.created',
    'payment_intent.processing',
    'payment_intent.succeeded',
    'payment.succeeded',
    'payment.cashback_paid',
  ];
  const received = await receiver.waitFor(expected.length);
  const types = new Set<string>();
  for (const request of received) {
    const signature = String(request.headers['service-signature']);
    const event = constructEvent(request.body, signature, secret);
    types.add(event.type);
    const stored = await merchant.get(`/events/${event.id}`);
    assert.deepEqual(stored.body, JSON.parse(request.body.toString()));
  }
  assert.deepEqual([...types].sort(), [...expected].sort());
  const events = (await merchant.get('/events?type=payment_intent.*')).body.data;
  for (const event of events as { data: { object: { id: string } } }[]) {
    assert.equal(event.data.object.id, intentId);
  }
}

test('a tip is charged with the sale, with fees on both, and refunded', async () => {
  const [sale, tip] = [2_000_033, 300_000];
  const before = await availableBalance();
  const path = `/payment_intents/${await createTipped(sale)}/tap`;
  const credential = { type: 'nfc_id', value: network.sandbox.test.passes.ok_2 };
  const { body } = await terminal.post(path, { credential, tip_amount: tip });
  assert.deepEqual([body.status, body.amount, body.tip], ['succeeded', sale, tip]);
  const payment = (await merchant.get(`/payments/${body.payment}`)).body;
  const sum = sale + tip;
  assert.deepEqual([payment.amount, payment.tip, payment.net], [sum, tip, sum]);
  const share = (points: number) => Math.floor((sum * points) / 10_000);
  assert.deepEqual(payment.fees, { acquirer: share(30), protocol: share(20), cashback: share(5) });
  const { logs } = await settledOnChain(String(payment.tx_hash));
  const own = logs.find((log) => log.logIndex === payment.log_index);
  assert.equal(own && unpackTerms(own.args.terms).amount, BigInt(sum));
  assert.equal(await availableBalance(), before + sum);
  const refund = (await merchant.post('/refunds', { payment: payment.id })).body;
  assert.deepEqual([refund.status, refund.amount], ['succeeded', sum]);
  assert.equal(await availableBalance(), before);
});

test('the metrics of the process show payments and their speed', async () => {
  await tap(await create(1_000_000), 'insufficient_funds');
  const numbers = await (await fetch(`${network.sandbox.web_url}/metrics`)).text();
  const above0 = [
    'tapline_payments_total{network="testnet"}',
    'tapline_payment_declines_total{network="testnet",code="insufficient_funds"}',
    'tapline_tap_to_settled_seconds_count{network="testnet"}',
    'tapline_block_wait_seconds_count{network="testnet"}',
    'tapline_settlement_batch_size_count{network="testnet"}',
    'tapline_gas_used_total{network="testnet",kind="payment"}',
    'tapline_webhook_attempts_total{result="succeeded"}',
    'tapline_webhook_delay_seconds_count',
    'tapline_database_wait_seconds_count',
  ];
  for (const name of above0) {
    const line = numbers.split('\n').find((one) => one.startsWith(`${name} `));
    assert.ok(Number(line?.split(' ')[1]) > 0, `${name}: ${line}`);
  }
  assert.match(numbers, /^tapline_network_unsettled\{network="mainnet",reason="recovering"\} 0$/m);
  assert.match(numbers, /^tapline_database_unknown_commits_total 0$/m);
});

/** Creates a sale in euros with a line. The sandbox has a made-up rate for the euro. */
async function createInEuro(key: string) {
  const line_items = [{ name: 'Coffee', quantity: 2, unit_amount: 125, tax_rate: 700 }];
  const presentment = { currency: 'eur', amount: 250 };
  const { terminal: id } = network.sandbox.test;
  return merchant.post('/payment_intents', { presentment, line_items, terminal: id }, key);
}

test('killing the process right after the tap still ends in one payment', async () => {
  const { status, body: created } = await createInEuro('create-before-the-crash');
  assert.equal(status, 201);
  const intentId = String(created.id);
  const key = 'tap-before-the-crash';
  const lost = tap(intentId, 'ok_2', key).catch(() => null);
  // Waits until the tap has stored its payment attempt. The block that settles it is not mined yet.
  for (;;) {
    const { body } = await merchant.get(`/payment_intents/${intentId}`);
    if (body.status !== 'requires_payment_method') break;
  }
  await network.kill();
  await lost;
  await restart();

  let intent = (await merchant.get(`/payment_intents/${intentId}`)).body;
  for (let i = 0; i < 200 && intent.status !== 'succeeded'; i++) {
    await sleep(50);
    intent = (await merchant.get(`/payment_intents/${intentId}`)).body;
  }
  assert.equal(intent.status, 'succeeded');
  const replayed = await tap(intentId, 'ok_2', key);
  assert.equal(replayed.body.status, 'succeeded');
  assert.equal(replayed.headers.get('idempotent-replayed'), 'true');
  const payments = (await merchant.get(`/payments?payment_intent=${intentId}`)).body.data;
  const [payment, ...others] = payments as Record<string, unknown>[];
  assert.equal(others.length, 0);
  const { logs } = await settledOnChain(String(intent.tx_hash));
  const amounts = logs.map((log) => unpackTerms(log.args.terms).amount);
  assert.equal(amounts.filter((amount) => amount === BigInt(Number(created.amount))).length, 1);
  // The quote must be the one from before the crash, wherever it is read.
  const { presentment, line_items } = created;
  const paid = { ...(presentment as object), tip_amount: 0 };
  assert.deepEqual([intent.presentment, intent.line_items], [paid, line_items]);
  assert.deepEqual([payment?.presentment, payment?.line_items], [paid, line_items]);
  assert.deepEqual((await createInEuro('create-before-the-crash')).body, created);
});

/** Prices at the sandbox's made-up rates, and what their customers pay, in minor units. */
const TOTALS = [
  { currency: 'eur', amount: 1_976, percent: 0, total: 1_985, fees: 9, paid: 21_544_468 },
  { currency: 'kwd', amount: 4_250, percent: 0, total: 4_269, fees: 19, paid: 13_896_890 },
  { currency: 'jpy', amount: 1_300, percent: 10, total: 1_436, fees: 6, paid: 9_428_518 },
] as const;

test('an open intent shows the total and fees that its payment has', async () => {
  const device = await terminal.get('/terminal');
  assert.deepEqual(device.body.fee_rates, { acquirer: 30, protocol: 20, cashback: 5 });
  for (const { currency, amount, percent, total, fees, paid } of TOTALS) {
    const { body: intent } = await terminal.post('/payment_intents', {
      presentment: { currency, amount },
      tipping: percent === 0 ? null : { percentages: [percent] },
    });
    const tip = Math.round((Number(intent.amount) * percent) / 100);
    const tipping = percent === 0 ? {} : { tip_amount: tip };
    const query = percent === 0 ? '' : `?tip_amount=${tip}`;
    const token = String(intent.payment_url).split('/').at(-1);
    const link = await fetch(`${network.sandbox.web_url}/api/pay/v1/${token}${query}`);
    const { presentment: expected } = (await link.json()) as { presentment: object };
    if (percent === 0) {
      assert.deepEqual(intent.presentment, { ...omitTip(expected), total, fees });
    }
    const credential = { type: 'nfc_id', value: network.sandbox.test.passes.ok };
    const body = { credential, ...tipping };
    const tapped = await terminal.post(`/payment_intents/${intent.id}/tap`, body);
    const { body: payment } = await merchant.get(`/payments/${tapped.body.payment}`);
    const tipAmount = (amount * percent) / 100;
    assert.deepEqual(payment.presentment, { ...expected, tip_amount: tipAmount, total, fees });
    assert.deepEqual(tapped.body.presentment, payment.presentment);
    const { cashback } = payment.fees as { cashback: number };
    assert.equal(Number(payment.total_charged) - cashback, paid);
    for (const sum of [`presentment_amount=${total}`, `amount=${paid}`]) {
      const result = await terminal.get(`/payments?order_id=${payment.order_id}&${sum}`);
      assert.equal((result.body.data as unknown[]).length, 1, sum);
    }
  }
});

function omitTip({ tip_amount: _, ...price }: { readonly tip_amount?: number }): object {
  return price;
}

test('a second start on the same folder says so and exits; the first continues', async () => {
  const { child, logs } = spawnMain({ dataDir: folder.path, env: ENV });
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 1);
  assert.match(logs(), /^tapline: TAPLINE_DATA_DIR: .* is in use by another instance/m);
  assert.equal((await merchant.get('/terminals')).status, 200);
});

test('SIGTERM ends with 0 within ten seconds, and the next start knows everything', async () => {
  const intentId = await create(3_000_000);
  const priced = await createInEuro('create-before-the-stop');
  const startedAt = performance.now();
  assert.equal(await network.stop(), 0);
  assert.ok(performance.now() - startedAt < 10_000);
  // Restarts with feeds that never answer, so there is no rate and the intent's own quote counts.
  await restart({ RATES_URL: 'http://127.0.0.1:1/a,http://127.0.0.1:1/b' });
  const { body } = await merchant.get(`/payment_intents/${intentId}`);
  assert.equal(body.status, 'requires_payment_method');
  assert.equal((await createInEuro('create-after-the-stop')).status, 503);
  assert.deepEqual((await createInEuro('create-before-the-stop')).body, priced.body);
  const { body: read } = await merchant.get(`/payment_intents/${priced.body.id}`);
  assert.deepEqual(read.presentment, priced.body.presentment);
});
