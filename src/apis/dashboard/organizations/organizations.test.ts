import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import {
  addMember,
  addOwner,
  addTotp,
  mailedUrl,
  PASSWORD,
  signInAs,
  stoppableNews,
} from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/** Olga owns the organization and two shops, each of which is an account. */
let olga: PersonClient;
let organization = '';
let shops: readonly [string, string];

const server = openForTests(startDashboardServer, async () => {
  const first = await addOwner(server, 'olga@organizations.test');
  olga = await signInAs(server, 'olga@organizations.test');
  const second = await olga.post('/accounts', { name: 'Second Shop' });
  shops = [first.accountId, String(second.body.id)];
  const made = await olga.post('/organizations', { name: 'Olga Cafés' });
  assert.equal(made.status, 201, made.text);
  organization = String(made.body.id);
  assert.match(organization, /^org_/);
});

const put = (client: PersonClient, account: string, to: string | null) =>
  client.send('PUT', `/accounts/${account}/organization`, { organization: to });
const inOrganization = (rest = '') => `/organizations/${organization}${rest}`;

interface Member {
  readonly user: string;
  readonly email: string;
  readonly role: string;
  readonly organization: string | null;
}

async function join(email: string, role: string): Promise<PersonClient> {
  const invited = await olga.post(inOrganization('/invitations'), { email, role });
  assert.equal(invited.status, 201, invited.text);
  const token = await server.mailedToken(email);
  const person = new PersonClient(server.dashboard);
  const form = { token, name: 'Some One', password: PASSWORD };
  const accepted = await person.post('/invitations/accept', form);
  assert.deepEqual(accepted.body, { account: null, organization, role });
  // The response contains the CSRF token, which later changes need.
  await person.get('/session');
  return person;
}

test('an account belongs to the organization into which an owner of both puts it', async () => {
  const before = await olga.get(`/accounts/${shops[0]}`);
  assert.equal(before.body.organization, null);
  for (const shop of shops) {
    const moved = await put(olga, shop, organization);
    assert.equal(moved.status, 200, moved.text);
    assert.equal(moved.body.organization, organization);
  }
  const { body } = await olga.get(inOrganization());
  const accounts = body.accounts as { id: string }[];
  assert.deepEqual(accounts.map(({ id }) => id).toSorted(), [...shops].toSorted());
  assert.deepEqual(await olga.list('/organizations'), [body]);
});

test('an organization of others and one that does not exist look the same', async () => {
  await addOwner(server, 'mallory@organizations.test');
  const mallory = await signInAs(server, 'mallory@organizations.test');
  const absent = '/organizations/org_0000000000000000000000';
  for (const rest of ['', '/members', '/invitations']) {
    const [foreign, missing] = [
      await mallory.get(inOrganization(rest)),
      await mallory.get(`${absent}${rest}`),
    ];
    assert.equal(foreign.status, 404, foreign.text);
    assert.deepEqual(
      { ...(foreign.body.error as object), request_id: '' },
      { ...(missing.body.error as object), request_id: '' },
    );
  }
  for (const path of ['/organizations/org_1-2/test/payments', '/organizations/x/live/totals']) {
    const malformed = await mallory.get(path);
    const { status, body } = malformed;
    assert.deepEqual([status, body.error?.code], [404, 'resource_missing'], malformed.text);
    assert.match(body.error?.message ?? '', /organization/);
  }
  const noMode = await olga.get(inOrganization('/prod/payments'));
  assert.match(noMode.body.error?.message ?? '', /must be test or live/);
  const [own] = await mallory.list<{ id: string }>('/accounts');
  for (const to of [organization, 'org_0000000000000000000000']) {
    const moved = await put(mallory, own?.id ?? '', to);
    assert.deepEqual([moved.status, moved.body.error?.param], [404, 'organization'], moved.text);
  }
  assert.equal((await put(mallory, shops[0], null)).body.error?.param, 'account');
});

test('one invitation gives its role in all accounts, including later ones', async () => {
  const vera = await join('vera@organizations.test', 'viewer');
  for (const shop of shops) {
    assert.equal((await vera.get(`/accounts/${shop}/test/payments`)).status, 200);
    const refused = await vera.patch(`/accounts/${shop}`, { version: 1, name: 'Hers' });
    assert.equal(refused.body.error?.code, 'role_missing');
  }
  const third = String((await olga.post('/accounts', { name: 'Third Shop' })).body.id);
  assert.equal((await vera.get(`/accounts/${third}`)).status, 404);
  assert.equal((await put(olga, third, organization)).status, 200);
  const seen = (await vera.get('/session')).body.accounts as { id: string; role: string }[];
  assert.deepEqual(
    seen.map(({ id, role }) => [id, role]).toSorted(),
    [...shops, third].map((id) => [id, 'viewer']).toSorted(),
  );
  assert.equal((await put(olga, third, null)).status, 200);
  assert.equal((await vera.get(`/accounts/${third}`)).status, 404, 'the role ends with the move');
});

test('a person with a role in one account too has the higher of both roles there', async () => {
  const email = 'max@organizations.test';
  await addMember(server, { email, accountId: shops[0], role: 'admin' });
  const max = await signInAs(server, email);
  await olga.post(inOrganization('/invitations'), { email, role: 'member' });
  const token = await server.mailedToken(email);
  assert.equal((await max.post('/invitations/accept', { token })).status, 200);
  const roles = (await max.get('/session')).body.accounts as { id: string; role: string }[];
  const roleIn = (account: string) => roles.find(({ id }) => id === account)?.role;
  assert.deepEqual(shops.map(roleIn), ['admin', 'member']);
  assert.equal((await max.get(`/accounts/${shops[0]}/test/api_keys`)).status, 200);
  const refused = await max.get(`/accounts/${shops[1]}/test/api_keys`);
  assert.equal(refused.body.error?.code, 'role_missing');
});

test('the team of an account names the people who come with the organization', async () => {
  const members = await olga.list<Member>(`/accounts/${shops[0]}/members`);
  const of = (email: string) =>
    members
      .filter((one) => one.email === `${email}@organizations.test`)
      .map((one) => [one.role, one.organization]);
  assert.deepEqual(of('vera'), [['viewer', organization]]);
  assert.deepEqual(of('max'), [
    ['admin', null],
    ['member', organization],
  ]);
});

test("adding an owner needs a fresh factor, and every account's owners are mailed", async () => {
  const email = 'otto@organizations.test';
  const invite = () => olga.post(inOrganization('/invitations'), { email, role: 'owner' });
  assert.equal((await invite()).body.error?.code, 'second_factor_required');
  await addTotp(server, olga);
  assert.equal((await invite()).status, 201);
  const token = await server.mailedToken(email);
  const otto = new PersonClient(server.dashboard);
  const form = { token, name: 'Otto Owner', password: PASSWORD };
  assert.equal((await otto.post('/invitations/accept', form)).status, 200);
  await otto.get('/session');
  for (const shop of shops) {
    const rows = await server.db.query<{ kind: string }>(
      'select kind from owner_changes where account_id = $1 and email = $2 order by created',
      [shop, email],
    );
    assert.deepEqual(
      rows.map(({ kind }) => kind),
      ['invited', 'joined'],
    );
    assert.equal((await otto.get(`/accounts/${shop}/invitations`)).status, 200);
  }
  const link = await mailedUrl(server, 'olga@organizations.test', /\S+\/hold-payouts\/\S+/);
  assert.match(link, /hold-payouts/);
  const moved = await put(otto, shops[1], null);
  assert.equal(moved.body.error?.code, 'second_factor_required', 'Otto would lose the ownership');
});

test('a removed person has no role in any of the accounts', async () => {
  const members = await olga.list<Member>(inOrganization('/members'));
  const userOf = (name: string) => members.find(({ email }) => email.startsWith(name))?.user;
  const vera = await signInAs(server, 'vera@organizations.test');
  const refused = await vera.delete(inOrganization(`/members/${userOf('max')}`));
  assert.equal(refused.body.error?.code, 'role_missing');
  assert.equal((await olga.delete(inOrganization(`/members/${userOf('vera')}`))).status, 200);
  assert.equal((await vera.get(inOrganization())).status, 404);
  for (const shop of shops) assert.equal((await vera.get(`/accounts/${shop}`)).status, 404);
  const max = await signInAs(server, 'max@organizations.test');
  const left = await max.post(inOrganization('/leave'));
  assert.deepEqual(left.body, { status: 'left' });
  assert.equal((await max.get(`/accounts/${shops[0]}`)).status, 200, 'the own role stays');
});

test('an organization never loses its last owner', async () => {
  const members = await olga.list<Member>(inOrganization('/members'));
  const owners = members.filter(({ role }) => role === 'owner');
  const [otto, self] = ['otto', 'olga'].map(
    (name) => owners.find(({ email }) => email.startsWith(name))?.user ?? '',
  );
  assert.equal((await olga.delete(inOrganization(`/members/${otto}`))).status, 200);
  assert.equal((await olga.delete(inOrganization(`/members/${self}`))).status, 409);
  const erased = await olga.post('/me/erase', {});
  assert.equal(erased.status, 409, erased.text);
});

const addLocation = (client: PersonClient, location: object) =>
  client.post(inOrganization('/locations'), location);

test('a location inherits those settings of its account that it does not set', async () => {
  const [account] = shops;
  await olga.patch(`/accounts/${account}`, { version: 2, time_zone: 'Europe/Berlin' });
  const plain = await addLocation(olga, { account, name: 'Main Street' });
  assert.equal(plain.status, 201, plain.text);
  const { id: _id, created: _created, ...shown } = plain.body;
  assert.deepEqual(shown, {
    ...{ object: 'location', account, name: 'Main Street', address: null },
    ...{ time_zone: 'Europe/Berlin', currency: null, language: null, tax_rates: null, version: 1 },
  });
  const full = {
    ...{ account: shops[1], name: 'Harbor', address: '1 Quay', time_zone: 'Pacific/Auckland' },
    ...{ currency: 'nzd', language: 'en', tax_rates: [{ name: 'GST', rate: 1500 }] },
  };
  const harbor = await addLocation(olga, full);
  const { id, object: _object, version: _version, created: _at, ...set } = harbor.body;
  assert.deepEqual(set, full);
  const edit = (version: number) =>
    olga.patch(inOrganization(`/locations/${id}`), { version, name: 'The Harbor' });
  assert.equal((await edit(1)).body.name, 'The Harbor');
  assert.equal((await edit(1)).body.error?.code, 'version_conflict');
  const listed = await olga.list<{ name: string }>(inOrganization('/locations'));
  assert.deepEqual(listed.map(({ name }) => name).toSorted(), ['Main Street', 'The Harbor']);
});

test('an invalid location is refused, and the refusal names the parameter', async () => {
  const [account] = shops;
  const foreign = (await addOwner(server, 'far@organizations.test')).accountId;
  const wrong: readonly [object, string][] = [
    [{ account: foreign, name: 'Theirs' }, 'account'],
    [{ account: 'acct_0000000000000000000000', name: 'Nobody' }, 'account'],
    [{ account, name: 'Zone', time_zone: 'Mars/Base' }, 'time_zone'],
    [{ account, name: 'Money', currency: 'xxq' }, 'currency'],
    [{ account, name: 'Language', language: 'tlh' }, 'language'],
    [{ account, name: '\u202e' }, 'name'],
  ];
  for (const [body, param] of wrong) {
    const refused = await addLocation(olga, body);
    assert.deepEqual([refused.status, refused.body.error?.param], [400, param], refused.text);
  }
  const absent = inOrganization('/locations/loc_0000000000000000000000');
  assert.equal((await olga.patch(absent, { version: 1, name: 'None' })).status, 404);
});

test('an admin assigns a terminal to a location of the terminal’s account', async () => {
  const [account, other] = shops;
  const terminal = await olga.post(`/accounts/${account}/test/terminals`, { label: 'Till' });
  assert.equal(terminal.body.location, null);
  const path = `/accounts/${account}/test/terminals/${terminal.body.id}`;
  interface Location {
    readonly id: string;
    readonly account: string;
  }
  const listed = await olga.list<Location>(inOrganization('/locations'));
  const locationOf = (shop: string) => listed.find((one) => one.account === shop)?.id;
  const edit = (client: PersonClient, location: unknown, version: number) =>
    client.patch(path, { version, location });
  for (const wrong of [locationOf(other), 'loc_0000000000000000000000']) {
    const refused = await edit(olga, wrong, 1);
    assert.deepEqual([refused.status, refused.body.error?.param], [400, 'location'], refused.text);
  }
  const email = 'mia@organizations.test';
  await addMember(server, { email, accountId: account, role: 'member' });
  const mia = await signInAs(server, email);
  const refused = await edit(mia, locationOf(account), 1);
  assert.equal(refused.body.error?.code, 'role_missing');
  const moved = await edit(olga, locationOf(account), 1);
  assert.deepEqual([moved.body.location, moved.body.version], [locationOf(account), 2], moved.text);
  const [event] = await server.db.query<{ body: string }>(
    `select body from events where type = 'terminal.updated' and object_id = $1`,
    [terminal.body.id],
  );
  assert.deepEqual(JSON.parse(event?.body ?? '').data.previous_attributes, { location: null });
  const sold = (location: unknown) =>
    olga.get(`/accounts/${account}/test/payments?location=${location}`);
  assert.deepEqual((await sold(locationOf(account))).body.data, []);
  for (const wrong of [locationOf(other), 'loc_0000000000000000000000', 'tml_1']) {
    const unknown = await sold(wrong);
    assert.deepEqual([unknown.status, unknown.body.error?.param], [400, 'location'], unknown.text);
  }
});

test('an invitation to an organization can be revoked, and the newer one replaces it', async () => {
  const email = 'late@organizations.test';
  const invite = () => olga.post(inOrganization('/invitations'), { email, role: 'viewer' });
  await invite();
  const first = await server.mailedToken(email);
  const second = await invite();
  const visitor = new PersonClient(server.dashboard);
  const lookup = (token: string) => visitor.post('/invitations/lookup', { token });
  assert.equal((await lookup(first)).status, 400);
  const token = await server.mailedToken(email);
  assert.equal((await lookup(token)).body.account_name, 'Olga Cafés');
  const [open, ...others] = await olga.list<{ id: string }>(inOrganization('/invitations'));
  assert.deepEqual([open?.id, others], [second.body.id, []]);
  assert.equal((await olga.delete(inOrganization(`/invitations/${second.body.id}`))).status, 200);
  assert.equal((await lookup(token)).status, 400);
});

test('owners of an account that went live after an invitation hear who accepts it', async () => {
  const email = 'early@organizations.test';
  const [account] = shops;
  assert.equal((await put(olga, account, organization)).status, 200);
  const mails = async () =>
    (await stoppableNews(server, 'olga@organizations.test')).filter((text) => text.includes(email));
  await olga.post(inOrganization('/invitations'), { email, role: 'admin' });
  assert.deepEqual(await mails(), [], 'no account is live');
  const token = await server.mailedToken(email);
  await server.db.query(
    `update account_modes set live_at = now(), merchant_number = 1
     where livemode and account_id = $1`,
    [account],
  );
  const form = { token, name: 'Some One', password: PASSWORD };
  const accepted = await new PersonClient(server.dashboard).post('/invitations/accept', form);
  assert.equal(accepted.status, 200, accepted.text);
  const [mail, ...others] = await mails();
  assert.match(mail ?? '', /joined the organization of the account “Some Shop”.*role admin/);
  assert.deepEqual(others, [], 'the other account is not live');
});
