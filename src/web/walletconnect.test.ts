import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import fastify from 'fastify';
import { StartError } from '#core/start-error.ts';
import { readWalletConnectSettings } from '#settings/walletconnect-settings.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { addWalletConnect, walletConnectOf } from '#web/serve-apps.ts';

const ID = '0123456789abcdef'.repeat(2);

function read(projectId: string | null, relayUrl: string | null = null) {
  return readWalletConnectSettings((name) =>
    name === 'WALLETCONNECT_PROJECT_ID' ? projectId : relayUrl,
  );
}

test('only the pages that take payments know a relay, and only if one is set', () => {
  assert.equal(read(null), null);
  assert.equal(walletConnectOf('pay', null), null);
  const settings = read(ID, 'wss://relay.example.com');
  for (const page of ['pay', 'tag']) {
    const meta = `<meta name="walletconnect" content="${ID} wss://relay.example.com">`;
    assert.deepEqual(walletConnectOf(page, settings), { meta, mayAsk: 'wss://relay.example.com' });
  }
  for (const page of ['wallet', 'dashboard', 'receipt', 'terminal']) {
    assert.equal(walletConnectOf(page, settings), null, page);
  }
  assert.equal(read(ID)?.relayUrl, 'wss://relay.walletconnect.org');
});

test('an invalid setting ends the start with one line', () => {
  const wrong: readonly (readonly [string | null, string | null, RegExp])[] = [
    ['x', null, /PROJECT_ID must be 32 hex digits/],
    [ID.toUpperCase(), null, /PROJECT_ID must be 32 hex digits/],
    [null, 'wss://relay.example.com', /RELAY_URL needs WALLETCONNECT_PROJECT_ID/],
    [ID, 'https://relay.example.com', /RELAY_URL must be wss/],
    [ID, 'wss://relay.example.com/path', /RELAY_URL must be wss/],
    [ID, 'relay', /RELAY_URL must be wss/],
  ];
  for (const [id, relay, message] of wrong) {
    assert.throws(() => read(id, relay), message);
  }
});

test('a start without the library says how to build it, and one with it serves it', async (t) => {
  const library = path.join(testFolder(t), 'walletconnect.js');
  const app = fastify();
  await assert.rejects(addWalletConnect(app, library), (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /npm run walletconnect/);
    return true;
  });
  await writeFile(library, 'export const SignClient = 1;');
  await addWalletConnect(app, library);
  const answer = await app.inject('/walletconnect.js');
  assert.match(String(answer.headers['content-type']), /^text\/javascript/);
  assert.equal(answer.body, 'export const SignClient = 1;');
  await app.close();
});
