import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { payerSurface } from '#apis/payer/payer-routes.ts';
import { anySurface } from '#http/route.ts';
import { startTestApi } from '#testkit/apis/api.ts';
import { type Caller, caller } from '#testkit/apis/api-client.ts';
import { newWallet, signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/**
 * Tests that a sandbox's wallet cannot register a push service on this machine, although the
 * sandbox's webhooks may go there.
 */

let payer: Caller;

const api = openForTests(
  () =>
    startTestApi({
      surfaces: (ctx) => [anySurface(payerSurface(ctx))],
      env: {
        VAPID_PRIVATE_KEY: randomBytes(32).toString('base64url'),
        VAPID_SUBJECT: 'mailto:push@example.com',
      },
    }),
  async () => {
    payer = caller(`${api.url}/api/payer/v1`, await signInWallet(api.url, newWallet()));
  },
);

test('no browser is notified at an address of this machine or its network', async () => {
  for (const endpoint of [
    'http://127.0.0.1:4242/',
    'http://localhost:4242/',
    'http://[::1]:4242/',
    'https://10.0.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/',
    'https://[fd00::1]/',
  ]) {
    const { status, body } = await payer.send('PUT', '/push', {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ endpoint }),
    });
    const { error } = body as { error?: { code: string } };
    assert.deepEqual([status, error?.code], [400, 'url_not_allowed'], endpoint);
  }
});
