import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';

/** Tests that every limit is set in atoms or in the shop's currency, and answered in both. */

let owner: PersonClient;
let account = '';
let terminal = '';
let cashier = '';

const server = openForTests(startDashboardServer, async () => {
  ({ accountId: account } = await addOwner(server, 'owner@limits.test'));
  owner = await signInAs(server, 'owner@limits.test');
  const person = { accountId: account, email: 'till@limits.test', role: 'cashier' } as const;
  cashier = await addMember(server, person);
  terminal = String(
    (await owner.post(`/accounts/${account}/test/terminals`, { label: 'Bar' })).body.id,
  );
  const rates = { eur: '1.08542277217', usd: '1', kwd: '3.255208333333' };
  await putRates(server.db, rates, { now: new Date() });
  const { body } = await owner.get(`/accounts/${account}`);
  const euros = { version: body.version, currency: 'eur' };
  assert.equal((await owner.patch(`/accounts/${account}`, euros)).status, 200);
});

interface Place {
  readonly name: string;
  readonly path: () => string;
  readonly method: 'PATCH' | 'PUT';
  readonly most: number;
  readonly others?: object;
}

const RISK = {
  path: () => `/accounts/${account}/test/risk_settings`,
  method: 'PUT',
  most: 1_000_000_000_000,
} as const;
const off = { velocity_per_hour: null };
const PLACES: readonly Place[] = [
  {
    name: 'refund_daily_limit',
    path: () => `/accounts/${account}`,
    method: 'PATCH',
    most: 1_000_000_000_000_000,
  },
  {
    name: 'till_refund_limit',
    path: () => `/accounts/${account}`,
    method: 'PATCH',
    most: 1_000_000_000_000,
  },
  {
    name: 'refund_limit',
    path: () => `/accounts/${account}/members/${cashier}`,
    method: 'PATCH',
    most: 1_000_000_000_000,
  },
  {
    name: 'refund_limit',
    path: () => `/accounts/${account}/test/terminals/${terminal}`,
    method: 'PATCH',
    most: 1_000_000_000_000,
  },
  {
    ...RISK,
    name: 'first_payment_confirm_from',
    others: { high_amount_confirm_from: null, ...off },
  },
  {
    ...RISK,
    name: 'high_amount_confirm_from',
    others: { first_payment_confirm_from: null, ...off },
  },
];

async function versionAt(path: string): Promise<unknown> {
  if (!path.includes('/members/')) return (await owner.get(path)).body.version;
  const members = await owner.list<{ user: string; version: number }>(
    `/accounts/${account}/members`,
  );
  return members.find(({ user }) => user === cashier)?.version;
}

async function save({ name, path, method, others }: Place, value: unknown) {
  const body = { version: await versionAt(path()), ...others, [name]: value };
  return owner.send(method, path(), body);
}

for (const place of PLACES) {
  const { name } = place;
  test(`${name} of ${place.path().split('/').at(3) ?? 'the account'} has both forms`, async () => {
    const euros = { currency: 'eur', amount: 2_000 };
    const set = await save(place, euros);
    assert.equal(set.status, 200, set.text);
    const shown = [set.body[name], set.body[`${name}_presentment`]];
    assert.deepEqual(shown, [21_708_455, euros]);
    const zero = await save(place, { currency: 'eur', amount: 0 });
    assert.deepEqual(
      [zero.body[name], zero.body[`${name}_presentment`]],
      [0, { ...euros, amount: 0 }],
    );
    const inAtoms = await save(place, 21_708_455);
    assert.deepEqual([inAtoms.body[name], inAtoms.body[`${name}_presentment`]], [21_708_455, null]);
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      [-1, /./],
      [1.5, /./],
      ['5', /./],
      [place.most + 1, /./],
      [{ currency: 'eur', amount: -1 }, /./],
      [{ currency: 'eur', amount: 1.5 }, /./],
      [{ currency: 'EUR', amount: 1 }, /./],
      [{ currency: 'eur' }, /./],
      [{ currency: 'eur', amount: 1, more: 1 }, /./],
      [{ currency: 'kwd', amount: 1 }, /currency/],
      [{ currency: 'eur', amount: 1_000_000_000_000_000 }, /amount/],
    ];
    for (const [value, what] of wrong) {
      const refused = await save(place, value);
      assert.equal(refused.status, 400, `${JSON.stringify(value)} ${refused.text}`);
      const param = String(refused.body.error?.param);
      assert.ok(param.startsWith(name), `${JSON.stringify(value)}: ${param}`);
      assert.match(param, what);
    }
  });
}

test('a limit takes the currency of a location, and stays valid when that changes', async () => {
  const [place] = PLACES;
  assert.ok(place !== undefined);
  const { name } = place;
  await server.db.query(
    `insert into locations (id, account_id, name, time_zone, currency, created)
     values ('loc_1', $1, 'Kuwait', 'UTC', 'kwd', now())`,
    [account],
  );
  const dinars = { currency: 'kwd', amount: 1_500 };
  const set = await save(place, dinars);
  assert.deepEqual([set.body[name], set.body[`${name}_presentment`]], [4_882_812, dinars]);
  await server.db.query('delete from locations');
  assert.deepEqual((await owner.get(`/accounts/${account}`)).body[`${name}_presentment`], dinars);
  assert.equal((await save(place, dinars)).status, 400);
});
