import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { wallet } from '#sandbox/derive-wallets.ts';
import { type Body, type Caller, caller, type Reply } from '#testkit/apis/api-client.ts';
import { signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { TEST_CHAIN_ID } from '#testkit/network/test-network.ts';
import { PUBLIC_URL } from '#testkit/simulation/chaos/chaos-process.ts';
import type { QuickNetwork } from '#testkit/simulation/model-network.ts';

interface Parties {
  readonly merchant: Caller;
  readonly till: Caller;
  readonly payer: Caller;
  readonly mode: QuickNetwork['sandbox']['test'];
}

/** Time limit for background loops to finish the work of a round. */
const REST_MS = 2_000;

async function ask(reply: Promise<Reply>, status = 200): Promise<Body> {
  const { status: answered, body } = await reply;
  assert.equal(answered, status, JSON.stringify(body));
  return body;
}

const idOf = (body: Body) => String(body.id);

/** Adds one endpoint that accepts every event, and a disabled one. */
async function addEndpoints(merchant: Caller, url: string): Promise<void> {
  await ask(merchant.post('/webhook_endpoints', { url, enabled_events: ['*'] }), 201);
  const other = { url: `${url}/off`, enabled_events: ['ping'] };
  const id = idOf(await ask(merchant.post('/webhook_endpoints', other), 201));
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'off' };
  const body = JSON.stringify({ status: 'disabled' });
  await ask(merchant.send('PATCH', `/webhook_endpoints/${id}`, { headers, body }));
}

/** Reads the first two pages of a list. */
async function list({ merchant }: Parties, path: string): Promise<readonly Body[]> {
  const first = `${path}${path.includes('?') ? '&' : '?'}limit=1`;
  const page = await ask(merchant.get(first));
  const { next_cursor: cursor } = page;
  if (typeof cursor === 'string') {
    await ask(merchant.get(`${first}&cursor=${encodeURIComponent(cursor)}`));
  }
  return page.data as Body[];
}

const credential = (value: string | undefined) => ({ credential: { type: 'nfc_id', value } });

async function sell(parties: Parties, key: string) {
  const { merchant, till, mode } = parties;
  // Omits `tax_inclusive`, so that each request takes the default from the account's settings.
  const line_items = [{ name: 'Flat white', quantity: 1, unit_amount: 2_000_000, tax_rate: 700 }];
  const order = { amount: 2_000_000, terminal: mode.terminal, order_id: key, line_items };
  const intent = idOf(await ask(merchant.post('/payment_intents', order, key), 201));
  await ask(merchant.post('/payment_intents', order, key), 201);
  await ask(merchant.post('/payment_intents', order), 409);
  await ask(merchant.get(`/idempotency_keys/${key}`));
  await ask(merchant.get(`/payment_intents/${intent}`));
  await ask(till.get('/payment_intents/next?wait=0'));
  await ask(till.get(`/payment_intents/${intent}`));
  const tap = till.post(`/payment_intents/${intent}/tap`, credential(mode.passes.ok));
  const { payment, status } = await ask(tap);
  assert.equal(status, 'succeeded');
  const part = { payment, amount: 1_000_000 };
  const refund = await ask(merchant.post('/refunds', part), 201);
  assert.equal(refund.status, 'succeeded');
  await ask(merchant.get(`/payments/${payment}`));
  await ask(merchant.get(`/refunds/${idOf(refund)}`));
  return { intent, payment: String(payment), order: key };
}

/**
 * Makes intents that end in other ways: canceled, expired, declined, awaiting confirmation, and
 * paid by an agent.
 */
async function sellOtherwise({ merchant, till, mode }: Parties): Promise<void> {
  const create = async (amount: number, terminal = mode.terminal) =>
    idOf(await ask(merchant.post('/payment_intents', { amount, terminal }), 201));
  await ask(merchant.post(`/payment_intents/${await create(5)}/cancel`));
  const helpers = '/test_helpers/payment_intents';
  await ask(merchant.post(`${helpers}/${await create(5)}/expire`));
  const intent = await create(60_000_000);
  const tapped = till.post(`/payment_intents/${intent}/tap`, credential(mode.passes.confirm));
  if ((await ask(tapped)).status === 'requires_action') {
    await ask(merchant.post(`${helpers}/${intent}/payer_confirm`, { approve: true }));
  }
  const poor = credential(mode.passes.insufficient_funds);
  await ask(till.post(`/payment_intents/${await create(700_000)}/tap`, poor));
  const online = await create(700_000, mode.agent_terminal);
  const consent = { amount: 700_000, pass: mode.passes.ok };
  const { agent_token } = await ask(merchant.post('/test_helpers/agent_tokens', consent), 201);
  await ask(merchant.post(`/payment_intents/${online}/confirm`, { agent_token }));
}

/** Sells a cart with a discount in a shift of the till, refunds a part and ends the shift. */
async function sellInShift({ merchant, till, mode }: Parties): Promise<void> {
  await ask(till.post('/shift', {}), 201);
  const line_items = [
    { name: 'Tea', quantity: 1, unit_amount: 2_000_000, tax_rate: 0, discount: 10 },
  ];
  const cart = { amount: 1_999_990, line_items };
  const intent = idOf(await ask(till.post('/payment_intents', cart), 201));
  const tap = till.post(`/payment_intents/${intent}/tap`, credential(mode.passes.ok));
  const { payment } = await ask(tap);
  const refund = await ask(till.post('/refunds', { payment, amount: 1_000_000 }), 201);
  assert.equal(refund.status, 'succeeded');
  const report = idOf(await ask(till.send('DELETE', '/shift')));
  for (const read of ['/cashiers', '/shifts', `/shifts/${report}`]) await ask(till.get(read));
  await ask(merchant.get(`/shifts/${report}`));
}

async function readLists(parties: Parties, sale: Awaited<ReturnType<typeof sell>>) {
  const { terminal } = parties.mode;
  const { intent, payment, order } = sale;
  const statuses = ['succeeded', 'requires_payment_method', 'processing', 'requires_action'];
  const filters = {
    '/payment_intents': [
      ...['', ...[...statuses, 'canceled'].map((status) => `status=${status}`)],
      ...[`terminal=${terminal}`, 'source=api', `order_id=${order}`],
      ...[`terminal=${terminal}&status=succeeded`, 'created_gte=2020-01-01T00:00:00.000Z'],
    ],
    '/payments': [
      ...['', 'status=succeeded', 'status=refunded', 'status=partially_refunded'],
      ...[`terminal=${terminal}`, `payment_intent=${intent}`, `order_id=${order}`],
    ],
    '/refunds': [
      ...['', 'status=succeeded', 'status=pending'],
      ...[`payment=${payment}`, `payment_intent=${intent}`],
    ],
    '/events': [
      ...['', 'type=payment.succeeded', 'type=payment_intent.*'],
      ...[true, false].map((is) => `type=payment.succeeded&delivery_success=${is}`),
    ],
    '/shifts': ['', `terminal=${terminal}`],
    '/terminals': [''],
    '/request_log': [''],
  };
  for (const [path, queries] of Object.entries(filters)) {
    for (const query of queries) await list(parties, query === '' ? path : `${path}?${query}`);
  }
}

async function readTheRest(parties: Parties): Promise<void> {
  const { merchant, till, payer } = parties;
  const [event] = await list(parties, '/events');
  await ask(merchant.get(`/events/${event?.id}`));
  await ask(merchant.get('/balance'));
  const endpoints = (await ask(merchant.get('/webhook_endpoints'))).data as Body[];
  const path = `/webhook_endpoints/${endpoints.find(({ status }) => status === 'enabled')?.id}`;
  for (const status of ['failed', 'pending'])
    await list(parties, `${path}/deliveries?status=${status}`);
  const [delivery] = await list(parties, `${path}/deliveries`);
  if (delivery !== undefined) {
    await ask(merchant.get(`/webhook_deliveries/${delivery.id}`));
    await ask(merchant.post(`/webhook_deliveries/${delivery.id}/retry`));
  }
  for (const read of ['/payments?limit=1', '/terminal', '/totals', '/catalogue'])
    await ask(till.get(read));
  for (const read of ['/payments?limit=1', '/confirmations?wait=0', '/me']) {
    await ask(payer.get(read));
  }
}

/**
 * Opens a shop that makes every kind of sale over HTTP, with refunds and lists, as on a normal
 * business day.
 * @param receiverUrl gets the webhooks
 */
export async function openShop(network: QuickNetwork, receiverUrl: string) {
  const { sandbox, secret } = network;
  const mode = sandbox.test;
  const payerToken = await signInWallet(sandbox.web_url, wallet(secret, 'testnet payer ok'), {
    chainId: TEST_CHAIN_ID,
    publicUrl: PUBLIC_URL,
  });
  const parties = {
    merchant: caller(`${sandbox.base_url}/v1`, mode.secret_key),
    till: caller(`${sandbox.base_url}/device/v1`, mode.device_key),
    payer: caller(`${sandbox.base_url}/payer/v1`, payerToken),
    mode,
  };
  await addEndpoints(parties.merchant, receiverUrl);
  let rounds = 0;
  return {
    /** Sells, refunds and lists once. */
    round: async () => {
      const sale = await sell(parties, `round-${++rounds}`);
      await sellOtherwise(parties);
      await sellInShift(parties);
      await readLists(parties, sale);
      await readTheRest(parties);
      await sleep(REST_MS);
    },
  };
}
