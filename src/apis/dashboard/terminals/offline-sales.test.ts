import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorRoutes } from '#apis/operator/operator-routes.ts';
import { caller } from '#testkit/apis/api-client.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { WIDE_LIMITS } from '#testkit/apis/offline-sales.ts';
import { addMember, addOwner, addStaff, addTotp, signInAs } from '#testkit/apis/people.ts';
import type { AuditEntry, PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addTestKey } from '#testkit/fixtures/payments/merchants.ts';

let account: string;
let owner: PersonClient;
let staff: PersonClient;

const server = openForTests(
  () => startDashboardServer([], { operatorRoutes }),
  async () => {
    account = (await addOwner(server, 'nina@offline.test')).accountId;
    owner = await signInAs(server, 'nina@offline.test');
    await addTotp(server, owner);
    ({ client: staff } = await addStaff(server, 'ops@offline.test'));
  },
);

const terminals = (rest = '') => `/accounts/${account}/test/terminals${rest}`;

async function addTerminal(): Promise<{ readonly id: string; readonly version: number }> {
  const { body, text } = await owner.post(terminals(), { label: 'Stall' });
  assert.equal(typeof body.id, 'string', text);
  return { id: String(body.id), version: Number(body.version) };
}

const change = (
  by: PersonClient,
  { id, version }: { readonly id: string; readonly version: number },
  offline: unknown,
) => by.patch(terminals(`/${id}`), { version, offline });

const said = ({ status, body }: Awaited<ReturnType<typeof change>>) =>
  `${status} ${body.error?.code ?? ''}`.trim();

test('an admin with a fresh factor sets the limits, and the former ones are recorded', async () => {
  const terminal = await addTerminal();
  const on = await change(owner, terminal, WIDE_LIMITS);
  assert.equal(on.status, 200, on.text);
  assert.deepEqual(on.body.offline, WIDE_LIMITS);
  const version = Number(on.body.version);
  assert.equal(said(await change(owner, terminal, null)), '409 version_conflict');
  const narrower = { ...WIDE_LIMITS, per_payment: 5_000_000 };
  const changed = await change(owner, { ...terminal, version }, narrower);
  assert.deepEqual(changed.body.offline, narrower);
  const off = await change(owner, { ...terminal, version: Number(changed.body.version) }, null);
  assert.equal(off.body.offline, null);
  interface Updated {
    readonly data: Record<'object' | 'previous_attributes', { readonly offline: unknown }>;
  }
  const path = `/accounts/${account}/test/events?type=terminal.updated`;
  const events = (await owner.list<Updated>(path)).map(({ data }) => [
    data.previous_attributes.offline,
    data.object.offline,
  ]);
  assert.deepEqual(events, [
    [narrower, null],
    [WIDE_LIMITS, narrower],
    [null, WIDE_LIMITS],
  ]);
  const [entry] = await owner.list<AuditEntry>(`/accounts/${account}/audit_log`);
  assert.deepEqual(
    [entry?.action, entry?.before, entry?.after],
    ['terminal.updated', { offline: narrower }, { offline: null }],
  );
});

test('neither a member nor an admin without a factor sets limits; both may rename', async () => {
  const terminal = await addTerminal();
  for (const [role, refusal] of [
    ['member', '403 role_missing'],
    ['admin', '403 second_factor_required'],
  ] as const) {
    const email = `${role}@offline.test`;
    await addMember(server, { email, accountId: account, role });
    const person = await signInAs(server, email);
    assert.equal(said(await change(person, terminal, WIDE_LIMITS)), refusal);
    assert.equal(said(await change(person, terminal, null)), refusal);
    const renamed = await person.patch(terminals(`/${terminal.id}`), {
      version: terminal.version,
      label: 'Stall',
    });
    assert.equal(renamed.status, 200, renamed.text);
  }
});

test('all five limits are required, within bounds, and no other field is accepted', async () => {
  const terminal = await addTerminal();
  const { hours: _, ...fewer } = WIDE_LIMITS;
  for (const wrong of [
    fewer,
    { ...WIDE_LIMITS, hours: 0 },
    { ...WIDE_LIMITS, hours: 73 },
    { ...WIDE_LIMITS, count: 1.5 },
    { ...WIDE_LIMITS, total: '1000000' },
    { ...WIDE_LIMITS, per_payment: -1 },
    { ...WIDE_LIMITS, per_day: 1 },
    {},
  ]) {
    const { status, text } = await change(owner, terminal, wrong);
    assert.equal(status, 400, `${JSON.stringify(wrong)}: ${text}`);
  }
});

test('the operator caps or forbids a network, and the merchant’s own limits stay', async () => {
  const terminal = await addTerminal();
  assert.equal((await change(owner, terminal, WIDE_LIMITS)).status, 200);
  const rule = `/accounts/${account}/test/offline_rule`;
  assert.deepEqual((await owner.get(rule)).body, {
    object: 'offline_rule',
    allowed: true,
    per_payment: null,
    rates_delay_seconds: null,
  });
  const put = (body: object, network = 'testnet') =>
    staff.send('PUT', `/networks/${network}/offline`, body);
  assert.equal((await put({ allowed: false, per_payment: null })).status, 400, 'without a reason');
  assert.equal((await put({ allowed: true, per_payment: 0, reason: 'x' })).status, 400);
  const nowhere = await put({ allowed: true, per_payment: null, reason: 'x' }, 'moonnet');
  assert.equal(nowhere.status, 404);
  const capped = await put({ allowed: false, per_payment: 7_000_000, reason: 'Bounces.' });
  assert.deepEqual(capped.body, { network: 'testnet', allowed: false, per_payment: 7_000_000 });
  assert.deepEqual((await staff.get('/networks/testnet/offline')).body, capped.body);
  const { body: mainnet } = await staff.get('/networks/mainnet/offline');
  assert.deepEqual([mainnet.allowed, mainnet.per_payment], [true, null]);
  const { body } = await owner.get(rule);
  assert.deepEqual([body.allowed, body.per_payment], [false, 7_000_000]);
  const { body: kept } = await owner.get(terminals(`/${terminal.id}`));
  assert.deepEqual(kept.offline, WIDE_LIMITS);
  const entries = await staff.list<AuditEntry>('/audit_log');
  const entry = entries.find(({ action }) => action === 'network.offline_changed');
  assert.deepEqual(
    [entry?.before, entry?.after],
    [
      { allowed: true, per_payment: null },
      { allowed: false, per_payment: 7_000_000, reason: 'Bounces.' },
    ],
  );
  await put({ allowed: true, per_payment: null, reason: 'Over.' });
});

const RECORD = {
  authorization: {
    from: `0x${'11'.repeat(20)}`,
    value: 1_002_500,
    valid_after: 0,
    valid_before: 1_900_000_000,
    nonce: `0x${'22'.repeat(32)}`,
    signature: `0x${'33'.repeat(65)}`,
  },
  amount: 1_000_000,
  salt: `0x${'44'.repeat(32)}`,
  accepted_at: '2026-11-28T10:00:00.000Z',
};

test('a file is handed in by admins alone, and is logged without its signatures', async () => {
  const terminal = await addTerminal();
  const handIn = (by: PersonClient, id = terminal.id) =>
    by.post(terminals(`/${id}/offline_payments`), { payments: [RECORD] });
  const member = await signInAs(server, 'member@offline.test');
  assert.equal(said(await handIn(member)), '403 role_missing');
  assert.equal(said(await handIn(owner, 'tml_0000000000000000000000')), '404 resource_missing');
  assert.equal(said(await handIn(owner)), '403 offline_not_allowed');
  const [entry] = await owner.list<AuditEntry>(`/accounts/${account}/audit_log`);
  assert.deepEqual(
    [entry?.action, entry?.after],
    ['terminal.offline_payments_handed_in', { payments: 1, nonces: [RECORD.authorization.nonce] }],
  );
  const { text } = await owner.get(`/accounts/${account}/audit_log`);
  assert.ok(!text.includes('33'.repeat(65)), 'a signature can pay until it is settled');
});

test('no key of live mode reaches the test helper', async () => {
  const terminal = await addTerminal();
  const tenant = { accountId: account, livemode: true };
  const key = await addTestKey(server.db, tenant, { now: server.clock.now() });
  const merchant = caller(server.merchantApi, key.secret);
  const path = `/test_helpers/terminals/${terminal.id}/offline_payment`;
  assert.equal((await merchant.post(path, { amount: 1_000_000 })).status, 404);
});
