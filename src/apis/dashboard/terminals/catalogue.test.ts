import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, signInAs } from '#testkit/apis/people.ts';
import type { AuditEntry, PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

let owner: PersonClient;
let account = '';
let path = '';

const server = openForTests(startDashboardServer, async () => {
  const { accountId } = await addOwner(server, 'olga@shop.test');
  await addMember(server, { email: 'mia@shop.test', accountId, role: 'member' });
  await addOwner(server, 'otto@other.test');
  owner = await signInAs(server, 'olga@shop.test');
  account = `/accounts/${accountId}`;
  path = `${account}/test/catalogue`;
});

interface Item {
  readonly id: string;
  readonly name: string;
  readonly position: number;
  readonly version: number;
}

const items = (by = owner, at = path) => by.list<Item>(at);
const names = async () => (await items()).map(({ name }) => name);

async function add(item: object): Promise<Item> {
  const { status, body, text } = await owner.post(path, item);
  assert.equal(status, 201, text);
  return body as unknown as Item;
}

async function clear(): Promise<void> {
  for (const { id } of await items()) await owner.delete(`${path}/${id}`);
}

test("an item gets the fields that it omits from the account's settings", async () => {
  await clear();
  const { version } = (await owner.get(account)).body;
  const tax_rates = [{ name: 'Drinks', rate: 1_900 }];
  const shop = { currency: 'eur', tax_rates, prices_include_tax: false };
  assert.equal((await owner.patch(account, { version, ...shop })).status, 200);
  const { id, ...coffee } = await add({ name: 'Coffee', unit_amount: 350, tax_rate: 'Drinks' });
  assert.match(id, /^item_[0-9A-Za-z]{22}$/);
  assert.deepEqual(coffee, {
    object: 'catalogue_item',
    name: 'Coffee',
    unit_amount: 350,
    currency: 'eur',
    tax_rate: 1_900,
    tax_inclusive: false,
    color: null,
    category: null,
    barcode: null,
    options: [],
    position: 1,
    version: 1,
  });
  const own = {
    ...{ currency: null, tax_rate: 700, tax_inclusive: true, color: '#A05a2c', position: 9 },
    ...{ category: 'Deposits', barcode: '4006381333931' },
    ...{ options: [{ name: 'crate', unit_amount: -150 }] },
  };
  const { id: _, ...token } = await add({ name: 'Bottle', unit_amount: -25, ...own });
  assert.deepEqual(token, {
    object: 'catalogue_item',
    name: 'Bottle',
    unit_amount: -25,
    ...own,
    version: 1,
  });
});

test('a new item is the last one, unless it has a position', async () => {
  await clear();
  for (const name of ['A', 'B', 'C']) await add({ name, unit_amount: 1 });
  const [, second] = await items();
  await add({ name: 'D', unit_amount: 1, position: second?.position });
  assert.deepEqual(await names(), ['A', 'D', 'B', 'C']);
  await add({ name: 'first', unit_amount: 1, position: 0 });
  await add({ name: 'last', unit_amount: 1 });
  assert.deepEqual(await names(), ['first', 'A', 'D', 'B', 'C', 'last']);
  const positions = (await items()).map(({ position }) => position);
  assert.equal(new Set(positions).size, positions.length);
});

test('items can move past the highest position that a request can name', async () => {
  await clear();
  const { position } = await add({ name: 'A', unit_amount: 1, position: 1_000_000 });
  await add({ name: 'B', unit_amount: 1 });
  await add({ name: 'C', unit_amount: 1, position });
  assert.deepEqual(await names(), ['C', 'A', 'B']);
});

test('moving or changing an item requires the version that was read', async () => {
  await clear();
  for (const name of ['A', 'B', 'C']) await add({ name, unit_amount: 1 });
  const [first, , third] = await items();
  const at = `${path}/${third?.id}`;
  const moved = await owner.patch(at, { version: 1, position: first?.position });
  assert.deepEqual([moved.status, moved.body.position, moved.body.version], [200, 1, 2]);
  assert.deepEqual(await names(), ['C', 'A', 'B']);
  const stale = await owner.patch(at, { version: 1, name: 'X' });
  assert.deepEqual([stale.status, stale.body.error?.code], [409, 'version_conflict']);
  const change = { name: 'C2', unit_amount: 7, currency: 'jpy', tax_rate: 800, color: '#000000' };
  const changed = await owner.patch(at, { version: 2, ...change });
  assert.deepEqual(changed.body, { ...moved.body, ...change, version: 3 });
  // An item that was only moved back to make room keeps its version.
  assert.equal((await owner.patch(`${path}/${first?.id}`, { version: 1, name: 'A2' })).status, 200);
  const cleared = await owner.patch(at, { version: 3, color: null, currency: null });
  assert.deepEqual([cleared.body.color, cleared.body.currency], [null, null]);
});

test('of two edits of one version, one succeeds and the other is a conflict', async () => {
  await clear();
  const { id } = await add({ name: 'A', unit_amount: 1 });
  const edits = ['B', 'C'].map((name) => owner.patch(`${path}/${id}`, { version: 1, name }));
  const statuses = (await Promise.all(edits)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, 409]);
});

test('a deleted item disappears, and the audit log has its last values', async () => {
  await clear();
  const { id } = await add({ name: 'A', unit_amount: 1 });
  const gone = await owner.delete(`${path}/${id}`);
  assert.deepEqual(gone.body, { id, object: 'catalogue_item', deleted: true });
  assert.equal((await owner.delete(`${path}/${id}`)).status, 404);
  assert.equal((await owner.patch(`${path}/${id}`, { version: 1, name: 'B' })).status, 404);
  const [entry] = await owner.list<AuditEntry>(`${account}/audit_log?limit=1`);
  assert.deepEqual(
    [entry?.action, entry?.before?.name, entry?.after],
    ['catalogue_item.deleted', 'A', null],
  );
});

test('each mode and account has its own catalog, and only admins change it', async () => {
  await clear();
  const { id } = await add({ name: 'A', unit_amount: 1 });
  const live = `${account}/live/catalogue`;
  assert.deepEqual(await items(owner, live), []);
  assert.equal((await owner.patch(`${live}/${id}`, { version: 1, name: 'B' })).status, 404);
  assert.equal((await owner.delete(`${live}/${id}`)).status, 404);
  const other = await signInAs(server, 'otto@other.test');
  assert.equal((await other.get(path)).status, 404);
  assert.equal((await other.delete(`${path}/${id}`)).status, 404);
  const member = await signInAs(server, 'mia@shop.test');
  assert.deepEqual(await items(member), await items());
  const refused = [
    await member.post(path, { name: 'B', unit_amount: 1 }),
    await member.patch(`${path}/${id}`, { version: 1, name: 'B' }),
    await member.delete(`${path}/${id}`),
  ];
  assert.deepEqual(
    refused.map(({ status, body }) => [status, body.error?.code]),
    refused.map(() => [403, 'role_missing']),
  );
  assert.deepEqual(await names(), ['A']);
});

const WRONG: readonly (readonly [field: string, values: readonly unknown[]])[] = [
  ['name', ['', 'x'.repeat(201), null]],
  ['unit_amount', [-1_000_000_000_000_001, 0.5, '1', null]],
  ['currency', ['EUR', 'xyz', 'euro', 1]],
  ['tax_rate', [-1, 10_001, 'Unknown', null]],
  ['tax_inclusive', ['yes', null]],
  ['color', ['red', '#fff', '#00000g']],
  ['category', ['', 'x'.repeat(61), 1]],
  ['options', [null, 'oat', Array(11).fill({ name: 'oat', unit_amount: 0 })]],
  ['position', [-1, 0.5, 1_000_001, null]],
];

test('invalid fields are refused by name, on create and on change', async () => {
  await clear();
  const good = { name: 'A', unit_amount: 1 };
  const { id } = await add(good);
  for (const [field, values] of WRONG) {
    for (const value of values) {
      const answers = [
        await owner.post(path, { ...good, [field]: value }),
        await owner.patch(`${path}/${id}`, { version: 1, [field]: value }),
      ];
      for (const { status, body, text } of answers) {
        const { code, param } = body.error ?? {};
        assert.deepEqual([status, code, param], [400, 'parameter_invalid', field], text);
      }
    }
  }
  for (const field of ['name', 'unit_amount']) {
    const { body } = await owner.post(path, { ...good, [field]: undefined });
    assert.deepEqual([body.error?.code, body.error?.param], ['parameter_missing', field]);
  }
  assert.equal((await items()).length, 1);
});

test('a catalog has at most 2,000 items', async () => {
  await clear();
  const full = Array.from({ length: 2_000 }, (_, n) => `item_full${n}`);
  const accountId = account.split('/').at(-1);
  await server.db.query(
    `insert into catalogue_items
       (id, account_id, livemode, name, unit_amount, tax_rate, tax_inclusive, position, created)
     select id, $2, false, id, 1, 0, true, n, now()
     from unnest($1::text[]) with ordinality as t (id, n)`,
    [full, accountId],
  );
  const { status, body } = await owner.post(path, { name: 'A', unit_amount: 1 });
  assert.deepEqual([status, body.error?.code], [409, 'unexpected_state']);
});
