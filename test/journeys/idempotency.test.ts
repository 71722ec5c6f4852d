import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { declaredRoutes } from '#app/declared-routes.ts';
import { caller, type Reply } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { addFactorNow } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { type SharedSandbox, startSharedSandbox } from '#testkit/network/shared-sandbox.ts';

/** A valid request, and a different one that must not reuse its key. */
interface Prepared {
  readonly method?: 'DELETE';
  readonly path: string;
  readonly body: object;
  readonly otherBody: object;
  /** The path of the different request, which is a POST request. Default: the same path. */
  readonly otherPath?: string;
}

interface Operation {
  readonly surface: 'merchant' | 'device' | 'dashboard';
  prepare(): Promise<Prepared>;
}

type Request = Pick<Prepared, 'method' | 'path' | 'body'>;
type Send = (request: Request, key: string | null) => Promise<Reply>;

/** The number of clients that send the same request with the same key in parallel. */
const AT_ONCE = 5;
const AMOUNT = 2_500_000;

let shared: SharedSandbox;
let owner: PersonClient;
let terminal = '';
let deviceKey = '';

const merchant = () => caller(`${shared.sandbox.base_url}/v1`, shared.sandbox.test.secret_key);
const device = () => caller(`${shared.sandbox.base_url}/device/v1`, deviceKey);

before(async () => {
  // Uses a private sandbox, because the test changes the owner's sign-in.
  shared = await startSharedSandbox();
  const { web_url: url, dashboard } = shared.sandbox;
  owner = new PersonClient(`${url}/api/dashboard/v1`);
  await owner.post('/session', { ...dashboard });
  await addFactorNow(owner, dashboard.password);
  ({ terminal, device_key: deviceKey } = shared.sandbox.test);
});

after(() => shared.close());

async function intentOn(address: string): Promise<string> {
  const made = await merchant().post('/payment_intents', { amount: AMOUNT, terminal: address });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return String(made.body.id);
}

const credential = () => ({ type: 'nfc_id', value: shared.sandbox.test.passes.ok });

async function payment(): Promise<string> {
  const path = `/payment_intents/${await intentOn(terminal)}/tap`;
  const paid = await device().post(path, { credential: credential() });
  assert.equal(paid.body.status, 'succeeded', JSON.stringify(paid.body));
  return String(paid.body.payment);
}

const inTestMode = (path: string) => `/accounts/${shared.sandbox.account}/test${path}`;

async function refund(path: string): Promise<Prepared> {
  const paid = await payment();
  const body = { payment: paid, amount: 1_000_000 };
  return { path, body, otherBody: { payment: paid, amount: 999_999 } };
}

async function tap(): Promise<Prepared> {
  const path = `/payment_intents/${await intentOn(terminal)}/tap`;
  const other = { type: 'nfc_id', value: shared.sandbox.test.passes.insufficient_funds };
  return { path, body: { credential: credential() }, otherBody: { credential: other } };
}

async function cancel(root = ''): Promise<Prepared> {
  const pathOf = async () => `${root}/payment_intents/${await intentOn(terminal)}/cancel`;
  return { path: await pathOf(), otherPath: await pathOf(), body: {}, otherBody: {} };
}

async function openedShift(): Promise<Prepared> {
  const opened = await device().post('/shift', {});
  assert.equal(opened.status, 201, JSON.stringify(opened.body));
  const other = { otherPath: '/payment_intents', otherBody: { amount: AMOUNT, cashier: 'Ada' } };
  return { method: 'DELETE', path: '/shift', body: {}, ...other };
}

async function helperTap(root = ''): Promise<Prepared> {
  const body = { payment_intent: await intentOn(terminal) };
  const otherBody = { payment_intent: await intentOn(terminal) };
  return { path: `${root}/test_helpers/terminals/${terminal}/tap`, body, otherBody };
}

/** Every operation that takes an Idempotency-Key. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  createPaymentIntent: {
    surface: 'merchant',
    prepare: async () => {
      const body = { amount: AMOUNT, terminal, order_id: randomUUID().slice(0, 8) };
      return { path: '/payment_intents', body, otherBody: { ...body, amount: AMOUNT + 1 } };
    },
  },
  confirmPaymentIntent: {
    surface: 'merchant',
    prepare: async () => {
      const mint = async () => {
        const { body } = await merchant().post('/test_helpers/agent_tokens', { amount: AMOUNT });
        return { agent_token: body.agent_token };
      };
      const path = `/payment_intents/${await intentOn(shared.sandbox.test.agent_terminal)}/confirm`;
      return { path, body: await mint(), otherBody: await mint() };
    },
  },
  cancelPaymentIntent: { surface: 'merchant', prepare: () => cancel() },
  createRefund: { surface: 'merchant', prepare: () => refund('/refunds') },
  testTapTerminal: { surface: 'merchant', prepare: () => helperTap() },
  createCashierPaymentIntent: {
    surface: 'device',
    prepare: async () => {
      const body = { amount: AMOUNT, cashier: 'Ada' };
      return { path: '/payment_intents', body, otherBody: { ...body, cashier: 'Bo' } };
    },
  },
  tapPaymentIntent: { surface: 'device', prepare: tap },
  cancelDevicePaymentIntent: { surface: 'device', prepare: () => cancel() },
  endShift: { surface: 'device', prepare: openedShift },
  createDeviceRefund: { surface: 'device', prepare: () => refund('/refunds') },
  createWithdrawal: {
    surface: 'dashboard',
    prepare: async () => {
      await payment();
      return {
        path: inTestMode('/withdrawals'),
        body: { amount: 1_000 },
        otherBody: { amount: 1_001 },
      };
    },
  },
  dashboardCancelPaymentIntent: { surface: 'dashboard', prepare: () => cancel(inTestMode('')) },
  dashboardTestTapTerminal: { surface: 'dashboard', prepare: () => helperTap(inTestMode('')) },
  createDashboardRefund: { surface: 'dashboard', prepare: () => refund(inTestMode('/refunds')) },
};

function sender(surface: Operation['surface']): Send {
  if (surface === 'dashboard') {
    return ({ path, body }, key) =>
      owner.post(path, body, key === null ? {} : { 'Idempotency-Key': key });
  }
  const client = surface === 'merchant' ? merchant() : device();
  return ({ method = 'POST', path, body }, key) =>
    client.send(method, path, {
      headers: {
        ...(method === 'POST' ? { 'Content-Type': 'application/json' } : {}),
        ...(key === null ? {} : { 'Idempotency-Key': key }),
      },
      body: method === 'POST' ? JSON.stringify(body) : null,
    });
}

const isOk = ({ status }: Reply) => status < 300;
const isReplay = ({ headers }: Reply) => headers.get('idempotent-replayed') === 'true';

const takesKey = Object.values(declaredRoutes())
  .flat()
  .filter(({ idempotency }) => idempotency !== 'ignored');

test('every operation that takes an Idempotency-Key is tested here', () => {
  const declared = [...new Set(takesKey.map(({ operationId }) => operationId))];
  assert.deepEqual(declared.sort(), Object.keys(OPERATIONS).sort());
});

for (const [operationId, { surface, prepare }] of Object.entries(OPERATIONS)) {
  describe(operationId, () => {
    test('runs once, however often it is sent, even at the same time', async () => {
      const send = sender(surface);
      const request = await prepare();
      const key = randomUUID();
      const all = await Promise.all(Array.from({ length: AT_ONCE }, () => send(request, key)));
      for (const one of all.filter((reply) => !isOk(reply))) {
        assert.equal(
          errorCodeOf(one.body),
          'idempotency_request_in_progress',
          JSON.stringify(one.body),
        );
      }
      const done = all.filter(isOk);
      assert.equal(done.filter((reply) => !isReplay(reply)).length, 1, 'ran once');
      const again = await send(request, key);
      assert.ok(isReplay(again));
      for (const one of done) assert.deepEqual(one.body, again.body);
    });

    test('refuses its key for another request', async () => {
      const send = sender(surface);
      const request = await prepare();
      const { path, otherPath = path, otherBody } = request;
      const key = randomUUID();
      assert.ok(isOk(await send(request, key)));
      const other = await send({ path: otherPath, body: otherBody }, key);
      assert.deepEqual([other.status, errorCodeOf(other.body)], [409, 'idempotency_key_reused']);
    });

    test('declares whether its key is optional', async () => {
      const bare = await sender(surface)(await prepare(), null);
      const code = errorCodeOf(bare.body);
      const rule = takesKey.find((route) => route.operationId === operationId)?.idempotency;
      if (rule === 'accepted') assert.ok(isOk(bare), JSON.stringify(bare.body));
      else assert.deepEqual([bare.status, code], [400, 'idempotency_key_required']);
    });
  });
}
