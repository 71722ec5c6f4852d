import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { checkNotHeld } from '#payouts/payout-holds.ts';
import { checkOwnersSettled } from '#people/hold-after-owner-change.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import {
  addMember,
  addOwner,
  addTotp,
  mailedUrl,
  PASSWORD,
  signInAs,
} from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/**
 * The flaw: an owner's stolen session cannot withdraw, but it could invite another owner, who sets
 * up a second factor, removes all others and announces a payout wallet. Only the thief received an
 * email.
 */

const OWNER = 'olga@owners.test';
const SECOND = 'otto@owners.test';
const HOLD = /http:\S+\/hold-payouts\/\S+/;

let account = '';
let secondId = '';
let memberId = '';
let owner: PersonClient;
let totp: Awaited<ReturnType<typeof addTotp>>;

const server = openForTests(startDashboardServer, async () => {
  account = (await addOwner(server, OWNER)).accountId;
  secondId = await addMember(server, { email: SECOND, accountId: account, role: 'owner' });
  memberId = await addMember(server, {
    email: 'mia@owners.test',
    accountId: account,
    role: 'member',
  });
  owner = await signInAs(server, OWNER);
});

const path = (rest: string) => `/accounts/${account}/${rest}`;

const members = () => owner.list<{ user: string; email: string; version: number }>(path('members'));

async function versionOf(userId: string): Promise<number> {
  return (await members()).find((one) => one.user === userId)?.version ?? 0;
}

async function change(userId: string, role: string) {
  return owner.patch(path(`members/${userId}`), { role, version: await versionOf(userId) });
}

/** Returns the URL of the emailed link that holds payouts, on this test's server. */
async function linkOf(email: string): Promise<string> {
  const url = await mailedUrl(server, email, HOLD);
  return url.replace(server.origin, server.web);
}

async function mailsTo(email: string): Promise<number> {
  await server.sendMails();
  return server.mails.filter((mail) => mail.to === email && HOLD.test(mail.text)).length;
}

test('without a fresh factor no owner is invited, promoted, demoted or removed', async () => {
  const answers = [
    await owner.post(path('invitations'), { email: 'thief@owners.test', role: 'owner' }),
    await change(memberId, 'owner'),
    await change(secondId, 'viewer'),
    await owner.delete(path(`members/${secondId}`)),
    await owner.post(path('leave')),
  ];
  for (const answer of answers) {
    assert.equal(answer.body.error?.code, 'second_factor_required', answer.text);
  }
  assert.equal(await mailsTo(OWNER), 0);
});

test('changes that do not concern owners need no fresh factor', async () => {
  const invited = await owner.post(path('invitations'), { email: 'v@owners.test', role: 'viewer' });
  assert.equal(invited.status, 201, invited.text);
  assert.equal((await change(memberId, 'admin')).status, 200);
  assert.equal(await mailsTo(OWNER), 0, 'and no owner is bothered');
});

test('owners are notified when another owner is invited, and again on joining', async () => {
  totp = await addTotp(server, owner);
  const email = 'new@owners.test';
  const invited = await owner.post(path('invitations'), { email, role: 'owner' });
  assert.equal(invited.status, 201, invited.text);
  assert.deepEqual([await mailsTo(OWNER), await mailsTo(SECOND), await mailsTo(email)], [1, 1, 0]);
  assert.equal(
    await checkOwnersSettled(server.db, { accountId: account, now: server.clock.now() }),
    null,
  );
  const mail = server.mails.findLast((one) => one.to === email);
  const token = /#token=(\S+)/.exec(mail?.text ?? '')?.[1];
  const form = { token, name: 'Nora New', password: PASSWORD };
  const joined = await new PersonClient(server.dashboard).post('/invitations/accept', form);
  assert.equal(joined.status, 200, joined.text);
  assert.deepEqual([await mailsTo(OWNER), await mailsTo(SECOND)], [2, 2]);
});

test('for 72 hours after a change of owners no other wallet can be announced', async () => {
  const now = server.clock.now();
  const early = await checkOwnersSettled(server.db, { accountId: account, now });
  assert.ok(isRefusal(early));
  const later = new Date(now.getTime() + 72 * 3_600_000);
  assert.equal(await checkOwnersSettled(server.db, { accountId: account, now: later }), null);
});

test('a mail scanner that opens the link changes nothing; the page runs no script', async () => {
  const link = await linkOf(SECOND);
  for (let i = 0; i < 3; i++) {
    const page = await fetch(link);
    assert.equal(page.status, 200);
    const html = await page.text();
    assert.match(html, /<form method="post"><button type="submit">Hold payouts/);
    assert.doesNotMatch(html, /<script/i);
    const policy = page.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  }
  assert.equal((await fetch(link, { method: 'HEAD' })).status, 200);
  assert.equal(await checkNotHeld(server.db, account), null);
});

test('the removed owner gets an email, too, whose link holds the payouts', async () => {
  await totp.prove();
  const before = await mailsTo(SECOND);
  const removed = await owner.delete(path(`members/${secondId}`));
  assert.equal(removed.status, 200, removed.text);
  assert.equal(await mailsTo(SECOND), before + 1);
  const link = await linkOf(SECOND);
  const clicked = await fetch(link, { method: 'POST' });
  assert.equal(clicked.status, 200);
  assert.match(await clicked.text(), /Payouts are held/);
  assert.ok(isRefusal(await checkNotHeld(server.db, account)));
  assert.equal((await fetch(link, { method: 'POST' })).status, 404, 'it works once');
  assert.equal((await fetch(link)).status, 404);
  const { body } = await owner.get(path('payout_hold'));
  assert.deepEqual([body.held, body.held_by], [true, SECOND]);
  await server.sendMails();
  const told = server.mails.filter((mail) => mail.subject.includes('on hold'));
  assert.deepEqual(told.map((mail) => mail.to).sort(), ['new@owners.test', OWNER, SECOND].sort());
});

test('a remaining owner lifts the hold, with a fresh factor only', async () => {
  server.clock.advance(6 * 60_000);
  const stale = await owner.delete(path('payout_hold'));
  assert.equal(stale.body.error?.code, 'second_factor_required');
  const admin = await signInAs(server, 'mia@owners.test');
  assert.equal((await admin.delete(path('payout_hold'))).body.error?.code, 'role_missing');
  await totp.prove();
  assert.equal((await owner.delete(path('payout_hold'))).status, 200);
  assert.equal(await checkNotHeld(server.db, account), null);
  assert.equal((await owner.delete(path('payout_hold'))).status, 409);
});

test('a link is invalid after 72 hours', async () => {
  const newcomer = (await members()).find((one) => one.email === 'new@owners.test')?.user ?? '';
  const demoted = await change(newcomer, 'viewer');
  assert.equal(demoted.status, 200, demoted.text);
  const link = await linkOf('new@owners.test');
  server.clock.advance(72 * 3_600_000);
  assert.equal((await fetch(link)).status, 404);
  assert.equal((await fetch(link, { method: 'POST' })).status, 404);
  assert.equal((await fetch(`${server.web}/hold-payouts/made-up`)).status, 404);
});

test('invitations sent by a removed owner are void', async () => {
  const email = `late@owners.test`;
  const other = await addMember(server, {
    email: 'bad@owners.test',
    accountId: account,
    role: 'owner',
  });
  const bad = await signInAs(server, 'bad@owners.test');
  await addTotp(server, bad);
  assert.equal((await bad.post(path('invitations'), { email, role: 'owner' })).status, 201);
  const token = await server.mailedToken(email);
  const client = new PersonClient(server.dashboard);
  await client.post('/session', { email: OWNER, password: PASSWORD });
  await client.post('/session/second_factor', { code: totp.code() });
  assert.equal((await client.delete(path(`members/${other}`))).status, 200);
  const form = { token, name: 'Lara Late', password: PASSWORD };
  const refused = await new PersonClient(server.dashboard).post('/invitations/accept', form);
  assert.equal(refused.status, 400, refused.text);
});
