import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { newId } from '#core/ids.ts';
import { silentLog } from '#observability/log.ts';
import { withdrawals } from '#payouts/withdrawal-queries.ts';
import { applyRefundOutcomes } from '#refunds/apply-refund-results.ts';
import { markBlocked } from '#settlement/blocked-request-queries.ts';
import { requestOnChain } from '#settlement/chain-requests.ts';
import { addTestPayment } from '#testkit/apis/api-objects.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { TEST_RECEIPTS } from '#testkit/fixtures/payments/store.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';

const OWNER = 'olga@refunds.test';
const SAYS = 'Pausable: paused';
const AMOUNT = 2_500_000;

let owner: PersonClient;
let member: PersonClient;
let stranger: PersonClient;
let base = '';
let paymentId = '';

const server = openForTests(startDashboardServer, async () => {
  const { accountId } = await addOwner(server, OWNER);
  await addMember(server, { email: 'mia@refunds.test', accountId, role: 'member' });
  await addOwner(server, 'stranger@refunds.test');
  owner = await signInAs(server, OWNER);
  member = await signInAs(server, 'mia@refunds.test');
  stranger = await signInAs(server, 'stranger@refunds.test');
  base = `/accounts/${accountId}/test`;
  const tenant = { accountId, livemode: false };
  const terminal = newId('terminal', new Date());
  const mode = { tenant, key: '', keyId: '', terminal };
  paymentId = (await addTestPayment(server.db, mode, BigInt(AMOUNT))).id;
});

let requests = 0;
function ask(amount = AMOUNT) {
  requests++;
  const headers = { 'idempotency-key': `refund ${requests}` };
  return member.post(`${base}/refunds`, { payment: paymentId, amount }, headers);
}

/** Stores the row that the relayer writes while USDC temporarily blocks a transfer. */
async function block(subjectId: string): Promise<void> {
  const [request] = await server.db.query<{ id: bigint }>(
    'select id from chain_requests where subject_id = $1',
    [subjectId],
  );
  assert.ok(request !== undefined);
  await markBlocked(server.db, { id: request.id, by: SAYS }, server.clock.now());
}

test('above 500 USDC a day, a session alone cannot refund real money', async () => {
  const live = base.replace('/test', '/live');
  const tenant = { accountId: base.split('/')[2] ?? '', livemode: true };
  const mode = { tenant, key: '', keyId: '', terminal: newId('terminal', new Date()) };
  const sale = await addTestPayment(server.db, mode, 100_000_000n);
  server.clock.advance(6 * 60_000);
  // Sends all requests at the same time. Together they exceed the 500 USDC a day, so one needs a
  // factor. Each also exceeds the sale, so nothing is refunded.
  const body = { payment: sale.id, amount: 150_000_000 };
  const answers = await Promise.all(
    [1, 2, 3, 4].map((i) =>
      member.post(`${live}/refunds`, body, { 'idempotency-key': `live ${i}` }),
    ),
  );
  const codes = answers.map((answer) => answer.body.error?.code ?? '');
  const large = Array(3).fill('amount_too_large');
  assert.deepEqual(codes.sort(), [...large, 'second_factor_required']);
  // In a sandbox, people without a second factor can change access right after signing in, but
  // cannot refund.
  const justIn = await signInAs(server, 'mia@refunds.test');
  const more = await justIn.post(`${live}/refunds`, body, { 'idempotency-key': 'just in' });
  assert.equal(more.body.error?.code, 'second_factor_required');
  const again = await member.post(`${base}/refunds`, body, { 'idempotency-key': 'test mode' });
  assert.notEqual(again.body.error?.code, 'second_factor_required', 'test mode needs none');
});

test('a reason that the database could not store raises an error', async () => {
  const gone = await testDatabase();
  await gone.close();
  await assert.rejects(markBlocked(gone.db, { id: 1n, by: SAYS }, new Date()));
});

test('a withdrawal shows why it waits, only to its own account', async () => {
  const now = server.clock.now();
  const tenant = { accountId: base.split('/')[2] ?? '', livemode: false };
  const id = newId('withdrawal', now);
  const sums = { number: 7n, amount: 1_000_000n, wallet: `0x${'11'.repeat(20)}` as const };
  await server.db.transaction(async (tx) => {
    const row = { id, position: 1n, created: now, updated: now, requested_by: OWNER };
    const owner = { account_id: tenant.accountId, livemode: false };
    await withdrawals.insert(tx, { ...row, ...owner, ...sums, status: 'pending' });
    const payload = { merchantNumber: '1', wallet: sums.wallet, amount: `${sums.amount}` };
    const request = { livemode: false, kind: 'withdrawal', subjectId: id } as const;
    await requestOnChain(tx, { ...request, number: sums.number, payload, now });
  });
  const path = `${base}/withdrawals/${id}`;
  assert.equal((await owner.get(path)).body.waiting, null);
  await block(id);
  const { status, body } = await owner.get(path);
  assert.deepEqual([status, body.status], [200, 'pending']);
  assert.deepEqual(body.waiting, { message: SAYS, since: server.clock.now().toISOString() });
  assert.equal((await stranger.get(path)).status, 404);
});

describe('a refund that USDC refuses for now', () => {
  let refundId = '';
  let path = '';
  let answer: ReturnType<typeof ask>;
  before(async () => {
    // Starts the request. Its response comes once the chain has a result, or after a minute.
    answer = ask();
    await eventually('the refund is requested', async () => {
      const [refund] = await server.db.query<{ id: string }>('select id from refunds');
      refundId = refund?.id ?? '';
      return refundId !== '';
    });
    path = `${base}/refunds/${refundId}`;
  });

  test('shows no reason while it does not wait, and cannot be canceled', async () => {
    assert.equal((await owner.get(path)).body.waiting, null);
    const ended = await owner.post(`${path}/end`);
    assert.deepEqual([ended.status, ended.body.error?.code], [409, 'unexpected_state']);
  });

  test('shows why it waits, and since when', async () => {
    await block(refundId);
    const { status, body } = await owner.get(path);
    assert.deepEqual([status, body.status], [200, 'pending']);
    assert.deepEqual(body.waiting, { message: SAYS, since: server.clock.now().toISOString() });
  });

  test('is canceled by an admin, and by no lower role or other account', async () => {
    assert.equal((await member.post(`${path}/end`)).status, 403);
    assert.equal((await stranger.post(`${path}/end`)).status, 404);
    assert.equal((await stranger.get(path)).status, 404);
    assert.equal((await owner.get(path)).body.status, 'pending');
  });

  test('ends as failed, once, and its amount can be refunded again', async () => {
    const oneTooMany = async () => (await ask(AMOUNT + 1)).body.error?.code;
    assert.equal(await oneTooMany(), 'payment_already_refunded');
    assert.equal((await owner.post(`${path}/end`)).status, 200);
    while (await applyRefundOutcomes({ ...server, log: silentLog, pages: TEST_RECEIPTS }));
    const { body } = await owner.get(path);
    assert.deepEqual(
      [body.status, body.failure_code, body.waiting],
      ['failed', 'transfer_blocked', null],
    );
    assert.equal((await owner.post(`${path}/end`)).status, 409);
    assert.equal(await oneTooMany(), 'amount_too_large');
    assert.equal((await answer).body.status, 'failed');
    const changes = await server.db.query(
      `select 1 from audit_log where action = 'refund.given_up' and object_id = $1`,
      [refundId],
    );
    assert.equal(changes.length, 1);
  });
});
