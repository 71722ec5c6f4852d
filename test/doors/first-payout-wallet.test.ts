import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { openDashboardOnChain, signConsent } from '#testkit/apis/dashboard-on-chain.ts';
import type { DashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, addTotp, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { startTestNetwork } from '#testkit/network/test-network.ts';

/**
 * The flaw: an admin alone could choose the wallet of the first payout, without any owner being
 * notified.
 */

const OWNER = 'owner@first.test';

let server: DashboardServer;
let close: () => Promise<void>;
let account = '';
let owner: PersonClient;
let admin: PersonClient;

before(async () => {
  ({ server, close } = await openDashboardOnChain(await startTestNetwork()));
  account = (await addOwner(server, OWNER)).accountId;
  await addMember(server, { email: 'admin@first.test', accountId: account, role: 'admin' });
  owner = await signInAs(server, OWNER);
  admin = await signInAs(server, 'admin@first.test');
});

after(() => close());

const PATH = () => `/accounts/${account}/test/go_live`;

const consent = (client: PersonClient) =>
  signConsent(client, PATH(), privateKeyToAccount(generatePrivateKey()));

async function requests(): Promise<number> {
  const rows = await server.db.query(
    "select 1 from chain_requests where kind = 'merchant_registration'",
  );
  return rows.length;
}

async function subjects(): Promise<string[]> {
  await server.sendMails();
  return server.mails.filter((mail) => mail.to === OWNER).map((mail) => mail.subject);
}

test("an admin's wallet reaches no chain, and every owner is notified", async () => {
  const body = await consent(admin);
  const sent = await admin.post(PATH(), body);
  assert.equal(sent.status, 202, sent.text);
  assert.equal(sent.body.request, null);
  assert.equal((sent.body.prepared as { wallet: string }).wallet, body.wallet);
  assert.equal(await requests(), 0);
  assert.ok((await subjects()).includes('A settlement wallet is waiting for your decision'));
  const confirmed = await admin.post(`${PATH()}/confirm`, { wallet: body.wallet });
  assert.equal(confirmed.body.error?.code, 'role_missing');
});

test('an owner without a fresh factor neither chooses nor confirms a wallet', async () => {
  const prepared = (await owner.get(PATH())).body.prepared as { wallet: string };
  for (const answer of [
    await owner.post(PATH(), await consent(owner)),
    await owner.post(`${PATH()}/confirm`, { wallet: prepared.wallet }),
  ]) {
    assert.equal(answer.body.error?.code, 'second_factor_required', answer.text);
  }
  assert.equal(await requests(), 0);
});

test('an owner confirms the very wallet that is shown, not one that took its place', async () => {
  const seen = ((await owner.get(PATH())).body.prepared as { wallet: string }).wallet;
  await addTotp(server, owner);
  const swapped = await consent(admin);
  assert.equal((await admin.post(PATH(), swapped)).status, 202);
  assert.equal((await owner.post(`${PATH()}/confirm`, { wallet: seen })).status, 409);
  assert.equal(await requests(), 0);
  const confirmed = await owner.post(`${PATH()}/confirm`, { wallet: swapped.wallet });
  assert.equal(confirmed.status, 202, confirmed.text);
  assert.equal((confirmed.body.request as { wallet: string }).wallet, swapped.wallet);
  assert.equal(confirmed.body.prepared, null);
  assert.equal(await requests(), 1);
  assert.ok((await subjects()).includes('Your Tapline account goes live: where payouts go'));
});
