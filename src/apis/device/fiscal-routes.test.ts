import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { selectFiscal } from '#fiscal/fiscal-queries.ts';
import { startSigning } from '#fiscal/sign-receipts.ts';
import { selectTillReceipts } from '#fiscal/signature-request.ts';
import type { Payment } from '#payments/payment.ts';
import { createRefund } from '#refunds/create-refund.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { addTerminal, newRequest, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { addPayment, playRefunds, see } from '#testkit/fixtures/payments/store-payments.ts';
import { systemResolver } from '#webhooks/dns-resolver.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

const URL_IN_SHOP = 'https://signer.shop.test/receipts';
const NETWORK = { policy: addressPolicy([], { ownMachine: true }), resolver: systemResolver() };

let store: TestStore;
let server: StoreServer;
let device: Caller;

before(async () => {
  ({ store, server, device } = await openServedStore());
});
beforeEach(async () => {
  await store.db.query('delete from fiscal_receipts');
  await callSigner('terminal');
});
after(() => server.close());

const callSigner = (by: 'terminal' | 'server') =>
  store.db.query('update accounts set fiscal_signer = $2, fiscal_by_terminal = $3 where id = $1', [
    store.merchant.tenant.accountId,
    URL_IN_SHOP,
    by === 'terminal',
  ]);

interface Job {
  readonly receipt_number: string;
  readonly url: string;
  readonly request: { readonly id: string; readonly refund?: string; readonly taxes: unknown };
}

async function jobs(caller = device): Promise<Job[]> {
  const { status, body } = await caller.get('/fiscal_receipts');
  assert.equal(status, 200);
  return body.data as Job[];
}

const handIn = (number: string | null, body: object, caller = device) =>
  caller.post(`/fiscal_receipts/${number}`, body);
const fiscalOf = async ({ id }: Payment) => (await selectFiscal(store.db, [id])).get(id);

test('a till gets the receipts of its sales until it hands in their signatures', async () => {
  assert.equal((await device.get('/terminal')).body.signs_receipts, true);
  const [first, second] = [await addPayment(store), await addPayment(store)];
  const [one, two, ...more] = await jobs();
  assert.deepEqual(
    [one?.receipt_number, two?.receipt_number, more.length],
    [first.receipt_number, second.receipt_number, 0],
  );
  assert.equal(one?.url, URL_IN_SHOP);
  assert.match(one?.request.id ?? '', /^fis_[0-9a-f]{32}$/);
  assert.deepEqual((await jobs())[0]?.request, one?.request);
  assert.deepEqual(await fiscalOf(first), { signature: null, text: null });

  const signed = { signature: 'SIG-1', text: 'TSE 4711\nchain 12' };
  const { status, body } = await handIn(first.receipt_number, signed);
  assert.equal(status, 200);
  const { receipt_number } = first;
  assert.deepEqual(body, { object: 'fiscal_receipt', receipt_number, ...signed });
  assert.deepEqual(await fiscalOf(first), signed);
  assert.deepEqual((await jobs()).length, 1);
});

test('the first signature is kept: a repeated or another answer changes nothing', async () => {
  const { receipt_number: receiptNumber, ...payment } = await addPayment(store);
  const first = await handIn(receiptNumber, { signature: 'SIG-1' });
  for (const signature of ['SIG-1', 'SIG-2']) {
    assert.deepEqual(await handIn(receiptNumber, { signature, text: 'x' }), first);
  }
  assert.deepEqual(await fiscalOf({ ...payment, receipt_number: receiptNumber }), {
    signature: 'SIG-1',
    text: null,
  });
});

test('a till neither sees nor signs the receipts of another', async () => {
  const payment = await addPayment(store);
  const { deviceKey } = await addTerminal(store.db, store.merchant, new Date());
  const other = server.device(deviceKey);
  assert.deepEqual(await jobs(other), []);
  const refused = await handIn(payment.receipt_number, { signature: 'SIG' }, other);
  assert.deepEqual([refused.status, errorCodeOf(refused.body)], [404, 'resource_missing']);
  const unknown = await handIn('K7XQM-1', { signature: 'SIG' });
  assert.deepEqual([unknown.status, errorCodeOf(unknown.body)], [404, 'resource_missing']);
  assert.deepEqual(await fiscalOf(payment), { signature: null, text: null });
});

test('the till of a sale signs its refunds', async () => {
  const payment = await addPayment(store);
  const answer = createRefund(store.ctx, {
    tenant: store.merchant.tenant,
    keyHash: null,
    idempotency: newRequest(store),
    requestId: 'req_test',
    now: store.clock.now(),
    input: { paymentId: payment.id, amount: null, reason: null, metadata: {}, source: 'api' },
  });
  while ((await playRefunds(store)) === 0);
  const { id, receipt_number } = see(await answer).body;
  const job = (await jobs()).find(({ request }) => request.refund === id);
  assert.equal(job?.receipt_number, receipt_number);
  assert.equal((await handIn(String(receipt_number), { signature: 'R' })).status, 200);
});

for (const [because, body] of [
  ['no signature', { text: 'x' }],
  ['an empty signature', { signature: '' }],
  ['NUL in a text', { signature: 'x', text: '\0' }],
  ['more than 16 KiB', { signature: 'x'.repeat(9_000), text: 'x'.repeat(9_000) }],
] as const) {
  test(`${because} is 400, and the receipt stays unsigned`, async () => {
    const payment = await addPayment(store);
    assert.equal((await handIn(payment.receipt_number, body)).status, 400);
    assert.deepEqual(await fiscalOf(payment), { signature: null, text: null });
  });
}

test('workers do not send a till’s receipts, and tills do not send a worker’s', async () => {
  const payment = await addPayment(store);
  const [row] = await store.db.query<{ due_at: Date | null }>(
    'select due_at from fiscal_receipts where subject_id = $1',
    [payment.id],
  );
  assert.equal(row?.due_at, null);
  // A row may have been written while the setting changed. The worker takes it, but sends nothing.
  await store.db.query('update fiscal_receipts set due_at = created');
  const loop = startSigning(store, NETWORK);
  await loop.stop();
  assert.deepEqual(await fiscalOf(payment), { signature: null, text: null });
  assert.equal((await selectTillReceipts(store.db, store.terminalId, 9)).length, 1);

  await callSigner('server');
  assert.deepEqual(await jobs(), []);
  assert.equal((await handIn(payment.receipt_number, { signature: 'SIG' })).status, 404);
  assert.equal((await device.get('/terminal')).body.signs_receipts, false);
});
