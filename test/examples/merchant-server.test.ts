import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Caller, caller } from '#testing/api-client.ts';
import { type SpawnedNetwork, spawnNetwork, temporaryDataDir } from '#testing/spawn-network.ts';

const EXAMPLE = path.join(import.meta.dirname, '../../examples/merchant-server.mjs');
/** A block a second, and the webhook behind it. */
const PAID_WITHIN_MS = 30_000;

let folder: Awaited<ReturnType<typeof temporaryDataDir>>;
let network: SpawnedNetwork;
let example: ChildProcess;
let shop: string;
let merchant: Caller;

before(async () => {
  folder = await temporaryDataDir();
  network = await spawnNetwork({
    dataDir: folder.path,
    env: { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' },
  });
  const { base_url, test: mode } = network.sandbox;
  merchant = caller(`${base_url}/v1`, mode.secret_key);
  example = spawn(process.execPath, [EXAMPLE], {
    env: { ...process.env, TAPLINE_DATA_DIR: folder.path, EXAMPLE_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  assert.ok(example.stdout);
  const [line] = await once(createInterface(example.stdout), 'line');
  shop = String(line).replace('listening on ', '');
});

after(async () => {
  if (example !== undefined) {
    const ended = once(example, 'exit');
    example.kill('SIGTERM');
    await ended;
  }
  await network?.stop();
  await folder?.remove();
});

async function order(name: string): Promise<{ status: string; payment?: string }> {
  const response = await fetch(`${shop}/orders/${name}`);
  return (await response.json()) as { status: string; payment?: string };
}

test('an order is paid when its signed webhook has come, and asking twice asks once', async () => {
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
});

test('a webhook that is not signed with the secret is refused and changes nothing', async () => {
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
