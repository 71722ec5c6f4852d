import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import {
  collectorWithKey,
  openKey,
  PCSCD_SOCKET,
  type ReaderEvent,
  readTap,
  signingKey,
  watchReaders,
} from '../../reader/src/index.ts';
import { emulatedChip, REAL_CHIPS } from '../../reader/test/emulated-ntag424.ts';
import { applePhone, bankCard, googlePhone, tag } from '../../reader/test/emulated-phones.ts';
import { insertCard } from '../../reader/test/virtual-card.ts';

/**
 * The reader on the real PC/SC service, with cards in a virtual reader. Needs Debian's packages
 * `pcscd` and `vsmartcard-vpcd`; without them the tests are skipped with that reason.
 */
const PCSCD = '/usr/sbin/pcscd';
const VPCD_SETTINGS = '/etc/reader.conf.d/vpcd';
const VPCD_PORT = 0x8c7b;
const BIN = path.join(import.meta.dirname, '../../reader/bin/tapline-reader.js');
const TILL_PORT = 4250;
const missing = !existsSync(PCSCD) || !existsSync(VPCD_SETTINGS);
const skip = missing && 'pcscd and vsmartcard-vpcd are not installed';

const collectorKey = signingKey(randomBytes(32));
const passKey = openKey(randomBytes(32));
const end = new AbortController();
const events: ReaderEvent[] = [];
let wake = () => {};
let watching: Promise<void>;

function startService() {
  const child = spawn(PCSCD, ['--foreground'], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill();
    await ended;
  };
  return { stop };
}

let running: { stop(): Promise<void> } | null = null;

before(async () => {
  if (missing) return;
  await mkdir('/run/pcscd', { recursive: true });
  running = startService();
  const passType = { identifier: 'pass.com.example.wallet', key: passKey };
  const collector = collectorWithKey({ id: 7, keyVersion: 1, privateKey: collectorKey });
  watching = watchReaders({
    socket: PCSCD_SOCKET,
    wallets: () => ({ collector, passType }),
    signal: end.signal,
    onEvent: (event) => {
      events.push(event);
      wake();
    },
  });
  await until((event) => event.status === 'ready');
});

after(async () => {
  end.abort();
  await watching;
  await running?.stop();
});

async function until(expected: (event: ReaderEvent) => boolean): Promise<ReaderEvent> {
  for (;;) {
    const event = events.shift();
    if (event !== undefined && expected(event)) return event;
    if (event !== undefined) continue;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

async function hold(card: Parameters<typeof insertCard>[1]) {
  const inserted = await insertCard(VPCD_PORT, card);
  const event = await until(({ status }) => status === 'tapped');
  inserted.remove();
  assert.ok(event.status === 'tapped');
  return event.tap;
}

test('phones and cards are read through the PC/SC service, one after the other', {
  skip,
}, async () => {
  const google = googlePhone({ collectorId: 7, collectorKey, value: 'redeem', portion: 60 });
  const apple = {
    passIdentifier: 'pass.com.example.wallet',
    passKey,
    message: 'm',
    at: new Date(),
  };
  for (const [card, type] of [
    [google.transceive, 'smart_tap'],
    [applePhone(apple), 'apple_vas'],
    [tag({ text: `nfc_${'a'.repeat(30)}` }), 'nfc_id'],
  ] as const) {
    const tap = await hold(card);
    assert.ok(tap.status === 'read' && tap.credential.type === type, JSON.stringify(tap.status));
  }
  assert.deepEqual(await hold(bankCard), { status: 'not_a_payment_card' });
});

test('a service that ends is waited for, and the next card is read', { skip }, async () => {
  await running?.stop();
  await until(({ status }) => status === 'no_reader');
  running = startService();
  await until(({ status }) => status === 'ready');
  const tap = await hold(tag({ text: `nfc_${'b'.repeat(30)}` }));
  assert.equal(tap.status, 'read');
});

/** Starts the program as a user does; resolves when it reports that it is ready. */
async function startProgram(args: readonly string[], ready: string) {
  const child = spawn(process.execPath, [BIN, ...args, '--json'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  const told = (word: string) =>
    new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk) => {
        said += chunk;
        if (said.includes(word)) resolve();
      });
    });
  const isReady = told(ready);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, isReady, ended, said: () => said };
}

test('cards write turns a blank chip into a card, which is then read', {
  skip,
}, async () => {
  const settings = {
    url_template: `https://pay.example/card/card_1?p=${'0'.repeat(32)}&c=${'0'.repeat(16)}`,
    meta_read_key: randomBytes(16).toString('hex'),
    file_read_key: randomBytes(16).toString('hex'),
  };
  // Stops the first program, because two programs that use one card would disturb each other.
  end.abort();
  await watching;
  const program = await startProgram(['cards', 'write'], '"ready"');
  program.child.stdin.write(`${JSON.stringify(settings)}\n`);
  await program.isReady;
  // A chip with NXP's real signature, which the program requires.
  const { uid, signature } = REAL_CHIPS[0];
  const chip = emulatedChip(uid, { signature: Buffer.from(signature, 'hex') });
  const inserted = await insertCard(VPCD_PORT, chip.transceive);
  assert.equal(await program.ended, 0);
  assert.ok(program.said().includes(`{"status":"written","uid":"${chip.uid}"}`));
  assert.ok(!program.said().includes(settings.file_read_key));
  inserted.remove();
  const tap = await readTap(chip.transceive, { collector: null, passType: null });
  assert.ok(tap.status === 'read' && tap.credential.type === 'nfc_sun');
});

test('--till passes what the reader reads to the till on this computer', { skip }, async () => {
  const folder = testFolder();
  const config = path.join(folder, 'till.json');
  const origin = 'http://127.0.0.1:4242';
  const pairing = ['--server', origin, '--pair', 'ABCD-2345', '--config', config];
  const args = ['--till', '--port', String(TILL_PORT), ...pairing];
  const program = await startProgram(args, '"ready"');
  await program.isReady;
  const till = new WebSocket(`ws://127.0.0.1:${TILL_PORT}/till`, { origin });
  const heard: string[] = [];
  const tapped = new Promise<void>((resolve) => {
    till.on('message', (data) => {
      heard.push(String(data));
      if (String(data).includes('"tapped"')) resolve();
    });
  });
  till.once('open', () => till.send(JSON.stringify({ code: 'ABCD-2345' })));
  await new Promise<void>((resolve) => till.once('message', () => resolve()));
  const pass = `nfc_${'c'.repeat(30)}`;
  const inserted = await insertCard(VPCD_PORT, tag({ text: pass }));
  await tapped;
  inserted.remove();
  assert.ok(heard.at(-1)?.includes(pass));
  assert.ok(!program.said().includes(pass), 'the program prints no credential');
  till.close();
  program.child.kill();
  assert.equal(await program.ended, 0);
});
