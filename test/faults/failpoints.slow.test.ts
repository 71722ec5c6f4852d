import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { present } from '#core/assert.ts';
import { FAILPOINTS, type Failpoint } from '#core/failpoints.ts';
import { type Database, openDatabase } from '#db/database.ts';
import type { Mail } from '#people/mail-outbox.ts';
import { wallet } from '#sandbox/derive-wallets.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { type Body, type Caller, caller, type Reply } from '#testkit/apis/api-client.ts';
import { setLimits, signAtTerms, type TillTerms } from '#testkit/apis/offline-sales.ts';
import { readLink, sign } from '#testkit/apis/pay-links.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { startReceiver, type TestReceiver } from '#testkit/network/webhook-receiver.ts';
import { type ChaosGround, openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import { enrolOwner } from '#testkit/simulation/chaos/chaos-owner.ts';
import {
  type ChaosProcess,
  type ChaosProcessOptions,
  makeDemo,
  startChaosProcess,
} from '#testkit/simulation/chaos/chaos-process.ts';
import { comeToRest } from '#testkit/simulation/invariants/invariants.ts';
import { lastOf } from '#testkit/simulation/restore-ground.ts';

/** Failpoints in the relayer and the webhook worker, which have faster tests elsewhere. */
const TESTED_ELSEWHERE = /^(settlement|webhooks)\./;
/**
 * Failpoints that no sale online reaches. They are tested in `recovery.test.ts`,
 * `relayer-answered.test.ts`, the tests of offline sales, shifts and emails below and, for keys in
 * a remote signer, `relayer-signer.test.ts`.
 */
const BESIDE_SALES = /^(recovery|mail|offline|shifts|reorganizations)\.|\.signature_given$/;
const NIGHTLY = process.env.FAULTS === 'nightly';
/** Root of an earlier build. Its workers are killed, and workers of this build take over. */
const firstRoot = process.env.EARLIER_BUILD;
const REST_MS = 30_000;
const DEATH_MS = 15_000;
/** Events of the payment: succeeded, cashback_paid, refunded. */
const WEBHOOKS = 3;
/** Receipts of a sale and its refund. */
const RECEIPTS = 2;

let ground: ChaosGround;
let db: Database;
let sandbox: SandboxFile;
let receiver: TestReceiver;
let signer: TestReceiver;
let endpointId: string;

before(async () => {
  ground = await openChaosGround();
  const first = await makeDemo(ground);
  sandbox = first.sandbox;
  receiver = await startReceiver();
  const merchant = caller(`${sandbox.base_url}/v1`, sandbox.test.secret_key);
  const endpoint = await merchant.post('/webhook_endpoints', {
    url: `${receiver.url}/hooks`,
    enabled_events: ['payment.*', 'refund.*'],
  });
  assert.equal(endpoint.status, 201);
  endpointId = String(endpoint.body.id);
  await first.stop();
  db = openDatabase({ url: ground.database.url, maxConnections: 4 });
  signer = await startReceiver();
  signer.answer((_request, response) => void response.end('{"signature": "signed"}'));
  await db.query('update accounts set fiscal_signer = $1 where id = $2', [
    `${signer.url}/receipts`,
    sandbox.account,
  ]);
});

after(async () => {
  await db?.close();
  await receiver?.close();
  await signer?.close();
  await ground?.close();
});

/** A failpoint sends SIGKILL; a start that fails ends with an exit code. */
const diedAtFailpoint = (one: ChaosProcess) => one.logs().includes('ended: SIGKILL');

interface Party {
  readonly merchant: Caller;
  readonly terminal: Caller;
}

function partyAt(api: ChaosProcess): Party {
  return {
    merchant: caller(`${api.url}/v1`, sandbox.test.secret_key),
    terminal: caller(`${api.url}/device/v1`, sandbox.test.device_key),
  };
}

async function untilDone(
  send: () => Promise<Reply>,
  isDone = (reply: Reply) => reply.status < 300,
): Promise<Body> {
  const reply = await lastOf(send, isDone, REST_MS);
  assert.ok(reply !== undefined && isDone(reply), 'no answer came');
  return reply.body;
}

const untilPaid = (merchant: Caller, intent: string) =>
  untilDone(
    () => merchant.get(`/payment_intents/${intent}`),
    ({ body }) => body.status === 'succeeded',
  );

async function createSale({ merchant }: Party): Promise<string> {
  const sale = { amount: 1_000_000, terminal: sandbox.test.terminal };
  return String((await merchant.post('/payment_intents', sale)).body.id);
}

/**
 * Makes a sale and a partial refund, each sent again with the same key until there is a response.
 */
async function payAndRefund(party: Party, point: Failpoint) {
  const { merchant, terminal } = party;
  const intent = await createSale(party);
  const credential = { type: 'nfc_id', value: sandbox.test.passes.ok };
  const tap = `/payment_intents/${intent}/tap`;
  await untilDone(() => terminal.post(tap, { credential }, `tap ${point}`));
  const paid = await untilPaid(merchant, intent);
  const body = { payment: paid.payment, amount: 250_000 };
  await untilDone(() => merchant.post('/refunds', body, `refund ${point}`));
  return { paid, intent };
}

/**
 * Pays by the link: the wallet signs once, and the page sends the signature until there is a
 * response.
 */
async function payByLink(party: Party, api: ChaosProcess) {
  const intent = await createSale(party);
  const shown = await party.terminal.get(`/payment_intents/${intent}`);
  const token = String(shown.body.payment_url).split('/').at(-1) ?? '';
  const pay = caller(`${api.url}/pay/v1`, '');
  const account = wallet(ground.secret, 'testnet payer ok');
  const from = account.address;
  const signature = await sign(account, await readLink(pay, token, from));
  await untilDone(() => pay.post(`/${token}/authorization`, { from, signature }));
  return { paid: await untilPaid(party.merchant, intent), intent };
}

/** €9.90 at the till’s terms. */
const OFFLINE_PRICE = { currency: 'eur', amount: 990, rate: '1.096276999892', margin: 100 };

/** Forwards a sale in euros that the till took offline, until it is paid. */
async function forwardSale({ merchant, terminal }: Party): Promise<Sold> {
  await setLimits({ store: { db, terminalId: sandbox.test.terminal } });
  await db.query(`update accounts set currency = 'eur' where id = $1`, [sandbox.account]);
  await putRates(db, { eur: '1.08542277217' }, { now: new Date() });
  const { offline_terms: terms } = await untilDone(
    () => terminal.get('/terminal'),
    ({ body }) => (body.offline_terms as TillTerms | null)?.presentment != null,
  );
  const payer = wallet(ground.secret, 'testnet payer ok');
  const sale = await signAtTerms(payer, terms as TillTerms, OFFLINE_PRICE.amount);
  const first = ({ body }: Reply) => (body.data as readonly Body[] | undefined)?.[0];
  const { data } = await untilDone(
    () => terminal.post('/offline_payments', { payments: [sale] }),
    (reply) => first(reply)?.status === 'succeeded',
  );
  const [sold] = data as readonly Body[];
  const intent = String(sold?.payment_intent);
  const paid = await untilPaid(merchant, intent);
  const { currency, amount, rate, margin } = paid.presentment as Body;
  assert.deepEqual({ currency, amount, rate, margin }, OFFLINE_PRICE);
  assert.deepEqual([sold?.payment, paid.amount], [paid.payment, 10_853_143]);
  return { paid, intent };
}

interface Sold {
  readonly paid: Body;
  readonly intent: string;
}

/**
 * Sells with an API process and a worker, one of which dies at the failpoint, and checks the sale.
 */
async function sellAtDeath(
  point: Failpoint,
  sell: (party: Party, api: ChaosProcess) => Promise<Sold>,
  check: (payment: { readonly id: string; readonly by: string }) => Promise<void>,
): Promise<void> {
  const firstEnv = { TAPLINE_FAILPOINT: point };
  await withProcesses(
    { firstEnv },
    { name: 'worker', firstEnv, firstRoot },
    async (api, worker) => {
      const { paid, intent } = await sell(partyAt(api), api);
      const died = () => [api, worker].some(diedAtFailpoint);
      assert.ok(await waitUntil(died, DEATH_MS), 'nothing died at the failpoint');
      await requireRest(point);
      const sql = 'select id, credential_type as by from payments where payment_intent_id = $1';
      const [payment, ...others] = await db.query<{ id: string; by: string }>(sql, [intent]);
      assert.deepEqual([payment?.id, others], [paid.payment, []]);
      await check(present(payment, 'payment'));
    },
  );
}

/** Runs an API process and a worker, and closes them at the end. */
async function withProcesses(
  api: Pick<ChaosProcessOptions, 'firstEnv'>,
  worker: Omit<ChaosProcessOptions, 'role'>,
  run: (api: ChaosProcess, worker: ChaosProcess) => Promise<void>,
): Promise<void> {
  const [first, second] = await Promise.all([
    startChaosProcess(ground, { name: 'api', role: 'api', ...api }),
    startChaosProcess(ground, { role: 'worker', ...worker }),
  ]);
  await run(first, second).finally(() => Promise.all([first.close(), second.close()]));
}

/**
 * Deliveries resume when the dead worker's lease expires after 20 s, which only some tests wait
 * for.
 */
async function requireRest(point: Failpoint): Promise<void> {
  const except = point.startsWith('webhooks.')
    ? {}
    : { except: /^no delivery to a working endpoint/ };
  const sources = { db, chains: [ground.testnet.config] };
  assert.deepEqual(await comeToRest(sources, { limitMs: REST_MS, ...except }), []);
}

/** Checks that the receiver got the payment's events, each in exactly one delivery. */
async function checkDeliveries(paymentId: string, before: number): Promise<void> {
  assert.ok(receiver.received.length >= before + WEBHOOKS);
  const [told] = await db.query<{ n: number }>(
    `select count(*)::int as n from webhook_deliveries d join events e on e.id = d.event_id
     where d.endpoint_id = $1 and d.status = 'succeeded' and e.object_id = $2`,
    [endpointId, paymentId],
  );
  assert.equal(told?.n, WEBHOOKS);
}

/**
 * Checks that every receipt gets signed, even if its worker died (whose lease expires after 20 s).
 * Requests with the same id are repeats and must have the same content.
 */
async function checkSigned(point: Failpoint, payment: string): Promise<void> {
  const unsigned = 'select subject_id from fiscal_receipts where signature is null';
  const isSigned = async () => (await db.query(unsigned)).length === 0;
  assert.ok(await waitUntil(isSigned, REST_MS), 'a receipt is never signed');
  const bodies = signer.received
    .map(({ body }) => body.toString())
    .filter((body) => body.includes(`"payment":"${payment}"`));
  const repeated = point === 'fiscal.answered' ? 1 : 0;
  assert.deepEqual([bodies.length, new Set(bodies).size], [RECEIPTS + repeated, RECEIPTS]);
}

/** Failpoints that a signed payment reaches. A batch (`sender_taken`) never contains one. */
const OF_AUTHORIZATIONS = FAILPOINTS.filter(
  (name) =>
    /^(payments|settlement)\./.test(name) &&
    name !== 'settlement.sender_taken' &&
    !BESIDE_SALES.test(name),
);

/**
 * The worst moment for a payment with its own transaction, which is then signed but not yet sent.
 */
const WORST = 'settlement.signed_committed';

describe('a process killed around a payment that a wallet has signed', () => {
  for (const point of OF_AUTHORIZATIONS) {
    const isNightly = TESTED_ELSEWHERE.test(point) && point !== WORST;
    const skip = isNightly && !NIGHTLY ? 'in the nightly run' : false;
    it(`charges the wallet once after dying at ${point}`, { skip }, async () => {
      await sellAtDeath(point, payByLink, async ({ by }) => assert.equal(by, 'authorization'));
    });
  }
});

describe('a process killed while it forwards a sale that a till took offline', () => {
  const steps = OF_AUTHORIZATIONS.filter((name) => name !== 'payments.request_committed');
  for (const point of ['offline.sales_judged', 'offline.sales_committed', ...steps] as const) {
    const isNightly = TESTED_ELSEWHERE.test(point) && point !== WORST;
    const skip = isNightly && !NIGHTLY ? 'in the nightly run' : false;
    it(`charges the wallet once, at the till’s rate, after dying at ${point}`, {
      skip,
    }, async () => {
      await sellAtDeath(point, forwardSale, async ({ by }) => assert.equal(by, 'authorization'));
    });
  }
});

describe('a process killed between two steps', () => {
  for (const point of FAILPOINTS.filter((name) => !BESIDE_SALES.test(name))) {
    const skip = TESTED_ELSEWHERE.test(point) && !NIGHTLY ? 'in the nightly run' : false;
    it(`pays, refunds and sends each event once after dying at ${point}`, { skip }, async () => {
      const before = receiver.received.length;
      const sell = (party: Party) => payAndRefund(party, point);
      await sellAtDeath(point, sell, async ({ id }) => {
        if (point.startsWith('webhooks.')) await checkDeliveries(id, before);
        if (point.startsWith('fiscal.')) await checkSigned(point, id);
      });
    });
  }
});

describe('a process killed while it ends a shift', () => {
  for (const point of FAILPOINTS.filter((name) => name.startsWith('shifts.'))) {
    it(`ends it once, with one report, event and mail, after dying at ${point}`, async () => {
      const firstEnv = { TAPLINE_FAILPOINT: point };
      const name = `reports ${point}`;
      const mailTo = "update accounts set report_email = 'reports@shop.test' where id = $1";
      await db.query(mailTo, [sandbox.account]);
      await withProcesses({ firstEnv }, { name }, async (api) => {
        const { terminal } = partyAt(api);
        const { id } = await untilDone(() => terminal.post('/shift', {}));
        const headers = { 'Idempotency-Key': `end ${point}` };
        const end = () => terminal.send('DELETE', '/shift', { headers });
        const report = await untilDone(end);
        assert.ok(diedAtFailpoint(api), 'nothing died at the failpoint');
        assert.equal(report.id, id);
        assert.deepEqual((await end()).body, report);
        const [newest, before] = (await terminal.get('/shifts')).body.data as Body[];
        assert.deepEqual(newest, report);
        assert.equal(report.number, Number(before?.number ?? 0) + 1);
        const events = await db.query(
          "select from events where type = 'shift.ended' and object_id = $1",
          [id],
        );
        assert.equal(events.length, 1);
        const mails = () => mailsOf(name, new RegExp(`^Shift report .*${report.number}:`));
        assert.ok(await waitUntil(async () => (await mails()).length > 0, REST_MS), 'no mail');
        const queued = await db.query('select from mail_outbox where sent_at is null');
        assert.deepEqual([(await mails()).length, queued.length], [1, 0]);
      });
    });
  }
});

/** Changes that email their owner, and the text of each email. */
const SENT_BY_MAIL = {
  'mail.taken': {
    subject: /^The second factor/,
    change: (url: string) => enrolOwner(url, sandbox.dashboard),
  },
  'mail.sent': {
    subject: /password/,
    change: (url: string) => {
      const { email } = sandbox.dashboard;
      return new PersonClient(`${url}/dashboard/v1`).post('/password_reset', { email });
    },
  },
} as const;

async function mailsOf(worker: string, subject: RegExp): Promise<Mail[]> {
  const folder = path.join(ground.folder, worker, 'mail');
  const names = await readdir(folder).catch(() => []);
  const texts = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => readFile(path.join(folder, name), 'utf8'));
  const mails = (await Promise.all(texts)).map((text) => JSON.parse(text) as Mail);
  return mails.filter((mail) => subject.test(mail.subject));
}

describe('a process killed while it notifies an owner of a change', () => {
  for (const point of ['mail.taken', 'mail.sent'] as const) {
    it(`still sends the email after dying at ${point}`, async () => {
      const { subject, change } = SENT_BY_MAIL[point];
      const firstEnv = { TAPLINE_FAILPOINT: point };
      const name = `mails ${point}`;
      await withProcesses({}, { name, firstEnv }, async (api, worker) => {
        await change(String(api.url));
        assert.ok(await waitUntil(() => worker.starts() > 1, DEATH_MS), 'nothing died');
        const before = (await mailsOf(name, subject)).length;
        assert.equal(before, point === 'mail.taken' ? 0 : 1);
        // Another worker takes the email over after a minute. The test skips this wait.
        await db.query(`update mail_outbox set due_at = '-infinity' where sent_at is null`);
        const isSent = async () => (await mailsOf(name, subject)).length > before;
        assert.ok(await waitUntil(isSent, REST_MS), 'the mail was never sent');
      });
    });
  }
});
