import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createDomainCheck } from '#apis/payer/sign-in-domain.ts';
import { DAY_MS } from '#core/durations.ts';
import { createNonce } from '#payers/payer-sign-in.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, type StoreServer, serveStore } from '#testkit/apis/store-server.ts';
import { messageOf, newWallet, type SignInMessage } from '#testkit/apis/wallet-sign-in.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import type { TestStore } from '#testkit/fixtures/payments/store.ts';
import { startTestNetwork } from '#testkit/network/test-network.ts';

const NOON = new Date('2026-10-01T12:00:00.000Z');

let clock: FakeClock;
let store: TestStore;
let server: StoreServer;
let visitor: Caller;

before(async () => {
  clock = new FakeClock(NOON);
  ({ store, server } = await openServedStore({ clock }));
  visitor = caller(`${server.url}/api/payer/v1`, 'none');
});

after(() => server.close());

async function freshMessage(changes: Partial<SignInMessage> = {}): Promise<SignInMessage> {
  const { nonce } = await createNonce(store.db, clock.now());
  const { host } = new URL(server.url);
  const common = { chainId: 31_337, domain: host, uri: server.url, issuedAt: clock.now() };
  return { ...common, nonce, ...changes };
}

async function signIn(changes: Partial<SignInMessage> = {}) {
  const account = newWallet();
  const message = messageOf(account, await freshMessage(changes));
  return visitor.post('/sign_in', { message, signature: await account.signMessage({ message }) });
}

describe('a wallet', () => {
  test('that was never seen becomes a payer on the network of its message', async () => {
    const { status, body } = await signIn();
    assert.equal(status, 201);
    const payer = body.payer as { id: string; livemode: boolean };
    assert.match(payer.id, /^pyr_/);
    assert.equal(payer.livemode, false);
    const live = await signIn({ chainId: 31_338 });
    assert.equal((live.body.payer as { livemode: boolean }).livemode, true);
  });

  test('that returns is the same payer, and another one on the other network', async () => {
    const account = newWallet();
    const ids: unknown[] = [];
    for (const chainId of [31_337, 31_337, 31_338]) {
      const { me } = await server.signIn({ account, chainId });
      ids.push((await me.get('/me')).body.id);
    }
    assert.equal(ids[0], ids[1]);
    assert.notEqual(ids[0], ids[2]);
  });

  test('cannot sign in twice with one nonce', async () => {
    const account = newWallet();
    const message = messageOf(account, await freshMessage());
    const signature = await account.signMessage({ message });
    const sent = { message, signature };
    const both = [visitor.post('/sign_in', sent), visitor.post('/sign_in', sent)];
    const statuses = (await Promise.all(both)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, 401]);
  });

  test('cannot sign in with a nonce that is five minutes old', async () => {
    const account = newWallet();
    const message = messageOf(account, await freshMessage());
    const signature = await account.signMessage({ message });
    clock.advance(300_000);
    assert.equal((await visitor.post('/sign_in', { message, signature })).status, 401);
  });
});

describe('a message is refused', () => {
  const refused: readonly (readonly [string, Partial<SignInMessage>])[] = [
    ['for another site', { domain: 'evil.example', uri: 'https://evil.example/' }],
    ['for another site, with our address in it', { domain: 'evil.example' }],
    ['for a site with a similar name', { domain: '127.0.0.1.evil.example' }],
    ['whose address is of another site', { uri: 'https://evil.example/' }],
    ['for a chain that is not served', { chainId: 1 }],
    ['that has expired', { expirationTime: new Date('2026-01-01T00:00:00Z') }],
    ['that is not valid yet', { notBefore: new Date('2099-01-01T00:00:00Z') }],
    ['with a made-up nonce', { nonce: 'aaaaaaaaaaaaaaaaaaaaaa' }],
  ];
  for (const [what, changes] of refused) {
    test(what, async () => {
      const { status, body } = await signIn(changes);
      assert.equal(status, 401);
      assert.equal(errorCodeOf(body), 'sign_in_failed');
    });
  }

  test('that another wallet has signed, or that was changed after it was signed', async () => {
    const network = await startTestNetwork();
    const onChain = await serveStore(store, { chains: [network.chain] });
    const [account, stranger] = [newWallet(), newWallet()];
    const { chainId } = network.config;
    const { host: domain } = new URL(onChain.url);
    const fresh = { ...(await freshMessage()), chainId, domain, uri: onChain.url };
    const message = messageOf(account, fresh);
    const signature = await account.signMessage({ message });
    const changed = message.replace('Sign in to Tapline.', 'Sign in to Tapline!');
    const forged = await stranger.signMessage({ message });
    const open = caller(`${onChain.url}/api/payer/v1`, 'none');
    for (const sent of [
      { message, signature: forged },
      { message: changed, signature },
    ]) {
      const { status, body } = await open.post('/sign_in', sent);
      assert.deepEqual([status, errorCodeOf(body)], [401, 'sign_in_failed']);
    }
    await onChain.close();
    await network.stop();
  });

  test('only temporarily while no chain responds, and its nonce stays valid', async () => {
    const account = newWallet();
    const message = messageOf(account, await freshMessage());
    const unknown = { message, signature: await newWallet().signMessage({ message }) };
    const { status, body } = await visitor.post('/sign_in', unknown);
    assert.deepEqual([status, errorCodeOf(body)], [503, 'service_unavailable']);
    const signature = await account.signMessage({ message });
    assert.equal((await visitor.post('/sign_in', { message, signature })).status, 201);
  });

  test('with a made-up nonce, without querying a chain', async () => {
    const message = messageOf(newWallet(), await freshMessage({ nonce: 'a'.repeat(22) }));
    // No chain responds in this test. If the service asked it about this signature, the answer
    // would be 503.
    const signature = await newWallet().signMessage({ message });
    const { status, body } = await visitor.post('/sign_in', { message, signature });
    assert.deepEqual([status, errorCodeOf(body)], [401, 'sign_in_failed']);
  });

  test('that is no EIP-4361 message at all', async () => {
    const account = newWallet();
    for (const message of ['hello', `${server.url} wants you`, '\n\n\n']) {
      const signature = await account.signMessage({ message });
      assert.equal((await visitor.post('/sign_in', { message, signature })).status, 401);
    }
  });

  test('with control characters other than line breaks', async () => {
    const account = newWallet();
    const message = `${messageOf(account, await freshMessage())}\u0000`;
    const signature = await account.signMessage({ message });
    const { status, body } = await visitor.post('/sign_in', { message, signature });
    assert.equal(status, 400);
    assert.equal(errorCodeOf(body), 'parameter_invalid');
  });
});

describe('a session', () => {
  test('opens the payer app for a day, not longer', async () => {
    const { me } = await server.signIn();
    clock.advance(DAY_MS - 1);
    assert.equal((await me.get('/me')).status, 200);
    clock.advance(1);
    assert.equal(errorCodeOf((await me.get('/me')).body), 'session_missing');
  });

  test('ends with the sign-out', async () => {
    const { me } = await server.signIn();
    assert.equal((await me.post('/sign_out')).status, 204);
    assert.equal((await me.get('/me')).status, 401);
  });

  test('is not opened by keys of other surfaces, nor the other way round', async () => {
    const { token } = await server.signIn();
    assert.equal((await server.payer(store.deviceKey).get('/me')).status, 401);
    assert.equal((await server.device(token).get('/terminal')).status, 401);
    assert.equal((await caller(`${server.url}/api/v1`, token).get('/terminals')).status, 401);
  });

  test('is stored as a hash only', async () => {
    const { token } = await server.signIn();
    const rows = await store.db.query<{ text: string }>(
      `select encode(hash, 'escape') || payer_id as text from payer_sessions`,
    );
    assert.ok(rows.length > 0 && rows.every(({ text }) => !text.includes(token)));
  });
});

test('only the configured site, or this machine, counts as our own', () => {
  const own = createDomainCheck('https://pay.example:8443/app');
  assert.equal(own('pay.example:8443'), true);
  for (const domain of ['pay.example', 'localhost:8443', 'pay.example:8443.evil.example']) {
    assert.equal(own(domain), false);
  }
  const local = createDomainCheck(null);
  for (const domain of ['localhost', 'localhost:4242', '127.0.0.1:1', '[::1]:4242']) {
    assert.equal(local(domain), true);
  }
  for (const domain of ['localhost.evil.example', 'xlocalhost', '127.0.0.2', '']) {
    assert.equal(local(domain), false);
  }
});
