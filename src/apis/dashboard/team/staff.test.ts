import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type DashboardServer, startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, addTotp, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { findText } from '#testkit/fixtures/db/find-text.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';

let server: DashboardServer;
let owner: PersonClient;
let account = '';
let userId = '';

before(async () => {
  server = await startDashboardServer();
  ({ accountId: account, userId } = await addOwner(server, 'owner@staff.test'));
  owner = await signInAs(server, 'owner@staff.test');
});

after(() => server.close());

const staff = (path = '', id = account) => `/accounts/${id}/staff${path}`;
const ADA = { name: 'Ada', pin: '4927', role: 'cashier' } as const;

interface Staff {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly [field: string]: unknown;
}

const list = () => owner.list<Staff>(staff());

async function add(fields: object): Promise<Staff> {
  const { status, body, text } = await owner.post(staff(), { ...ADA, ...fields });
  assert.equal(status, 201, text);
  return body as Staff;
}

/** Returns the code and the parameter of a refusal. */
function refusalOf({ status, body }: { status: number; body: Record<string, unknown> }): string {
  const error = body.error as { code: string; param: string | null } | undefined;
  return `${status} ${error?.code} ${error?.param}`;
}

const auditOf = async (id: string) => {
  const { body } = await owner.get(`/accounts/${account}/audit_log?object=${id}`);
  return (body.data as { action: string; after: object | null; people: object[] }[]).reverse();
};

test('a person is added with a name, a PIN and a role, changed, and removed', async () => {
  const ada = await add({});
  const { id, created, ...rest } = ada;
  assert.match(id, /^stf_[0-9A-Za-z]{22}$/);
  assert.ok(created);
  assert.deepEqual(rest, {
    ...{ object: 'staff', name: 'Ada', role: 'cashier', pin_blocked: false },
    ...{ refund_limit: 0, refund_limit_presentment: null, may_discount: false, version: 1 },
  });
  const rights = { refund_limit: 5_000_000, may_discount: true };
  const changed = await owner.patch(staff(`/${id}`), { version: 1, name: 'Ada L.', ...rights });
  assert.deepEqual(changed.body, { ...ada, name: 'Ada L.', ...rights, version: 2 });
  assert.deepEqual(await list(), [changed.body]);
  assert.equal((await owner.send('PUT', staff(`/${id}/pin`), { pin: '92746105' })).status, 200);
  const removed = await owner.send('DELETE', staff(`/${id}?version=2`));
  assert.deepEqual([removed.status, removed.body.id], [200, id]);
  assert.deepEqual(await list(), []);
  const entries = await auditOf(id);
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['staff.added', 'staff.changed', 'staff.pin_set', 'staff.removed'],
  );
  assert.ok(!JSON.stringify(entries.map(({ after }) => after)).includes('Ada'), 'no name to erase');
  for (const { people } of entries) assert.deepEqual(people, [{ id, name: 'Ada L.' }]);
  const [row] = await server.db.query('select name, pin_hash from staff where id = $1', [id]);
  assert.deepEqual(row, { name: 'Ada L.', pin_hash: null }, 'the name stays with the sales');
});

test('a removed person’s name is erased on request, then or later, with a number', async () => {
  const [ben, eve] = [await add({ name: 'Benedikta' }), await add({ name: 'Evelina' })];
  const erased = await owner.send('DELETE', staff(`/${ben.id}?version=1&erase=true`));
  assert.deepEqual([erased.status, erased.body.name], [200, 'Staff 1']);
  assert.equal((await owner.send('DELETE', staff(`/${eve.id}?version=1`))).body.name, 'Evelina');
  const later = await owner.send('DELETE', staff(`/${eve.id}?version=2&erase=true`));
  assert.equal(later.body.name, 'Staff 2');
  const again = await owner.send('DELETE', staff(`/${eve.id}?version=3&erase=true`));
  assert.equal(again.body.name, 'Staff 2');
  assert.equal((await owner.send('DELETE', staff(`/${eve.id}?version=4`))).status, 404);
  for (const name of ['Benedikta', 'Evelina']) {
    assert.deepEqual(await findText(server.db, name), []);
  }
});

test('a name is erased although a person at the till is named like its number', async () => {
  const [named, uma] = [await add({ name: 'staff 3' }), await add({ name: 'Uma' })];
  const erased = await owner.send('DELETE', staff(`/${uma.id}?version=1&erase=true`));
  assert.deepEqual([erased.status, erased.body.name], [200, 'Staff 3'], erased.text);
  assert.equal((await owner.send('DELETE', staff(`/${named.id}?version=1`))).status, 200);
});

test('bad input is refused with the parameter, and nothing is kept', async () => {
  const ada = await add({});
  const other = await addOwner(server, 'other@staff.test');
  await owner.send('PUT', `/accounts/${account}/members/${userId}/pin`, { pin: '830517' });
  const before = JSON.stringify(await list());
  const entries = (await owner.get(`/accounts/${account}/audit_log`)).body.data as object[];
  const bad: readonly (readonly [object, string])[] = [
    [{}, '400 parameter_invalid name'],
    [{ name: 'ADA' }, '400 parameter_invalid name'],
    [{ name: 'Some One' }, '400 parameter_invalid name'],
    [{ name: '' }, '400 parameter_invalid name'],
    [{ name: 'B', pin: '123' }, '400 parameter_invalid pin'],
    [{ name: 'B', pin: 4927 }, '400 parameter_invalid pin'],
    [{ name: 'B', pin: '４９２７' }, '400 parameter_invalid pin'],
    [{ name: 'B', pin: '123456789' }, '400 parameter_invalid pin'],
    [{ name: 'B', role: 'manager' }, '400 parameter_invalid pin'],
    [{ name: 'B', role: 'manager', pin: '83051' }, '400 parameter_invalid pin'],
    [{ name: 'B', role: 'admin' }, '400 parameter_invalid role'],
    [{ name: 'B', refund_limit: -1 }, '400 parameter_invalid refund_limit'],
    [{ name: 'B', refund_limit: '5' }, '400 parameter_invalid refund_limit'],
    [{ name: 'B', refund_limit: null }, '400 parameter_invalid refund_limit'],
    [{ name: 'B', may_discount: 1 }, '400 parameter_invalid may_discount'],
    [{ name: 'B', email: 'b@staff.test' }, '400 parameter_unknown email'],
    [
      { name: 'B', refund_limit: { currency: 'usd', amount: 1 } },
      '400 parameter_invalid refund_limit.currency',
    ],
  ];
  for (const [fields, expected] of bad) {
    const reply = await owner.post(staff(), { ...ADA, ...fields });
    assert.equal(refusalOf(reply), expected, JSON.stringify(fields));
  }
  const common = ['1234', '1111', '0000', '1212', '7777', '1004', '2000', '4444', '2222', '6969'];
  for (const pin of [...common, '111111', '55555', '12345', '456789', '01234567']) {
    assert.equal(
      refusalOf(await owner.post(staff(), { ...ADA, name: 'B', pin })),
      '400 parameter_invalid pin',
      pin,
    );
    const set = await owner.send('PUT', staff(`/${ada.id}/pin`), { pin });
    assert.equal(refusalOf(set), '400 parameter_invalid pin', pin);
  }
  const patches: readonly (readonly [object, string])[] = [
    [{ version: 2 }, '409 version_conflict version'],
    [{ version: 1, name: 'Some One' }, '400 parameter_invalid name'],
    [{ version: 1, role: 'manager' }, '400 parameter_invalid role'],
    [{ version: 1, pin: '830517' }, '400 parameter_unknown pin'],
    [{ name: 'B' }, '400 parameter_missing version'],
  ];
  for (const [fields, expected] of patches) {
    assert.equal(refusalOf(await owner.patch(staff(`/${ada.id}`), fields)), expected);
  }
  for (const [query, expected] of [
    ['', '400 parameter_missing version'],
    ['?version=7', '409 version_conflict version'],
    ['?version=1&erase=yes', '400 parameter_invalid erase'],
  ] as const) {
    assert.equal(refusalOf(await owner.send('DELETE', staff(`/${ada.id}${query}`))), expected);
  }
  const elsewhere = staff(`/${ada.id}`, other.accountId);
  const stranger = await signInAs(server, 'other@staff.test');
  for (const reply of [
    await stranger.patch(elsewhere, { version: 1 }),
    await stranger.send('DELETE', `${elsewhere}?version=1`),
    await stranger.send('PUT', `${elsewhere}/pin`, { pin: '830517' }),
    await stranger.get(staff()),
  ]) {
    assert.equal(reply.status, 404);
  }
  assert.equal(JSON.stringify(await list()), before);
  const after = (await owner.get(`/accounts/${account}/audit_log`)).body.data as object[];
  assert.deepEqual(after, entries);
});

test('a member with a PIN has no name of the staff, whichever of the two comes first', async () => {
  await add({ name: 'Zoe' });
  const email = 'zoe@staff.test';
  const zoe = await addMember(server, { accountId: account, email, role: 'member' });
  const member = await signInAs(server, email);
  const pinPath = `/accounts/${account}/members/${zoe}/pin`;
  assert.equal((await member.patch('/me', { name: 'zoe' })).status, 200);
  const taken = await owner.send('PUT', pinPath, { pin: '83051' });
  assert.equal(refusalOf(taken), '400 parameter_invalid name');
  assert.equal((await member.patch('/me', { name: 'Zoe Z.' })).status, 200);
  assert.equal((await owner.send('PUT', pinPath, { pin: '83051' })).status, 200);
  const renamed = await member.patch('/me', { name: 'ZOE' });
  assert.equal(refusalOf(renamed), '400 parameter_invalid name');
  assert.equal((await member.get('/me')).body.name, 'Zoe Z.');
});

test('members with PINs have different names; those who share one keep both', async () => {
  const [one, two] = ['uma@staff.test', 'uma.b@staff.test'] as const;
  const ids = [];
  for (const email of [one, two]) {
    ids.push(await addMember(server, { accountId: account, email, role: 'member' }));
    await (await signInAs(server, email)).patch('/me', { name: 'Uma' });
  }
  const pinOf = (id: string | undefined) => `/accounts/${account}/members/${id}/pin`;
  const setPin = (id: string | undefined, pin: string) => owner.send('PUT', pinOf(id), { pin });
  assert.equal((await setPin(ids[0], '83051')).status, 200);
  assert.equal(refusalOf(await setPin(ids[1], '62048')), '400 parameter_invalid name');
  const second = await signInAs(server, two);
  assert.equal((await second.patch('/me', { name: 'Uma B.' })).status, 200);
  assert.equal((await setPin(ids[1], '62048')).status, 200);
  const renamed = await second.patch('/me', { name: 'uma' });
  assert.equal(refusalOf(renamed), '400 parameter_invalid name');
  // As an earlier release could leave them.
  await server.db.query(`update users set name = 'Uma' where id = $1`, [ids[1]]);
  assert.equal((await second.patch('/me', { name: 'Uma' })).status, 200, 'the same name');
  assert.equal((await setPin(ids[1], '73915')).status, 200, 'a new PIN for a person who has one');
  assert.equal((await owner.send('DELETE', pinOf(ids[1]))).status, 200);
  assert.equal(refusalOf(await setPin(ids[1], '73915')), '400 parameter_invalid name');
});

test('a PIN that lifts limits has six digits, and a role brings its rights', async () => {
  const mia = await add({ name: 'Mia' });
  const path = staff(`/${mia.id}`);
  assert.equal((await owner.send('PUT', `${path}/pin`, { pin: '830517' })).status, 200);
  const manager = await owner.patch(path, { version: 1, role: 'manager' });
  assert.deepEqual([manager.body.refund_limit, manager.body.may_discount], [null, true]);
  assert.equal(
    refusalOf(await owner.send('PUT', `${path}/pin`, { pin: '4927' })),
    '400 parameter_invalid pin',
  );
  const cashier = await owner.patch(path, { version: 2, role: 'cashier' });
  assert.deepEqual([cashier.body.refund_limit, cashier.body.may_discount], [0, false]);
  assert.equal((await owner.send('PUT', `${path}/pin`, { pin: '4927' })).status, 200);
  const own = await owner.send('PUT', `/accounts/${account}/members/${userId}/pin`, {
    pin: '4927',
  });
  assert.equal(refusalOf(own), '400 parameter_invalid pin');
  const members = await owner.list<Record<string, unknown>>(`/accounts/${account}/members`);
  const row = members.find(({ role }) => role === 'owner');
  assert.deepEqual([row?.refund_limit, row?.may_discount], [null, true], 'an owner');
});

test('a limit is set in the shop’s currency, too', async () => {
  await putRates(server.db, { eur: '1.08542277217', usd: '1' }, { now: new Date() });
  const { body } = await owner.get(`/accounts/${account}`);
  await owner.patch(`/accounts/${account}`, { version: body.version, currency: 'eur' });
  const euros = { currency: 'eur', amount: 2_000 };
  const ida = await add({ name: 'Ida', refund_limit: euros });
  assert.deepEqual([ida.refund_limit, ida.refund_limit_presentment], [21_708_455, euros]);
});

test('admins change staff, viewers read them, and cashiers see neither', async () => {
  const roles = { admin: [200, 201], viewer: [200, 403], cashier: [403, 403] } as const;
  for (const [role, [read, write]] of Object.entries(roles)) {
    const email = `${role}@staff.test`;
    await addMember(server, { accountId: account, email, role: role as keyof typeof roles });
    const person = await signInAs(server, email);
    assert.equal((await person.get(staff())).status, read, role);
    const added = await person.post(staff(), { ...ADA, name: `By ${role}` });
    assert.equal(added.status, write, role);
  }
});

test('in a live account, rights need a fresh factor, and a cashier needs none', async () => {
  const { accountId, userId: own } = await addOwner(server, 'live@staff.test');
  const live = await signInAs(server, 'live@staff.test');
  await server.db.query(
    `update account_modes set live_at = $2, merchant_number = 900,
       settlement_wallet = '0x${'5'.repeat(40)}' where account_id = $1 and livemode`,
    [accountId, server.clock.now()],
  );
  const { prove } = await addTotp(server, live);
  server.clock.advance(10 * 60_000);
  const path = staff('', accountId);
  const student = await live.post(path, { ...ADA, name: 'Student' });
  assert.equal(student.status, 201, student.text);
  const at = `${path}/${student.body.id}`;
  const serious = [
    () => live.post(path, { name: 'M', pin: '830517', role: 'manager' }),
    () => live.post(path, { ...ADA, name: 'R', refund_limit: 5 }),
    () => live.patch(at, { version: 1, may_discount: true }),
    () => live.send('PUT', `/accounts/${accountId}/members/${own}/pin`, { pin: '830517' }),
  ];
  for (const request of serious) {
    assert.match(refusalOf(await request()), /^403 second_factor/);
  }
  assert.equal((await live.send('PUT', `${at}/pin`, { pin: '50918' })).status, 200);
  await prove();
  for (const request of serious) {
    const { status, text } = await request();
    assert.ok(status < 300, text);
  }
  assert.equal((await live.send('DELETE', `${at}?version=2&erase=true`)).status, 200);
  assert.deepEqual(
    await findText(server.db, 'Student'),
    [],
    'nor does a mail to the owners keep the name',
  );
});
