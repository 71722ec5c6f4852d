import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLocation } from '#accounts/locations.ts';
import { isRefusal } from '#core/answer.ts';
import { systemClock } from '#core/clock.ts';
import type { IdKey } from '#core/ids.ts';
import { openIdKey } from '#db/id-key.ts';
import { changePin } from '#people/cashier-pins.ts';
import { deleteMembership } from '#people/membership-queries.ts';
import { createOrganization } from '#people/organizations.ts';
import { idSealingKey } from '#settings/config.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { addMember, addOwner, PASSWORD } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import {
  openRestoreGround,
  persist,
  type RestoreGround,
} from '#testkit/simulation/restore-ground.ts';

/** Restores a database while a person is signed in at a till. */

const actor = { type: 'system', name: 'test' } as const;
const CLEO = 'cleo@restored.test';

let world: RestoreGround;
let idKey: IdKey;
let shift: unknown;
let location = '';
let organization = '';
let ada = '';
let ben = '';
let cleo: PersonClient;
const paid = new Map<string, string>();

const till = () => world.node(0).terminal;
const now = () => systemClock.now();
const signIn = (cashier: string, pin: string) =>
  persist(() => till().post('/shift', { cashier, pin }));

async function setPin(userId: string, pin: string): Promise<void> {
  const { db, sandbox } = world;
  const ref = { accountId: sandbox.account, actor, now: now() };
  const set = await changePin({ db, idKey }, ref, { userId, pin });
  assert.ok(!isRefusal(set), isRefusal(set) ? set.message : '');
}

async function addCashier(email: string, pin: string): Promise<string> {
  const { db, sandbox } = world;
  const member = { email, accountId: sandbox.account, role: 'cashier' } as const;
  const id = await addMember({ db, clock: systemClock }, member);
  await setPin(id, pin);
  return id;
}

/** Puts the till at a location, and the account into an organization with a viewer. */
async function addOrganization(): Promise<void> {
  const { db, sandbox } = world;
  const owner = await addOwner({ db, clock: systemClock }, 'olga@restored.test');
  const viewer = await addOwner({ db, clock: systemClock }, CLEO);
  await db.transaction(async (tx) => {
    const ref = { accountId: sandbox.account, actor, now: now() };
    const made = await createLocation(tx, ref, { name: 'Harbor' });
    assert.ok(!isRefusal(made));
    location = made.id;
    const request = { name: 'Cafés', ownerId: owner.userId, actor, now: now() };
    organization = (await createOrganization(tx, request)).id;
    await tx.query('update terminals set location_id = $2 where id = $1', [
      sandbox.test.terminal,
      location,
    ]);
    await tx.query('update accounts set organization_id = $2 where id = $1', [
      sandbox.account,
      organization,
    ]);
    await tx.query(
      `insert into organization_members (organization_id, user_id, role, created)
       values ($1, $2, 'viewer', $3)`,
      [organization, viewer.userId, now()],
    );
  });
}

const readOrganization = () => cleo.get(`/organizations/${organization}`);
const signInCleo = () => cleo.post('/session', { email: CLEO, password: PASSWORD });

/**
 * Changes PINs, edits people and makes sales, all of which are missing from the restored database.
 */
async function loseChanges(open: unknown): Promise<void> {
  const { db, sandbox } = world;
  const tapped = await world.tap(0, open, 'tap OPEN');
  paid.set('OPEN', String(tapped.body.payment));
  paid.set('LOST', (await world.pay('LOST')).payment);
  await setPin(ada, '1111');
  const removed = { accountId: sandbox.account, userId: ben };
  await db.transaction((tx) => deleteMembership(tx, removed));
  await db.query('delete from organization_members where organization_id = $1 and role = $2', [
    organization,
    'viewer',
  ]);
  assert.equal((await readOrganization()).status, 404, 'the viewer was removed');
  assert.equal((await signIn(ada, '1111')).status, 201);
}

before(async () => {
  world = await openRestoreGround();
  idKey = await openIdKey(world.db, idSealingKey(world.ground.secret));
  ada = await addCashier('ada@restored.test', '4927');
  ben = await addCashier('ben@restored.test', '86420975');
  await world.db.query('update memberships set refund_limit = 1000000 where user_id = $1', [ada]);
  await addOrganization();
  cleo = new PersonClient(`${world.nodes[0]?.url}/dashboard/v1`);
  await signInCleo();
  assert.equal((await readOrganization()).status, 200);
  const started = await signIn(ada, '4927');
  assert.equal(started.status, 201, JSON.stringify(started.body));
  shift = started.body.id;
  const open = await world.create(0, 'OPEN');
  const restore = await world.backUp('early');
  await loseChanges(open.body.id);
  assert.ok((await restore()).loss_shown);
});
after(() => world?.close());

async function paymentOf(order: string) {
  const { body } = await persist(() => world.node(0).merchant.get(`/payments/${paid.get(order)}`));
  return body;
}

describe('after a restore', () => {
  it('the shift is open without a cashier signed in, so refunds need a code', async () => {
    const { body } = await persist(() => till().get('/terminal'));
    const open = body.shift as { readonly id: string; readonly cashier: string | null };
    assert.deepEqual([open.id, open.cashier], [shift, null]);
    const refund = { payment: paid.get('OPEN'), amount: 1 };
    const refused = await persist(() => till().post('/refunds', refund));
    assert.deepEqual([refused.status, errorCodeOf(refused.body)], [403, 'manager_required']);
    const sold = await world.create(0, 'NOBODY');
    assert.deepEqual([sold.body.cashier, sold.body.location], [null, location]);
  });

  it('a rebuilt sale has its location only if the database has its intent', async () => {
    const [open, lost] = [await paymentOf('OPEN'), await paymentOf('LOST')];
    assert.deepEqual([open.status, open.location, open.cashier], ['succeeded', location, ada]);
    assert.equal(open.terminal, world.sandbox.test.terminal);
    assert.deepEqual([lost.status, lost.location, lost.cashier], ['succeeded', null, null]);
    assert.notEqual(lost.terminal, world.sandbox.test.terminal);
  });

  it('the PIN of the copy signs in to the same shift, and the lost one does not', async () => {
    const lost = await signIn(ada, '1111');
    assert.deepEqual([lost.status, errorCodeOf(lost.body)], [403, 'pin_invalid']);
    const again = await signIn(ada, '4927');
    assert.deepEqual([again.status, again.body.id, again.body.cashier], [201, shift, ada]);
    const refund = { payment: paid.get('OPEN'), amount: 1 };
    const refunded = await persist(() => till().post('/refunds', refund));
    assert.deepEqual([refunded.status, refunded.body.cashier], [201, ada]);
  });

  it('people who were removed are back until they are removed again', async () => {
    assert.equal((await readOrganization()).status, 401, 'sessions have ended');
    assert.equal((await signInCleo()).status, 200);
    assert.equal((await readOrganization()).status, 200);
    assert.equal((await signIn(ben, '86420975')).status, 201);
    const { sandbox, db } = world;
    const removed = { accountId: sandbox.account, userId: ben };
    await db.transaction((tx) => deleteMembership(tx, removed));
    assert.equal(errorCodeOf((await signIn(ben, '86420975')).body), 'pin_invalid');
    const { body } = await till().get('/terminal');
    assert.equal((body.shift as { readonly cashier: string | null }).cashier, null);
  });

  it('ledger and chain agree', () => world.comeToRest());
});
