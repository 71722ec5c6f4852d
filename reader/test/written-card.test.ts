import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type StoreServer, serveStore } from '../../testkit/apis/store-server.ts';
import { newWallet, signInWallet } from '../../testkit/apis/wallet-sign-in.ts';
import { FakeClock } from '../../testkit/fixtures/core/fake-clock.ts';
import { testFolder } from '../../testkit/fixtures/core/test-folder.ts';
import {
  addIntent,
  keepSettling,
  openStore,
  type TestStore,
} from '../../testkit/fixtures/payments/store.ts';
import { type CardSettings, readTap, writeCard } from '../src/index.ts';
import { NO_WALLETS } from '../src/till-settings.ts';
import { emulatedChip, MAKER_KEY } from './emulated-ntag424.ts';

const clock = new FakeClock();
const BIN = path.join(import.meta.dirname, '../../reader/bin/tapline-reader.js');
let store: TestStore;
let server: StoreServer;
let settling: { stop(): Promise<void> };

before(async () => {
  store = await openStore({ clock });
  server = await serveStore(store);
  settling = keepSettling(store);
});

after(async () => {
  await settling.stop();
  await server.close();
  await store.close();
});

test('a written chip pays for its wallet, each message once', async () => {
  const me = server.payer(await signInWallet(server.url, newWallet(), { now: clock.now() }));
  const { body: card } = await me.post('/cards', { label: 'Ring' });
  const chip = emulatedChip();
  const written = await writeCard(chip.transceive, card as unknown as CardSettings, MAKER_KEY);
  assert.deepEqual(written, { status: 'written', uid: chip.uid });
  const tap = await readTap(chip.transceive, NO_WALLETS);
  assert.ok(tap.status === 'read');
  const { credential } = tap;
  const pay = async () => {
    const path = `/payment_intents/${await addIntent(store)}/tap`;
    return (await server.device().post(path, { credential })).body;
  };
  const paid = await pay();
  assert.equal(paid.status, 'succeeded', JSON.stringify(paid));
  const again = (await pay()).last_payment_error as { decline_code: string } | null;
  assert.equal(again?.decline_code, 'pass_replayed');
});

async function runWrite(input: { fd: number } | { text: string }) {
  const stdin = 'fd' in input ? input.fd : 'pipe';
  const socket = ['--socket', '/nowhere/pcscd'];
  const child = spawn(process.execPath, [BIN, 'cards', 'write', ...socket], {
    stdio: [stdin, 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  if ('text' in input) child.stdin?.end(input.text);
  const [code] = await once(child, 'close');
  return { code, said };
}

test('the command accepts no file, and no text other than card settings', async (t) => {
  const folder = testFolder(t);
  const key = randomBytes(16).toString('hex');
  await writeFile(path.join(folder, 'card.json'), JSON.stringify({ meta_read_key: key }));
  const file = await open(path.join(folder, 'card.json'));
  try {
    const fromFile = await runWrite({ fd: file.fd });
    assert.equal(fromFile.code, 1);
    assert.match(fromFile.said, /not read from a file/);
    const wrong = await runWrite({ text: `{"url_template":"x","meta_read_key":"${key}"}\n` });
    assert.equal(wrong.code, 1);
    assert.match(wrong.said, /Copy "For tapline-reader"/);
    assert.ok(!wrong.said.includes(key));
  } finally {
    await file.close();
  }
});
