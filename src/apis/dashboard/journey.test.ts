import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { operatorRoutes } from '#apis/operator/operator-routes.ts';
import { silentLog } from '#observability/log.ts';
import { applyDueWallets, applyWalletOutcomes } from '#payouts/apply-wallet-changes.ts';
import { applyWithdrawalOutcomes } from '#payouts/apply-withdrawals.ts';
import { mailProposal } from '#payouts/foreign-wallet-mails.ts';
import { insertHold } from '#payouts/payout-hold-queries.ts';
import { ownerChanges } from '#people/owner-change-queries.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import { walletChangeCall } from '#settlement/contract/contract-calls.ts';
import { walletConsent } from '#settlement/contract/signed-messages.ts';
import {
  CHAIN_WAIT_MS,
  type DashboardOnChain,
  openDashboardOnChain,
  sellOnChain,
  signConsent,
  untilLive,
} from '#testkit/apis/dashboard-on-chain.ts';
import type { DashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addStaff, addTotp, PASSWORD } from '#testkit/apis/people.ts';
import { type AuditEntry, PersonClient } from '#testkit/apis/person-client.ts';
import { chainContext } from '#testkit/fixtures/payments/store.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';
import { carryOut } from '#watch/pause-contract.ts';
import { noteLook } from '#watch/watch-queries.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

/**
 * Tests a new merchant's whole journey on a real chain, from the first mail to the money in the
 * wallet.
 */

const SALE = 5_000_000;
/**
 * Atoms that stay for the last withdrawal, because sales no longer settle after the test has
 * advanced its clock.
 */
const LEFT = 1_000;
const DETAILS = {
  legal_name: 'Nina’s Café GmbH',
  registration_number: 'HRB 12345',
  country: 'DE',
  address: 'Hauptstraße 1, 10115 Berlin',
  business: 'Coffee and cake',
  representative: 'Nina New',
};

let ground: DashboardOnChain;
let network: TestNetwork;
let server: DashboardServer;
let merchant: PersonClient;
let staff: PersonClient;
let account = '';
let totp: Awaited<ReturnType<typeof addTotp>>;
const wallet: PrivateKeyAccount = privateKeyToAccount(generatePrivateKey());

before(async () => {
  network = await startTestNetwork();
  ground = await openDashboardOnChain(network, { operatorRoutes });
  ({ server } = ground);
  ground.startRelayer();
});

after(() => ground.close());

const path = (rest: string) => `/accounts/${account}/${rest}`;
const eventsOf = (type: string) =>
  server.db.query<{ livemode: boolean; body: string }>(
    'select livemode, body from events where type = $1 and account_id = $2 order by livemode',
    [type, account],
  );

test('a mailbox becomes an account', async () => {
  merchant = new PersonClient(server.dashboard);
  await merchant.post('/sign_up', { email: 'nina@cafe.test' });
  const token = await server.mailedToken('nina@cafe.test');
  const form = { token, name: 'Nina New', account_name: 'Nina’s Café', password: PASSWORD };
  const opened = await merchant.post('/sign_up/complete', form);
  assert.equal(opened.status, 201, opened.text);
  account = (opened.body.accounts as { id: string }[])[0]?.id ?? '';
});

test('test mode works immediately; live keys and terminals wait for the verification', async () => {
  const key = { name: 'till', scopes: ['payments:read'] };
  assert.equal((await merchant.post(path('test/api_keys'), key)).status, 201);
  assert.equal((await merchant.post(path('test/terminals'), { label: 'Bar' })).status, 201);
  for (const [position, body] of [
    ['live/api_keys', key],
    ['live/terminals', { label: 'Bar' }],
  ] as const) {
    const refused = await merchant.post(path(position), body);
    assert.equal(refused.body.error?.code, 'kyb_required');
  }
  assert.equal((await eventsOf('terminal.created')).length, 1);
});

test('the verification accepts only details and real documents', async () => {
  assert.equal((await merchant.post(path('kyb/submit'))).status, 409);
  const saved = await merchant.send('PUT', path('kyb'), { version: 0, details: DETAILS });
  assert.equal(saved.status, 200, saved.text);
  const stale = await merchant.send('PUT', path('kyb'), { version: 0, details: DETAILS });
  assert.equal(stale.body.error?.code, 'version_conflict');
  const upload = (bytes: Buffer, type: string) =>
    merchant.send('POST', path('kyb/documents?kind=registration&file_name=extract.pdf'), bytes, {
      'Content-Type': type,
    });
  const pdf = Buffer.from('%PDF-1.7\nthe register says so');
  assert.equal((await upload(Buffer.from('<script>'), 'application/pdf')).status, 415);
  assert.equal((await upload(pdf, 'text/html')).status, 415);
  assert.equal((await upload(pdf, 'application/json')).status, 415);
  assert.equal((await upload(Buffer.alloc(6 * 1024 * 1024), 'application/pdf')).status, 413);
  const added = await upload(pdf, 'application/pdf');
  assert.equal(added.status, 201, added.text);
  const stored = await server.db.query<{ content: Buffer }>('select content from kyb_documents');
  assert.ok(stored[0] && !stored[0].content.includes('register'), 'encrypted at rest');
  const back = await merchant.get(path(`kyb/documents/${added.body.id}`));
  assert.equal(back.text, pdf.toString());
  assert.match(back.headers.get('content-disposition') ?? '', /^attachment/);
  assert.equal((await merchant.post(path('kyb/submit'))).body.status, 'pending');
});

test('an operator decides, with a reason, and both modes get the event', async () => {
  ({ client: staff } = await addStaff(server, 'ops@tapline.test'));
  const [waiting] = await staff.list<{ account: string }>('/kyb');
  assert.equal(waiting?.account, account);
  const decide = (body: object) => staff.post(`/accounts/${account}/kyb/decision`, body);
  assert.equal((await decide({ decision: 'rejected' })).status, 400);
  const rejected = await decide({ decision: 'rejected', reason: 'The extract is too old.' });
  assert.equal(rejected.body.status, 'rejected');
  assert.equal((await merchant.get(path('kyb'))).body.decision_reason, 'The extract is too old.');
  assert.equal((await merchant.post(path('kyb/submit'))).status, 200);
  assert.equal((await decide({ decision: 'approved' })).body.status, 'approved');
  assert.equal((await decide({ decision: 'approved' })).status, 409);
  const events = await eventsOf('kyb.status_changed');
  assert.deepEqual(
    events.map((event) => event.livemode),
    [false, false, true, true],
  );
  const key = { name: 'till', scopes: ['payments:read'] };
  assert.equal((await merchant.post(path('live/api_keys'), key)).status, 201);
});

test('an operator resolves alarms and accepts differences, once and with a reason', async () => {
  const now = server.clock.now();
  await server.db.query(
    `insert into chain_alarms (livemode, kind, subject, details, created)
     values (false, 'outcome_changed', 'pi_test', '{}', $1)`,
    [now],
  );
  await server.db.query(
    `insert into reconciliation_differences
       (livemode, kind, subject, details, first_seen, last_seen)
     values (false, 'payment_differs', 'pay_test', '{}', $1, $1)`,
    [now],
  );
  const idIn = async (table: 'chain_alarms' | 'reconciliation_differences') => {
    const rows = await server.db.query<{ id: bigint }>(`select id from ${table}`);
    return String(rows[0]?.id);
  };
  const reason = { reason: 'A reorganization moved it.' };
  const accept = `/reconciliation/differences/${await idIn('reconciliation_differences')}/accept`;
  const resolve = `/alarms/${await idIn('chain_alarms')}/resolve`;
  for (const path of [accept, resolve]) {
    assert.equal((await staff.post(path)).status, 400);
    assert.equal((await staff.post(path, reason)).status, 200);
    assert.equal((await staff.post(path, reason)).status, 404);
  }
  const rows = await server.db.query<{ accepted_at: Date | null }>(
    'select accepted_at from reconciliation_differences',
  );
  assert.notEqual(rows[0]?.accepted_at ?? null, null);
});

test('going live needs the consent of the wallet itself, and the chain', async () => {
  const page = path('test/go_live');
  const consent = await signConsent(merchant, page, wallet);
  const early = await merchant.post(page, consent);
  assert.equal(early.body.error?.code, 'second_factor_required');
  totp = await addTotp(server, merchant);
  const stranger = privateKeyToAccount(generatePrivateKey());
  const forged = await signConsent(merchant, page, { ...stranger, address: wallet.address });
  for (const wrong of [forged, { ...consent, wallet: stranger.address }]) {
    assert.equal((await merchant.post(page, wrong)).body.error?.param, 'signature');
  }
  assert.equal((await merchant.post(page, consent)).status, 202);
  assert.equal((await merchant.post(page, consent)).status, 409);
  const inTest = await merchant.post(path('test/go_live/test_wallet'));
  assert.equal(inTest.body.error?.code, 'unexpected_state', 'a single click replaces no wallet');
  const inLive = await merchant.post(path('live/go_live/test_wallet'));
  assert.equal(inLive.body.error?.code, 'route_missing');
  const live = await untilLive(server, merchant, page);
  assert.equal(live.settlement_wallet, wallet.address);
  assert.equal((live.request as { status: string }).status, 'succeeded');
});

const withdraw = (amount: number, key: string) =>
  merchant.post(path('test/withdrawals'), { amount }, { 'Idempotency-Key': key });

test('a withdrawal needs a second factor verified just now', async () => {
  await sellOnChain(ground, account, SALE + LEFT);
  server.clock.advance(6 * 60_000);
  const stale = await withdraw(1_000_000, 'first');
  assert.equal(stale.body.error?.code, 'second_factor_required');
});

/** Waits until this many withdrawals have reached the merchant's wallet. */
async function payouts(count: number): Promise<void> {
  const arePaid = async () => {
    await applyWithdrawalOutcomes({ ...server, log: silentLog });
    const rows = await merchant.list<{ status: string }>(path('test/withdrawals'));
    return rows.filter((row) => row.status === 'succeeded').length === count;
  };
  await eventually('the payouts', arePaid, CHAIN_WAIT_MS);
}

test('ten concurrent withdrawals never exceed the balance; a repeated one pays once', async () => {
  await totp.prove();
  assert.equal((await withdraw(SALE + LEFT + 1, 'too much')).body.error?.code, 'amount_too_large');
  const tries = Array.from({ length: 10 }, (_, i) => withdraw(2_000_000, `race ${i}`));
  const statuses = (await Promise.all(tries)).map((answer) => answer.status);
  assert.equal(statuses.filter((status) => status === 201).length, 2);
  assert.equal(statuses.filter((status) => status === 400).length, 8);
  await payouts(2);
  const once = await withdraw(1_000_000, 'once');
  const again = await withdraw(1_000_000, 'once');
  assert.equal(once.status, 201, once.text);
  assert.equal(again.body.id, once.body.id);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  await payouts(3);
  assert.equal(await network.usdcOf(wallet.address), BigInt(SALE));
  assert.equal((await eventsOf('balance.withdrawal_paid')).length, 3);
});

test('a hold stops payouts and an announced wallet until it is lifted', async () => {
  const now = server.clock.now();
  await server.db.transaction(async (tx) => {
    const change = { id: 'och_test', account_id: account, email: 'x@cafe.test' };
    await ownerChanges.insert(tx, { ...change, kind: 'invited', changed_by: 'test', created: now });
    const hold = { id: 'hold_test', account_id: account, change_id: 'och_test' };
    assert.ok(await insertHold(tx, { ...hold, held_by: 'nina@cafe.test', created: now }));
  });
  await totp.prove();
  assert.equal((await withdraw(LEFT, 'held')).body.error?.code, 'unexpected_state');
  const next = privateKeyToAccount(generatePrivateKey());
  assert.equal((await announce(next)).body.error?.code, 'unexpected_state');
  assert.equal((await merchant.delete(`/accounts/${account}/payout_hold`)).status, 200);
  assert.equal((await withdraw(LEFT, 'lifted')).status, 201);
  await payouts(4);
});

async function announce(to: PrivateKeyAccount) {
  const page = path('test/settlement_wallet');
  return merchant.post(page, await signConsent(merchant, page, to));
}

async function walletStatus(expected: string): Promise<string> {
  const look = async () => {
    await applyWalletOutcomes(chainContext(server, [network.chain]));
    const { body } = await merchant.get(path('test/settlement_wallet'));
    const { status } = body.change as { status: string };
    // Also waits for the row: the dashboard reads the contract, so it may show a change earlier.
    const [row] = await server.db.query<{ status: string }>(
      'select status from wallet_changes order by created desc limit 1',
    );
    return status === expected && row?.status === expected && String(body.wallet);
  };
  return eventually(`the wallet to be ${expected}`, look, CHAIN_WAIT_MS);
}

test('another wallet is announced, can be stopped, and waits before it is paid', async () => {
  const next = privateKeyToAccount(generatePrivateKey());
  assert.equal((await announce(next)).status, 202);
  assert.equal((await announce(next)).status, 409, 'one at a time');
  assert.equal(await walletStatus('announced'), wallet.address);
  assert.equal((await merchant.delete(path('test/settlement_wallet'))).status, 202);
  assert.equal(await walletStatus('canceled'), wallet.address);
  server.clock.advance(1_000);
  assert.equal((await announce(next)).status, 202, 'the nonce has changed');
  await walletStatus('announced');
  const { error } = (await withdraw(1, 'meanwhile')).body;
  assert.match(String(error?.message), /Another settlement wallet was announced/);
  // The guardian cancels all wallet changes on the contract, without telling the service.
  const drop = { abi: settlementAbi, functionName: 'dropWalletChanges' } as const;
  await network.send(network.guardian, network.config.settlement, encodeFunctionData(drop));
  assert.equal((await merchant.delete(path('test/settlement_wallet'))).status, 202);
  assert.equal(await walletStatus('canceled'), wallet.address);
  server.clock.advance(1_000);
  await network.rpc.call('evm_increaseTime', [1]);
  assert.equal((await announce(next)).status, 202, 'the dropped change has left no trace');
  await walletStatus('announced');
  await server.sendMails();
  const told = server.mails.filter((mail) => mail.subject.includes('settlement wallet'));
  assert.equal(told.length, 3);
  const deps = { ...server, log: silentLog };
  await applyDueWallets(deps);
  assert.equal(await walletStatus('announced'), wallet.address, 'not before its time');
  await network.rpc.call('evm_increaseTime', [3600]);
  server.clock.advance(3_600_000);
  // Retries like the worker: the contract refuses until the next block is mined.
  const asking = setInterval(() => void applyDueWallets(deps), 200);
  assert.equal(await walletStatus('applied'), next.address);
  clearInterval(asking);
});

const STOP_LINK = /http:\S+\/hold-payouts\/\S+/;

/** Returns the newest mail with this subject, and the URL behind its link. */
async function stopPage(subject: string) {
  await server.sendMails();
  const mail = server.mails.findLast((one) => one.subject === subject);
  const link = STOP_LINK.exec(mail?.text ?? '')?.[0] ?? '';
  return { text: mail?.text ?? '', link: link.replace(server.origin, server.web) };
}

test('a mail about a wallet change has the link, and two clicks count once', async () => {
  const next = privateKeyToAccount(generatePrivateKey());
  await totp.prove();
  assert.equal((await announce(next)).status, 202);
  await walletStatus('announced');
  const { link } = await stopPage('A new settlement wallet is announced');
  assert.equal((await merchant.delete(path('test/settlement_wallet'))).status, 202);
  assert.equal((await fetch(link, { method: 'POST' })).status, 200);
  await walletStatus('canceled');
  await totp.prove();
  assert.equal((await merchant.delete(`/accounts/${account}/payout_hold`)).status, 200);
  server.clock.advance(1_000);
});

test('a wallet that a stranger applied is the merchant’s from then on', async () => {
  const next = privateKeyToAccount(generatePrivateKey());
  await totp.prove();
  assert.equal((await announce(next)).status, 202);
  await walletStatus('announced');
  await network.rpc.call('evm_increaseTime', [3600]);
  await network.mine();
  const call = { abi: settlementAbi, functionName: 'applyWallet', args: [1] } as const;
  await network.send(network.guardian, network.config.settlement, encodeFunctionData(call));
  server.clock.advance(3_600_000);
  await applyDueWallets({ ...server, log: silentLog });
  assert.equal(await walletStatus('applied'), next.address);
});

/**
 * Announces a wallet on the contract with the registrar's key, without the service knowing.
 * @returns the thief's wallet.
 */
async function announceOutside(): Promise<PrivateKeyAccount> {
  const thief = privateKeyToAccount(generatePrivateKey());
  const terms = { merchantNumber: 1n, wallet: thief.address, deadline: 4_000_000_000n };
  const consent = walletConsent(network.config, { ...terms, nonce: 0n });
  const data = walletChangeCall({
    step: 'propose',
    merchantNumber: '1',
    wallet: thief.address,
    deadline: `${terms.deadline}`,
    signature: await thief.signTypedData(consent),
  });
  const registrar = heldAccount(network.config.registrarKey);
  await network.send(registrar, network.config.settlement, data);
  return thief;
}

/** Returns the wallet that is announced on the contract; zero if there is none. */
async function announcedOnChain(): Promise<string> {
  const call = { abi: settlementAbi, functionName: 'walletChange', args: [1] } as const;
  const to = network.config.settlement;
  const [answer] = await network.chain.calls([{ to, data: encodeFunctionData(call), words: 3 }]);
  return decodeView(answer, (data) => decodeFunctionResult({ ...call, data }))[0];
}

test('owners stop a wallet that a stranger announced, with the link in their mail', async () => {
  const thief = await announceOutside();
  assert.equal(await announcedOnChain(), thief.address);
  const applicableAt = new Date('2026-11-26T12:00:00Z');
  const terms = { accountId: account, livemode: false, merchantNumber: 1n, applicableAt };
  const foreign = { ...terms, wallet: thief.address };
  const { db, clock, people } = server;
  await noteLook(db, { livemode: false, next: 1n, now: clock.now() });
  await db.transaction((tx) => mailProposal(people)(tx, foreign, clock.now()));
  const { text, link } = await stopPage('Another wallet was announced for your payouts');
  assert.match(text, /0x.* from 2026-11-26T12:00:00.000Z on/);
  const page = await (await fetch(link)).text();
  assert.ok(page.includes(thief.address), page);
  assert.match(page, /<form method="post"><button type="submit">Stop it<\/button>/);
  assert.equal(await announcedOnChain(), thief.address, 'opening it changes nothing');
  assert.match(await (await fetch(link, { method: 'POST' })).text(), /Payouts are held/);
  assert.equal((await fetch(link, { method: 'POST' })).status, 404, 'it works once');
  // The thief has the registrar's key, so its sender was stopped. The watchtower's key cancels the
  // change.
  const tower = { chains: [network.chain], db, clock, log: silentLog };
  const isDropped = async () => {
    await carryOut(tower, tower.chains, network.watchKey);
    return BigInt(await announcedOnChain()) === 0n;
  };
  await eventually('the contract to drop it', isDropped, CHAIN_WAIT_MS);
  const [request] = await db.query<{ status: string }>(
    `select status from chain_requests where kind = 'wallet_change' and subject_id like '%:cancel'
     order by id desc limit 1`,
  );
  assert.match(request?.status ?? '', /^(queued|submitted)$/, 'the service requests it, too');
  assert.equal((await merchant.get(`/accounts/${account}/payout_hold`)).body.held, true);
});

test('everything is in the audit log', async () => {
  const entries = await merchant.list<AuditEntry>(path('audit_log?limit=100'));
  const actions = entries.map(({ action }) => action);
  for (const action of [
    'account.created',
    'api_key.created',
    'terminal.created',
    'kyb.details_changed',
    'kyb.document_added',
    'kyb.status_changed',
    'go_live.requested',
    'withdrawal.requested',
    'settlement_wallet.change_requested',
    'settlement_wallet.applied',
  ]) {
    assert.ok(actions.includes(action), action);
  }
});
