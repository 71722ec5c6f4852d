import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorRoutes } from '#apis/operator/operator-routes.ts';
import { newSecret } from '#core/bearer-secrets.ts';
import type { Payment } from '#payments/payment.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addStaff, PASSWORD, signInAs } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import {
  addIntent,
  addPayer,
  openStore,
  pay,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { addPayment, addStore, playRefunds } from '#testkit/fixtures/payments/store-payments.ts';

/**
 * Tests how support staff find a payment by any identifier and give a reason to read it, which the
 * merchant can see.
 */

const OWNER = 'owner@shop.test';

let shop: TestStore;
let other: TestStore;
let payment: Payment;
let support: PersonClient;
let operator: PersonClient;

const server = openForTests(
  () => startDashboardServer([], { operatorRoutes }),
  async () => {
    const database = { db: server.db, url: '', close: async () => {} };
    shop = await openStore({ database, clock: server.clock });
    other = await addStore(shop, server.clock);
    payment = await addPayment(shop);
    await addPayment(other);
    const { accountId } = shop.merchant.tenant;
    await addMember(server, { email: OWNER, accountId, role: 'owner' });
    ({ client: support } = await addStaff(server, 'sue@support.test', { role: 'support' }));
    ({ client: operator } = await addStaff(server, 'olga@support.test'));
  },
);

interface Found {
  readonly kind: string;
  readonly id: string;
  readonly account: string | null;
}

async function found(client: PersonClient, text: string): Promise<Found[]> {
  const answer = await client.get(`/search?text=${encodeURIComponent(text)}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data as Found[];
}

/** Returns the IDs of the intents among the search results. */
async function sales(text: string): Promise<string[]> {
  const all = await found(support, text);
  return all.flatMap(({ kind, id }) => (kind === 'payment_intent' ? [id] : []));
}

async function look(client: PersonClient, id: string, reason = 'The customer called.') {
  return client.post(`/payment_intents/${id}/looks`, { reason });
}

test('a payment is found by any identifier that a caller can name', async () => {
  const {
    id,
    payment_intent_id: intent,
    order_id: orderId,
    payer_address: payerAddress,
    receipt_number: receiptNumber,
    payer_id: payerId,
  } = payment;
  assert.ok(receiptNumber !== null);
  for (const text of [id, intent, orderId, payerAddress, payerAddress.toLowerCase(), payerId]) {
    assert.deepEqual(await sales(text), [intent], text);
  }
  assert.deepEqual(await sales(` ${receiptNumber.toLowerCase()} `), [intent]);
  assert.ok((await sales(payment.tx_hash)).includes(intent));
  assert.deepEqual(await sales('pi_0000000000000000000000'), []);
});

test('a refund leads to its payment, by id and by the number on its receipt', async () => {
  const refunded = await addPayment(shop);
  const { accountId } = shop.merchant.tenant;
  const owner = await signInAs(server, OWNER);
  const path = `/accounts/${accountId}/test/refunds`;
  const body = { payment: refunded.id, reason: 'Cold.' };
  const request = owner.post(path, body, { 'Idempotency-Key': 'refund it' });
  // Plays the chain until there is a refund, because the response waits for it.
  while ((await playRefunds(shop)) === 0);
  const made = await request;
  assert.equal(made.status, 201, made.text);
  const ids = await sales(String(made.body.id));
  assert.deepEqual(ids, [refunded.payment_intent_id]);
  const read = await owner.get(`/accounts/${accountId}/test/refunds?limit=1`);
  const [refund] = read.body.data as { receipt_number: string }[];
  assert.deepEqual(await sales(refund?.receipt_number ?? ''), [refunded.payment_intent_id]);
});

test('an account is found by its id, a terminal, or the email of one of its people', async () => {
  const { accountId } = shop.merchant.tenant;
  for (const text of [accountId, shop.terminalId, OWNER, OWNER.toUpperCase()]) {
    const all = await found(support, text);
    assert.deepEqual(
      all
        .filter(({ kind }) => kind === 'account')
        .map(({ id }) => id)
        .includes(accountId),
      true,
      text,
    );
  }
  assert.deepEqual(await found(support, 'owner@shop'), [], 'exact matches only');
});

test('a payment can be read only after giving a reason, for half an hour', async () => {
  const id = payment.payment_intent_id;
  const early = await support.get(`/payment_intents/${id}`);
  assert.equal(early.body.error?.code, 'unexpected_state', early.text);
  assert.equal((await look(support, id, '')).body.error?.code, 'parameter_invalid');
  assert.equal((await look(support, id)).status, 200);
  const read = await support.get(`/payment_intents/${id}`);
  assert.equal(read.status, 200, read.text);
  assert.equal((read.body.payment as { id: string }).id, payment.id);
  assert.equal((read.body.account as { id: string }).id, payment.account_id);
  const codes = (read.body.findings as { code: string }[]).map(({ code }) => code);
  assert.deepEqual(codes, ['paid', 'nobody_listens']);
  const others = await operator.get(`/payment_intents/${id}`);
  assert.equal(others.body.error?.code, 'unexpected_state', 'each person gives a reason');
  server.clock.advance(30 * 60_000);
  const late = await support.get(`/payment_intents/${id}`);
  assert.equal(late.body.error?.code, 'unexpected_state', late.text);
});

test('the merchant reads who read which payment, and why', async () => {
  const id = payment.payment_intent_id;
  assert.equal((await look(operator, id, 'Ticket 4711.')).status, 200);
  const owner = await signInAs(server, OWNER);
  const { accountId } = shop.merchant.tenant;
  const log = await owner.get(`/accounts/${accountId}/audit_log?object=${id}`);
  const [entry] = log.body.data as { action: string; after: object; actor: object }[];
  assert.equal(entry?.action, 'payment_intent.read_by_support');
  assert.deepEqual(entry?.after, { reason: 'Ticket 4711.' });
  assert.equal((entry?.actor as { email?: string } | undefined)?.email, 'olga@support.test');
});

test('the searched text is in the network’s own log', async () => {
  await found(operator, payment.order_id);
  const log = await operator.get('/audit_log?limit=1');
  const [entry] = log.body.data as { action: string; after: object }[];
  assert.equal(entry?.action, 'network.searched');
  assert.deepEqual(entry?.after, { text: payment.order_id });
});

test('a secret that staff paste into the search or a reason is not stored', async () => {
  const secret = newSecret('apiKeyLive');
  await operator.get(`/search?text=${secret}`);
  await look(operator, payment.payment_intent_id, `The key ${secret} was refused.`);
  const tables = ['audit_log', 'request_log'];
  for (const table of tables) {
    const [row] = await server.db.query<{ kept: boolean }>(
      `select exists (select from ${table} t where to_jsonb(t)::text like $1) as kept`,
      [`%${secret.slice(-20)}%`],
    );
    assert.equal(row?.kept, false, table);
  }
  const log = await operator.get('/audit_log?limit=1');
  const [entry] = log.body.data as { action: string; after: object }[];
  assert.deepEqual([entry?.action, entry?.after], ['network.searched', { text: 'tlsk_live_…' }]);
});

test('an attempt that waits shows its settlement job', async () => {
  const { pass } = await addPayer(shop);
  const intentId = await addIntent(shop);
  await pay(shop, { intentId, pass, hangUp: true });
  await look(support, intentId);
  const { body } = await support.get(`/payment_intents/${intentId}`);
  const [request] = body.chain_requests as { kind: string; status: string; subject: string }[];
  assert.deepEqual(
    [request?.kind, request?.status, request?.subject],
    ['payment', 'queued', intentId],
  );
  const [first] = body.findings as { code: string }[];
  assert.equal(first?.code, 'waits_to_be_signed');
});

test('queues list their rows, which lead to the payment', async () => {
  const refunded = await addPayment(shop);
  const { accountId } = shop.merchant.tenant;
  const owner = await signInAs(server, OWNER);
  const key = { 'Idempotency-Key': 'one that waits' };
  const path = `/accounts/${accountId}/test/refunds`;
  const made = owner.post(path, { payment: refunded.id }, key);
  const entry = { payment_intent: refunded.payment_intent_id, account: accountId, mode: 'test' };
  const seen = async (route: string) => {
    for (;;) {
      const answer = await support.get(route);
      assert.equal(answer.status, 200, answer.text);
      const [first] = answer.body.data as Record<string, unknown>[];
      if (first !== undefined) return first;
    }
  };
  for (const route of [
    '/queues/entries?queue=refunds',
    '/queues/chain_requests?network=testnet&kind=refund&status=queued',
  ]) {
    const { id, since, note, ...rest } = await seen(route);
    assert.deepEqual(rest, entry, route);
    assert.ok(String(id).startsWith('re_') && typeof since === 'string' && note === null);
  }
  await playRefunds(shop);
  assert.equal((await made).status, 201);
  for (const queue of ['webhook deliveries', 'mails given up', 'withdrawals']) {
    const answer = await support.get(`/queues/entries?queue=${encodeURIComponent(queue)}`);
    assert.deepEqual(answer.body.data, [], queue);
  }
});

test('merchants’ people and strangers can neither search nor read', async () => {
  const id = payment.payment_intent_id;
  const stranger = new PersonClient(server.operator);
  assert.equal((await stranger.get('/search?text=a')).body.error?.code, 'session_missing');
  assert.equal((await look(stranger, id)).body.error?.code, 'session_missing');
  const owner = new PersonClient(server.operator);
  await owner.post('/session', { email: OWNER, password: PASSWORD });
  assert.equal((await owner.get(`/payment_intents/${id}`)).body.error?.code, 'session_missing');
});

test('a network of one cell lists itself, with its pending work', async () => {
  const before = await support.get('/cells');
  assert.equal(before.status, 200, before.text);
  const [own, ...others] = before.body.data as { readonly waiting: { readonly alarms: number } }[];
  assert.deepEqual(others, []);
  const alarms = own?.waiting.alarms ?? Number.NaN;
  await server.db.query(
    `insert into chain_alarms (livemode, kind, subject, details, created)
     values (false, 'nonce_foreign', 'sender 1', '{}', now())`,
  );
  assert.deepEqual((await support.get('/cells')).body.data, [
    { cell: 0, console_url: null, waiting: { ...own?.waiting, alarms: alarms + 1 } },
  ]);
  const stranger = new PersonClient(server.operator);
  assert.equal((await stranger.get('/cells')).body.error?.code, 'session_missing');
});
