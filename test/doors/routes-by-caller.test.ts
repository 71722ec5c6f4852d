import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SCOPES } from '#accounts/api-key-scopes.ts';
import { consentOf } from '#apis/dashboard/sessions/require-second-factor.ts';
import { buildApi } from '#app/api-role.ts';
import { declaredRoutes } from '#app/declared-routes.ts';
import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { newId } from '#core/ids.ts';
import type { DeclaredRoute } from '#http/route-errors.ts';
import { asksOf, isSerious } from '#http/second-factor-by-effect.ts';
import { startTestApi } from '#testkit/apis/api.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { newWallet, signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/** Tests every declared route × its caller's rights, so new routes are covered automatically. */

const api = openForTests(() => startTestApi({ build: buildApi }));

const ROUTES = declaredRoutes();
/** Routes for visitors, who have no session yet. */
const FOR_VISITORS = ['/networks', '/sign_in', '/sign_in/nonce', '/pair', '/pair/preview'];

interface Asked {
  readonly surface: string;
  readonly key: string | null;
  readonly ids?: Readonly<Record<string, string>>;
}

async function ask(route: DeclaredRoute, { surface, key, ids = {} }: Asked) {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? 'none');
  const response = await fetch(`${api.url}/api/${surface}${path}`, {
    method: route.method,
    headers: {
      'Idempotency-Key': `routes ${Math.random()}`,
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(route.bodyExample === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: route.bodyExample === undefined ? null : JSON.stringify(route.bodyExample),
    signal: AbortSignal.timeout(30_000),
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  const text = isStream ? '' : await response.text();
  if (isStream) await response.body?.cancel();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  const code = isJson ? (errorCodeOf(JSON.parse(text)) ?? null) : null;
  return { status: response.status, code, what: `${route.method} ${route.path}: ${text}` };
}

test('each merchant route accepts its own scope, and no other', async () => {
  const { tenant } = api.merchant.test;
  const keys = new Map<string, { readonly only: string; readonly others: string }>();
  for (const scope of SCOPES) {
    const others = SCOPES.filter((one) => one !== scope);
    keys.set(scope, {
      only: (await api.addKey(tenant, { scopes: [scope] })).secret,
      others: (await api.addKey(tenant, { scopes: others })).secret,
    });
  }
  const scoped = ROUTES.merchant.flatMap((route) => {
    const result = keys.get(route.scope ?? '');
    return result === undefined ? [] : [{ route, ...result }];
  });
  assert.ok(scoped.length > 30, `${scoped.length} routes`);
  const open = ROUTES.merchant.filter(({ scope }) => scope === null);
  assert.deepEqual(
    open.filter(({ moves }) => moves !== 'nothing').map(({ operationId }) => operationId),
    [],
    'what moves something has a scope',
  );
  for (const { route, only, others } of scoped) {
    const refused = await ask(route, { surface: 'v1', key: others });
    assert.deepEqual([refused.status, refused.code], [403, 'scope_missing'], refused.what);
    const letIn = await ask(route, { surface: 'v1', key: only });
    assert.ok(letIn.status !== 401 && letIn.code !== 'scope_missing', letIn.what);
  }
});

test('each terminal route refuses ended keys and other accounts’ payments', async () => {
  const [key, ended] = [newSecret('deviceKeyTest'), newSecret('deviceKeyTest')];
  const { terminal } = api.merchant.test;
  await api.db.query(
    `insert into device_keys (hash, terminal_id, created, revoked_at)
     values ($1, $3, now(), null), ($2, $3, now(), now())`,
    [hashSecret(key), hashSecret(ended), terminal],
  );
  const other = await api.addMerchant();
  const { body: foreign } = await api.call({
    path: '/v1/payment_intents',
    key: other.test.key,
    idempotencyKey: 'foreign',
    body: { amount: 2_500_000, terminal: other.test.terminal },
  });
  const routes = ROUTES.device.filter(({ path }) => !FOR_VISITORS.includes(path));
  assert.ok(routes.length >= 12, `${routes.length} routes`);
  for (const route of routes) {
    const device = { surface: 'device/v1', ids: { id: foreign.id } };
    const own = await ask(route, { ...device, key });
    assert.notEqual(own.status, 401, own.what);
    const isOfPayment = route.path.includes('{id}');
    assert.ok(!isOfPayment || own.status === 404 || own.status === 400, own.what);
    const refused = await ask(route, { ...device, key: ended });
    assert.equal(refused.status, 401, refused.what);
  }
});

test('each payer route requires a fresh wallet signature if it declares that', async () => {
  const routes = ROUTES.payer.filter(({ path }) => !FOR_VISITORS.includes(path));
  const askAll = async (
    signedAgo: string,
    judge: (route: DeclaredRoute, code: string | null) => void,
  ) => {
    for (const route of routes) {
      const key = await signInWallet(api.url, newWallet());
      await api.db.query(
        'update payer_sessions set signed_at = now() - $2::interval where hash = $1',
        [hashSecret(key), signedAgo],
      );
      const ids = { id: newId('pass', api.clock.now()) };
      const reply = await ask(route, { surface: 'payer/v1', key, ids });
      assert.notEqual(reply.status, 401, reply.what);
      judge(route, reply.code);
    }
  };
  let refused = 0;
  await askAll('5 minutes', (route, code) => {
    const asks = asksOf(route);
    const isAsked = code === 'second_factor_required';
    if (asks === 'always') assert.ok(isAsked, `${route.operationId} stale: ${code}`);
    else if (asks !== 'own') assert.ok(!isAsked, `${route.operationId} says that it never asks`);
    refused += isAsked ? 1 : 0;
  });
  assert.ok(refused >= 4, `${refused} refused`);
  await askAll('4 minutes', (route, code) =>
    assert.notEqual(code, 'second_factor_required', `${route.operationId} fresh`),
  );
});

test('no payer route works with an expired session', async () => {
  const key = await signInWallet(api.url, newWallet());
  await api.db.query("update payer_sessions set expires_at = now() - interval '1 s'");
  for (const route of ROUTES.payer.filter(({ path }) => !FOR_VISITORS.includes(path))) {
    const reply = await ask(route, { surface: 'payer/v1', key });
    assert.equal(reply.status, 401, reply.what);
  }
});

test('neither a merchant’s key nor a made-up token opens a pay link', async () => {
  assert.ok(ROUTES.pay.length >= 5);
  for (const route of ROUTES.pay) {
    for (const key of [null, api.merchant.test.key]) {
      const reply = await ask(route, { surface: 'pay/v1', key, ids: { token: '0'.repeat(22) } });
      assert.ok(reply.status === 404 || reply.status === 400, reply.what);
    }
  }
});

const MODE = '/accounts/{account}/{mode}';

/**
 * Changes that a session without a fresh factor may make: they revoke rights, or gain a thief
 * nothing.
 */
const WITHOUT_FACTOR: Readonly<Record<string, string>> = {
  leaveTeam: 'takes the own role away; an owner shows a factor',
  revokeInvitation: 'takes an invitation away',
  removePin: 'takes a PIN away',
  removeStaff: 'takes a PIN away; sales keep the person’s id, also if the name is erased',
  handInOfflinePayments: 'each sale is signed by a wallet, and pays only this merchant',
  submitVerification: 'staff approve or reject it',
  revokeApiKey: 'takes a key away',
  deactivateTerminal: 'takes a terminal away',
  rotateTerminalTag: 'takes an address away; the new one only lets customers pay',
  switchTerminalSmartTap: 'one more way for customers to pay, or one less',
  dashboardDeleteWebhookEndpoint: 'takes a receiver away',
  endRefund: 'keeps money that USDC does not let go',
  cancelWalletChange: 'keeps the wallet as it is',
  blockPayer: 'takes a customer away',
};

test('the dashboard asks for a factor where a key of the merchant API shows its scope', () => {
  const people = new Map(ROUTES.dashboard.map((route) => [`${route.method} ${route.path}`, route]));
  const compared: string[] = [];
  for (const { method, path, moves } of ROUTES.merchant) {
    const route = people.get(`${method} ${MODE}${path}`);
    if (route === undefined || !isSerious(moves)) continue;
    compared.push(route.operationId);
    const { asks, mails } = consentOf(route);
    const what = `${method} ${path}: ${asks}`;
    assert.equal(route.moves, moves, what);
    assert.ok(asks !== 'never' || route.operationId in WITHOUT_FACTOR, what);
    assert.ok(moves !== 'access' || mails, `${what}, no mail`);
  }
  assert.deepEqual(compared.toSorted(), [
    'createDashboardRefund',
    'dashboardCreateWebhookEndpoint',
    'dashboardDeleteWebhookEndpoint',
    'dashboardRotateWebhookSecret',
    'dashboardUpdateWebhookEndpoint',
  ]);
});

test('without a factor, a session can change only the listed things of an account', () => {
  const ofAccounts = ROUTES.dashboard.filter(
    ({ method, path, moves }) =>
      method !== 'GET' && isSerious(moves) && path.startsWith('/accounts/{account}'),
  );
  assert.ok(ofAccounts.length > 30, `${ofAccounts.length} routes`);
  const unasked = ofAccounts.filter((route) => consentOf(route).asks === 'never');
  assert.deepEqual(
    unasked.map(({ operationId }) => operationId).toSorted(),
    Object.keys(WITHOUT_FACTOR).toSorted(),
  );
  const unmailed = ofAccounts.filter(
    (route) => route.moves === 'access' && !consentOf(route).mails,
  );
  assert.deepEqual(
    unmailed.map(({ operationId }) => operationId),
    ['createManagerCode'],
    'each other change of access is mailed',
  );
});
