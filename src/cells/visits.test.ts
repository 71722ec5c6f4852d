import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { addCellRoutes } from '#apis/cells/cell-routes.ts';
import { createAskHome } from '#cells/ask-home-cell.ts';
import { CELLS_ROOT, type CellSettings } from '#cells/ask-other-cells.ts';
import { checkPeers } from '#cells/check-peers.ts';
import { startSendingEnds } from '#cells/send-revocations.ts';
import { newSecret } from '#core/bearer-secrets.ts';
import { atoms } from '#core/money.ts';
import { StartError } from '#core/start-error.ts';
import { silentLog } from '#observability/log.ts';
import { createCard } from '#payers/card.ts';
import { cardUrlTemplate } from '#payers/card-url.ts';
import { createPassCode } from '#payers/create-pass-code.ts';
import { revokePassRow, updatePayerLimits } from '#payers/payer-queries.ts';
import { type Presented, readTapped } from '#payments/credential.ts';
import type { Visit } from '#payments/credentials/visiting.ts';
import { decideApproval } from '#payments/decide-approval.ts';
import { selectIntents } from '#payments/intent-queries.ts';
import { CardChip } from '#testkit/fixtures/core/card-chip.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import {
  addIntent,
  addPayer,
  bodyOf,
  keepSettling,
  openStore,
  pay,
  summaryOf,
  TEST_CARD_KEY,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';

/** Cell 0 is the home cell of all credentials in this file; cells 1 and 2 call it over HTTP. */

const NOON = new Date('2026-10-01T12:00:00.000Z');
const SECRET = 'the shared secret of the cells in this test';
let clock: FakeClock;
let home: TestStore;
let abroad: TestDatabase;
let shop: TestStore;
let server: FastifyInstance;
let url: string;

before(async () => {
  clock = new FakeClock(NOON);
  home = await openStore({ clock });
  abroad = await testDatabase();
  shop = await openStore({ clock, database: abroad });
});
after(async () => {
  await home.close();
  await abroad.close();
});
beforeEach(async (t) => {
  server = fastify();
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  const others = [{ cell: 1, url: 'http://127.0.0.1:1' }];
  const cells = { own: 0, others, secret: SECRET };
  addCellRoutes(server, home.ctx, cells);
  url = await server.listen({ host: '127.0.0.1', port: 0 });
  if ('after' in t) t.after(() => server.close());
});

function settings(own: number, changed: Partial<CellSettings> = {}): CellSettings {
  return { own, others: [{ cell: 0, url }], secret: SECRET, ...changed };
}

/** Returns the answer that cell `own` gets about a tap for one intent. */
async function ask(
  presented: Presented,
  { own = 1, intent = 'pi_1', cells = settings(own) } = {},
): Promise<Visit> {
  const askHome = createAskHome(abroad.db, clock, cells);
  const visit = await askHome({ presented, merchant: home.merchant, intentId: intent });
  assert.ok(visit !== null, 'the home cell was not asked');
  return visit;
}

const passOf = (value: string): Presented => ({ type: 'nfc_id', value });

async function codeOf(payerId: string, passId: string): Promise<Presented> {
  const made = { payerId, passId, now: clock.now() };
  const code = await home.db.transaction((tx) => createPassCode(tx, made));
  assert.ok('secret' in code);
  return { type: 'qr', value: code.secret };
}

async function chipOf(payerId: string, limit: bigint): Promise<CardChip> {
  const input = { payerId, label: 'Card', perPaymentLimit: limit, cardKey: TEST_CARD_KEY };
  const made = await home.db.transaction((tx) => createCard(tx, { ...input, now: clock.now() }));
  return new CardChip({
    url_template: cardUrlTemplate('https://pay.test', made.row.id),
    meta_read_key: made.keys.metaRead.toString('hex'),
    file_read_key: made.keys.fileRead.toString('hex'),
  });
}

function tapOf(chip: CardChip): Presented {
  const read = readTapped({ type: 'nfc_sun', value: chip.tap() });
  assert.ok('type' in read && read.type === 'nfc_sun');
  return read;
}

test('a pass pays as its wallet, within its home’s limit, and becomes a payer', async () => {
  const { payer, pass, passId } = await addPayer(home);
  const limits = { limit_per_payment: 700n, limit_per_day: null, confirm_first_payment: false };
  await home.db.transaction((tx) => updatePayerLimits(tx, { id: payer.id, ...limits }));
  const { holder, refusal } = await ask(passOf(pass));
  assert.equal(refusal, null);
  assert.equal(holder?.payer.address, payer.address);
  assert.notEqual(holder?.payer.id, payer.id);
  assert.equal(holder?.limit, 700n);
  assert.deepEqual(holder?.credential, { type: 'nfc_id', passId, home: 0 });
});

test('other cells are not asked about credentials of this cell, or of no known one', async () => {
  const askHome = createAskHome(abroad.db, clock, settings(1));
  const { merchant } = home;
  const at = (presented: Presented) => askHome({ presented, merchant, intentId: 'pi_1' });
  assert.equal(await at(passOf(newSecret('pass', 1))), null);
  assert.equal(await at(passOf('nfc_mistyped')), null);
  assert.equal(await at({ type: 'agent_token', value: newSecret('agentToken') }), null);
  const unknown = await at(passOf(newSecret('pass', 7)));
  assert.deepEqual(unknown?.refusal, { decline: 'pass_unknown' });
});

test('a made-up or revoked pass, or one of another mode, is declined', async () => {
  assert.equal((await ask(passOf(newSecret('pass')))).refusal?.decline, 'pass_unknown');
  const { payer, pass, passId } = await addPayer(home);
  const revoked = { id: passId, payerId: payer.id, now: clock.now() };
  await home.db.transaction((tx) => revokePassRow(tx, revoked));
  assert.equal((await ask(passOf(pass))).refusal?.decline, 'pass_revoked');
  const live = await addPayer(home, { livemode: true });
  assert.equal((await ask(passOf(live.pass))).refusal?.decline, 'pass_unknown');
});

test('a pass works for a minute without its home cell; other credentials do not', async () => {
  const { payer, pass, passId } = await addPayer(home);
  const code = await codeOf(payer.id, passId);
  await ask(passOf(pass));
  await server.close();
  assert.equal((await ask(passOf(pass))).refusal, null);
  const away = { decline: 'pass_unknown', rule: 'HOME_CELL_AWAY' };
  assert.deepEqual((await ask(code)).refusal, away);
  clock.advance(60_001);
  assert.deepEqual((await ask(passOf(pass))).refusal, away);
});

test('cells with a cached pass are notified of its end', async (t) => {
  const { payer, pass, passId } = await addPayer(home);
  const there = fastify();
  there.removeAllContentTypeParsers();
  there.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  addCellRoutes(there, shop.ctx, settings(1));
  const others = [{ cell: 1, url: await there.listen({ host: '127.0.0.1', port: 0 }) }];
  const { db, wakeups } = home;
  const cells = { own: 0, others, secret: SECRET };
  const loop = startSendingEnds({ db, wakeups, clock, log: silentLog }, cells);
  t.after(async () => {
    await loop.stop();
    await there.close();
  });
  assert.equal((await ask(passOf(pass))).refusal, null);
  const erased = await addPayer(home);
  assert.equal((await ask(passOf(erased.pass))).refusal, null);
  const revoked = { id: passId, payerId: payer.id, now: clock.now() };
  await home.db.transaction((tx) => revokePassRow(tx, revoked));
  await home.db.query('delete from passes where id = $1', [erased.passId]);
  await eventually('the end of both passes', async () => {
    const declines = [await ask(passOf(pass)), await ask(passOf(erased.pass))];
    return declines.map(({ refusal }) => refusal?.decline).join() === 'pass_revoked,pass_unknown';
  });
});

test('a code is valid for one intent in one cell, and a repeat gets the same answer', async () => {
  const { payer, passId } = await addPayer(home);
  const code = await codeOf(payer.id, passId);
  const first = await ask(code, { intent: 'pi_1' });
  assert.equal(first.refusal, null);
  assert.deepEqual((await ask(code, { intent: 'pi_1' })).refusal, null);
  assert.equal((await ask(code, { intent: 'pi_2' })).refusal?.decline, 'pass_code_used');
  assert.equal((await ask(code, { own: 2 })).refusal?.decline, 'pass_code_used');
  assert.equal((await ask(code, { intent: 'pi_1' })).refusal, null);
});

test('a code that is shown in two cells at once pays in one of them', async () => {
  for (let round = 0; round < 10; round++) {
    const { payer, passId } = await addPayer(home);
    const code = await codeOf(payer.id, passId);
    const both = await Promise.all([1, 2].map((own) => ask(code, { own, intent: `pi_${own}` })));
    const declines = both.map(({ refusal }) => refusal?.decline ?? 'stands').sort();
    assert.deepEqual(declines, ['pass_code_used', 'stands']);
  }
});

test('a card’s tap is consumed at its home cell, which also returns its limit', async () => {
  const { payer } = await addPayer(home);
  const chip = await chipOf(payer.id, 500n);
  const tap = tapOf(chip);
  const { holder, refusal } = await ask(tap);
  assert.deepEqual([refusal, holder?.limit], [null, 500n]);
  assert.equal(holder?.credential.type, 'nfc_sun');
  assert.equal((await ask(tap, { own: 2 })).refusal?.decline, 'pass_replayed');
  assert.equal((await ask(tapOf(chip), { own: 2, intent: 'pi_3' })).refusal, null);
});

/** Returns the shop, which is in cell 1. */
function abroadShop(changed: Partial<TestStore['ctx']> = {}): TestStore {
  const askHome = createAskHome(abroad.db, clock, settings(1));
  return { ...shop, ctx: { ...shop.ctx, outside: { ...shop.ctx.outside, askHome }, ...changed } };
}

test('a tap in another cell is paid by the wallet, within its home cell’s limit', async () => {
  const { payer, pass } = await addPayer(home);
  const store = abroadShop();
  const settling = keepSettling(store);
  const intentId = await addIntent(store);
  const paid = await pay(store, { intentId, pass });
  await settling.stop();
  assert.equal(summaryOf(paid), 'succeeded');
  const [row] = await abroad.db.query<{ payer_address: string; home: number }>(
    `select attempt ->> 'payerAddress' as payer_address,
       (attempt #>> '{credential,home}')::int as home
     from payment_intents where id = $1`,
    [intentId],
  );
  assert.deepEqual(row, { payer_address: payer.address, home: 0 });
  const limited = await addPayer(home);
  const limits = { limit_per_payment: 1n, limit_per_day: null, confirm_first_payment: false };
  await home.db.transaction((tx) => updatePayerLimits(tx, { id: limited.payer.id, ...limits }));
  const over = await pay(store, { intentId: await addIntent(store), pass: limited.pass });
  assert.equal(summaryOf(over), 'limit_exceeded');
});

test('a tap with an unreachable home cell charges nothing, and says so', async () => {
  const { pass } = await addPayer(home);
  await server.close();
  const store = abroadShop();
  const { last_payment_error: error } = bodyOf(
    await pay(store, { intentId: await addIntent(store), pass }),
  );
  assert.equal(error?.reason_code, 'HOME_CELL_AWAY');
});

test('a payer asked in another cell can approve, whatever the home cell then says', async () => {
  const { pass } = await addPayer(home);
  const staticPass = { confirmFrom: atoms(1), asksFirst: true };
  const store = abroadShop({ settings: { ...shop.ctx.settings, staticPass } });
  const intentId = await addIntent(store);
  assert.equal(summaryOf(await pay(store, { intentId, pass })), 'requires_action');
  await server.close();
  const [intent] = await selectIntents(abroad.db, [intentId]);
  assert.ok(intent?.status === 'requires_action');
  const decided = await abroad.db.transaction((tx) => decideApproval(tx, intent, clock.now()));
  assert.deepEqual(decided, { type: 'approve' });
});

test('a home cell whose ledger may have lost taps gives no answer', async () => {
  const { payer, passId } = await addPayer(home);
  const code = await codeOf(payer.id, passId);
  const reopen = home.db.watch.guard(false, () => {});
  const closed = await ask(code);
  reopen();
  assert.equal(closed.refusal?.rule, 'HOME_CELL_AWAY');
  assert.equal((await ask(code)).refusal, null);
});

test('only cells get an answer', async () => {
  for (const authorization of ['', 'Bearer x', `Bearer ${SECRET}x`]) {
    for (const path of ['presentations', 'ends', 'self']) {
      const answer = await fetch(`${url}${CELLS_ROOT}/${path}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{}',
      });
      assert.equal(answer.status, 404, path);
    }
  }
  const { pass } = await addPayer(home);
  const wrong = settings(1, { secret: 'another secret than that of the others' });
  assert.equal((await ask(passOf(pass), { cells: wrong })).refusal?.rule, 'HOME_CELL_AWAY');
});

test('cells call each other over http in private networks only', async () => {
  const at = (address: string) => settings(1, { others: [{ cell: 2, url: address }] });
  for (const address of ['http://203.0.113.7:4242', 'http://8.8.8.8', 'http://[2001:4860::1]']) {
    await assert.rejects(checkPeers(at(address)), {
      name: 'StartError',
      message:
        /^CELL_ADDRESSES: http:\S+ resolves to \S+, which [^\n]+CELL_SECRET[^\n]+use https[^\n]+$/,
    });
  }
  for (const address of ['http://127.0.0.1:1', 'http://localhost:1', 'http://nowhere.invalid']) {
    assert.equal((await checkPeers(at(address))).length, 1, `${address} is only not there`);
  }
});

test('two cells with one number are detected at the start', async () => {
  assert.deepEqual(await checkPeers(settings(1)), []);
  const other = settings(1, { secret: 'another secret than that of the others' });
  assert.deepEqual(await checkPeers(other), other.others);
  const taken = settings(0, { others: [{ cell: 2, url }] });
  await assert.rejects(checkPeers(taken), (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /^CELL=0, but http:\S+ is cell 0 already$/);
    return true;
  });
  const mistaken = settings(1, { others: [{ cell: 2, url }] });
  await assert.rejects(checkPeers(mistaken), /is cell 0, not 2$/);
});
