import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { present } from '#core/assert.ts';
import { type DashboardServer, startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, PASSWORD, signInAs, stoppableNews } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';

let server: DashboardServer;
let owner: PersonClient;
let account = '';
let ownerId = '';

before(async () => {
  server = await startDashboardServer();
  ({ accountId: account, userId: ownerId } = await addOwner(server, 'owner@team.test'));
  owner = await signInAs(server, 'owner@team.test');
});

after(() => server.close());

const path = (rest: string) => `/accounts/${account}/${rest}`;

interface Member {
  readonly user: string;
  readonly version: number;
  readonly has_pin: boolean;
}

async function memberWith(email: string): Promise<Member> {
  const members = await owner.list<Member & { email: string }>(path('members'));
  return present(
    members.find((one) => one.email === email),
    email,
  );
}

const invite = (email: string, role: string) => owner.post(path('invitations'), { email, role });

test('an invitation adds a member with its role, once', async () => {
  assert.equal((await invite('new@team.test', 'member')).status, 201);
  const token = await server.mailedToken('new@team.test');
  const visitor = new PersonClient(server.dashboard);
  const about = await visitor.post('/invitations/lookup', { token });
  assert.deepEqual(
    [about.body.account_name, about.body.role, about.body.has_user],
    ['Some Shop', 'member', false],
  );
  const bare = await visitor.post('/invitations/accept', { token });
  assert.equal(bare.body.error?.code, 'parameter_missing');
  const form = { token, name: 'Nora New', password: PASSWORD };
  assert.equal((await visitor.post('/invitations/accept', form)).status, 200);
  assert.equal((await visitor.get(path('members'))).status, 200);
  const again = await new PersonClient(server.dashboard).post('/invitations/accept', form);
  assert.equal(again.status, 400);
});

test('a person who already has a user joins only while signed in as that user', async () => {
  await addOwner(server, 'known@team.test');
  await addOwner(server, 'mallory@team.test');
  await invite('known@team.test', 'viewer');
  const token = await server.mailedToken('known@team.test');
  const form = { token, name: 'X', password: 'another long passphrase' };
  const stranger = await new PersonClient(server.dashboard).post('/invitations/accept', form);
  assert.equal(stranger.status, 401, 'the link alone does not open an existing user');
  const mallory = await signInAs(server, 'mallory@team.test');
  assert.equal((await mallory.post('/invitations/accept', { token })).status, 401);
  const known = await signInAs(server, 'known@team.test');
  assert.equal((await known.post('/invitations/accept', { token })).status, 200);
  assert.equal((await known.get(path('test/payments'))).status, 200);
});

test('a second invitation invalidates the first; a revoked or old one opens nothing', async () => {
  await invite('late@team.test', 'admin');
  const first = await server.mailedToken('late@team.test');
  const second = await invite('late@team.test', 'viewer');
  const visitor = new PersonClient(server.dashboard);
  assert.equal((await visitor.post('/invitations/lookup', { token: first })).status, 400);
  const token = await server.mailedToken('late@team.test');
  assert.equal((await owner.delete(path(`invitations/${second.body.id}`))).status, 200);
  assert.equal((await visitor.post('/invitations/lookup', { token })).status, 400);
  await invite('late@team.test', 'viewer');
  const third = await server.mailedToken('late@team.test');
  server.clock.advance(7 * 24 * 3_600_000);
  assert.equal((await visitor.post('/invitations/lookup', { token: third })).status, 400);
  owner = await signInAs(server, 'owner@team.test');
});

test('a role that is taken away ends with the next request', async () => {
  const known = await signInAs(server, 'known@team.test');
  const member = await memberWith('known@team.test');
  const change = (role: string, version: number) =>
    owner.patch(path(`members/${member.user}`), { role, version });
  assert.equal((await change('admin', member.version)).status, 200);
  assert.equal((await known.get(path('test/api_keys'))).status, 200);
  assert.equal((await change('viewer', member.version)).body.error?.code, 'version_conflict');
  const promoted = await change('owner', member.version + 1);
  assert.equal(promoted.body.error?.code, 'second_factor_required');
  assert.equal((await owner.delete(path(`members/${member.user}`))).status, 200);
  assert.equal((await known.get(path('test/api_keys'))).status, 404);
});

test('a PIN is set by admins, and no answer or log has it', async () => {
  await addOwner(server, 'till@team.test');
  await invite('till@team.test', 'cashier');
  const cashier = await signInAs(server, 'till@team.test');
  const token = await server.mailedToken('till@team.test');
  assert.equal((await cashier.post('/invitations/accept', { token })).status, 200);
  const { user } = await memberWith('till@team.test');
  const pinOf = (id: string) => path(`members/${id}/pin`);
  for (const pin of ['123', '123456789', '12a4', 7316, ' 7316', null]) {
    const refused = await owner.send('PUT', pinOf(user), { pin });
    assert.deepEqual([refused.status, refused.body.error?.param], [400, 'pin'], String(pin));
    assert.ok(!refused.text.includes('7316'), refused.text);
  }
  assert.equal((await owner.send('PUT', pinOf(user), {})).body.error?.code, 'parameter_missing');
  const stranger = (await addOwner(server, 'stranger@team.test')).userId;
  const foreign = await owner.send('PUT', pinOf(stranger), { pin: '7316' });
  assert.deepEqual([foreign.status, foreign.body.error?.code], [404, 'resource_missing']);
  assert.equal((await cashier.send('PUT', pinOf(user), { pin: '7316' })).status, 403);
  const set = await owner.send('PUT', pinOf(user), { pin: '7316' });
  assert.deepEqual([set.status, set.body.has_pin], [200, true], set.text);
  const [row] = await server.db.query<{ pin_hash: string }>(
    'select pin_hash from memberships where user_id = $1 and account_id = $2',
    [user, account],
  );
  assert.match(row?.pin_hash ?? '', /^\$argon2id\$/);
  const log = await owner.get(path('audit_log'));
  assert.match(log.text, /member\.pin_set/);
  for (const { text } of [set, log]) assert.ok(!/7316|argon2|pin_hash/.test(text), text);
  assert.equal((await owner.delete(pinOf(user))).body.has_pin, false);
  assert.equal((await memberWith('till@team.test')).has_pin, false);
});

test('a member’s rights at tills are changed with the role, or separately', async () => {
  const { user } = await memberWith('till@team.test');
  const change = (fields: object) => owner.patch(path(`members/${user}`), fields);
  const rights = await change({ version: 1, refund_limit: 5_000_000, may_discount: true });
  assert.equal(rights.status, 200, rights.text);
  const { role, refund_limit, may_discount, version } = rights.body;
  assert.deepEqual([role, refund_limit, may_discount, version], ['cashier', 5_000_000, true, 2]);
  const promoted = await change({ version: 2, role: 'viewer' });
  assert.deepEqual([promoted.body.role, promoted.body.refund_limit], ['viewer', 5_000_000]);
  const stale = await change({ version: 2, refund_limit: 1 });
  assert.equal(stale.body.error?.code, 'version_conflict');
  for (const refund_limit of [-1, 1.5, '5', 1_000_000_000_001, null]) {
    const wrong = await change({ version: 3, refund_limit });
    assert.deepEqual([wrong.status, wrong.body.error?.param], [400, 'refund_limit']);
  }
  const again = await change({ version: 3, role: 'cashier' });
  assert.deepEqual([again.body.role, again.body.may_discount], ['cashier', true]);
  assert.match((await owner.get(path('audit_log'))).text, /member\.rights_changed/);
});

test('an account never loses its last owner', async () => {
  const demoted = await owner.patch(path(`members/${ownerId}`), { role: 'viewer', version: 1 });
  assert.equal(demoted.status, 409);
  assert.equal((await owner.delete(path(`members/${ownerId}`))).status, 409);
  assert.equal((await owner.post(path('leave'))).status, 409);
});

test('an invalid value is a 400 that names the parameter', async () => {
  const cases: [string, string, object, string][] = [
    ['POST', 'invitations', { email: 'x@team.test', role: 'god' }, 'role'],
    ['POST', 'invitations', { email: 'not an address', role: 'viewer' }, 'email'],
    ['POST', 'invitations', { email: 'аdmin@team.test', role: 'viewer' }, 'email'],
    ['POST', 'invitations', { email: 'x@team.test', role: 'viewer', more: 1 }, 'more'],
    ['PATCH', '', { version: 1, name: 'Pаypal' }, 'name'],
    ['PATCH', '', { version: 1, name: 'x'.repeat(101) }, 'name'],
    ['PATCH', '', { version: 1, name: 'a\u202eb' }, 'name'],
    ['PATCH', '', { version: '1', name: 'ok' }, 'version'],
    ['PATCH', '', { version: 1, refund_window_days: 3651 }, 'refund_window_days'],
    ['PATCH', '', { version: 1, refund_daily_limit: -1 }, 'refund_daily_limit'],
    ['PATCH', '', { name: 'ok' }, 'version'],
    ['POST', 'test/api_keys', { name: 'k', scopes: [] }, 'scopes'],
    ['POST', 'test/api_keys', { name: 'k', scopes: ['everything'] }, 'scopes.0'],
    ['POST', 'test/api_keys', { name: '', scopes: ['payments:read'] }, 'name'],
    [
      'POST',
      'test/api_keys',
      { name: 'k', scopes: ['payments:read'], ip_allowlist: ['0177.0.0.1'] },
      'ip_allowlist.0',
    ],
    [
      'POST',
      'test/api_keys',
      { name: 'k', scopes: ['payments:read'], expires_at: '2020-01-01T00:00:00Z' },
      'expires_at',
    ],
    ['POST', 'test/terminals', { label: '\u200b' }, 'label'],
    ['POST', 'test/blocked_payers', { address: '0x12' }, 'address'],
    ['PUT', 'kyb', { version: 0, details: { legal_name: 'X' } }, 'details.registration_number'],
    ['PUT', 'test/risk_settings', { version: 0 }, 'first_payment_confirm_from'],
  ];
  for (const [method, rest, body, param] of cases) {
    const where = rest === '' ? `/accounts/${account}` : path(rest);
    const answer = await owner.send(method, where, body);
    assert.equal(answer.status, 400, `${method} ${rest} ${JSON.stringify(body)} ${answer.text}`);
    assert.equal(answer.body.error?.param, param, answer.text);
  }
});

test('of concurrent edits of one object, one succeeds and the others get 409', async () => {
  const { body } = await owner.get(`/accounts/${account}`);
  const version = Number(body.version);
  const edits = Array.from({ length: 8 }, (_, i) =>
    owner.patch(`/accounts/${account}`, { version, name: `Shop number ${i}` }),
  );
  const answers = await Promise.all(edits);
  assert.equal(answers.filter((answer) => answer.status === 200).length, 1);
  const stale = answers.filter((answer) => answer.body.error?.code === 'version_conflict');
  assert.equal(stale.length, 7);
  const risk = { first_payment_confirm_from: 1, high_amount_confirm_from: null };
  const settings = { version: 0, ...risk, velocity_per_hour: null };
  const saves = Array.from({ length: 8 }, () =>
    owner.send('PUT', path('test/risk_settings'), settings),
  );
  const statuses = (await Promise.all(saves)).map((answer) => answer.status).sort();
  assert.deepEqual(statuses, [200, 409, 409, 409, 409, 409, 409, 409]);
});

test('another account sees nothing of this one, on any route', async () => {
  const made = await addOwner(server, 'other@team.test');
  const other = await signInAs(server, 'other@team.test');
  const key = await owner.post(path('test/api_keys'), { name: 'k', scopes: ['payments:read'] });
  const terminal = await owner.post(path('test/terminals'), { label: 'Bar' });
  const theirs = `/accounts/${made.accountId}/test`;
  for (const answer of [
    await other.post(`${theirs}/api_keys/${key.body.id}/revoke`),
    await other.post(`${theirs}/terminals/${terminal.body.id}/deactivate`),
    await other.post(`${theirs}/terminals/${terminal.body.id}/rotate_device_key`),
    await other.post(`${theirs}/terminals/${terminal.body.id}/tag/rotate`),
    await other.get(`${theirs}/terminals/${terminal.body.id}`),
    await owner.post(path(`live/api_keys/${key.body.id}/revoke`)),
    await owner.get(path(`live/terminals/${terminal.body.id}`)),
  ]) {
    assert.equal(answer.body.error?.code, 'resource_missing', answer.text);
  }
});

test('an admin replaces the address of a tag, and every member sees it', async () => {
  const made = await owner.post(path('test/terminals'), { label: 'Tagged' });
  const at = path(`test/terminals/${made.body.id}`);
  assert.match(String(made.body.tag_url), /\/t\/[0-9A-Za-z]{22}$/);
  const member = await signInAs(server, 'new@team.test');
  assert.equal((await member.get(at)).body.tag_url, made.body.tag_url);
  assert.equal((await member.post(`${at}/tag/rotate`)).body.error?.code, 'role_missing');
  const rotated = await owner.post(`${at}/tag/rotate`);
  assert.deepEqual([rotated.status, rotated.body.id], [200, made.body.id]);
  assert.notEqual(rotated.body.tag_url, made.body.tag_url);
  const [listed] = await owner.list<{ tag_url: string }>(path('test/terminals'));
  assert.equal(listed?.tag_url, rotated.body.tag_url);
  assert.equal((await member.post(`${at}/tag/chip`)).body.error?.code, 'role_missing');
  const [one, two] = [await owner.post(`${at}/tag/chip`), await owner.post(`${at}/tag/chip`)];
  assert.deepEqual([one.status, two.status], [201, 201]);
  assert.equal(
    one.body.url_template,
    `${rotated.body.tag_url}?p=${'0'.repeat(32)}&c=${'0'.repeat(16)}`,
  );
  for (const key of ['meta_read_key', 'file_read_key'] as const) {
    assert.match(String(one.body[key]), /^[0-9a-f]{32}$/);
    assert.notEqual(one.body[key], two.body[key], 'keys are shown once');
  }
  const auditLog = await owner.get(path('audit_log'));
  for (const action of ['terminal.tag_rotated', 'terminal.tag_chip_created']) {
    assert.ok(auditLog.text.includes(action), action);
  }
  assert.equal(auditLog.text.includes(String(one.body.meta_read_key)), false);
});

test('rights in a live account need a fresh factor, and owners are mailed', async () => {
  const OWNER = 'boss@live-team.test';
  const { accountId } = await addOwner(server, OWNER);
  const userId = await addMember(server, {
    email: 'mia@live-team.test',
    accountId,
    role: 'member',
  });
  const boss = await signInAs(server, OWNER);
  const below = (rest: string) => `/accounts/${accountId}/${rest}`;
  const invited = { email: 'new@live-team.test', role: 'admin' };
  const giveRights = () => [
    boss.post(below('invitations'), invited),
    boss.patch(below(`members/${userId}`), { role: 'admin', version: 1 }),
  ];
  const mails = () => stoppableNews(server, OWNER);
  await server.db.query(
    `update account_modes set merchant_number = 4713, live_at = now(), settlement_wallet = $2
     where account_id = $1 and livemode`,
    [accountId, `0x${'a1'.repeat(20)}`],
  );
  server.clock.advance(5 * 60_000);
  for (const answer of await Promise.all(giveRights())) {
    assert.equal(answer.body.error?.code, 'second_factor_required', answer.text);
  }
  assert.deepEqual(await mails(), []);
  const proven = 'update sessions set second_factor_at = $1';
  await server.db.query(proven, [server.clock.now()]);
  for (const answer of await Promise.all(giveRights())) assert.ok(answer.status < 300, answer.text);
  const did = `${OWNER} made a change in the account “Some Shop”: `;
  assert.deepEqual((await mails()).toSorted(), [
    `${did}Change a member's role or rights at tills. ` +
      'mia@live-team.test was member and is admin now.',
    `${did}Invite a person by email. new@live-team.test gets the role admin.`,
  ]);
  server.clock.advance(5 * 60_000);
  assert.equal((await boss.delete(below(`members/${userId}`))).status, 200);
  const taken = 'mia@live-team.test no longer has the role admin.';
  assert.deepEqual((await mails()).slice(2), [`${did}Remove a member from the team. ${taken}`]);
});
