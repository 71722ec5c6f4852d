import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { present } from '../../src/core/assert.ts';
import { createRandom, type Random } from '../../testkit/fixtures/core/random.ts';
import { ethereumSignature } from '../src/ethereum/signature.ts';
import { CardGone, type Transceive } from '../src/protocols/apdu.ts';
import { createEphemeralKey, openKey, signingKey } from '../src/protocols/p256.ts';
import { collectorWithKey } from '../src/protocols/prove-collector.ts';
import { LONGEST_TAP_MS, readTap, type Wallets } from '../src/protocols/read-tap.ts';
import { cryptogramOf } from '../src/protocols/vas.ts';
import { haloChip, keycard } from './emulated-chips.ts';
import { applePhone, bankCard, googlePhone, tag } from './emulated-phones.ts';

/** Rounds with cards and phones whose bytes are corrupted; the long run has more. */
const ROUNDS = Number(process.env.READER_CONVERSATIONS ?? 2_000);
const COLLECTOR_ID = 20_180_608;
const collectorKey = signingKey(randomBytes(32));
const passKey = createEphemeralKey();
const PASS_TYPE = 'pass.com.example.wallet';
const wallets: Wallets = {
  collector: collectorWithKey({ id: COLLECTOR_ID, keyVersion: 1, privateKey: collectorKey }),
  passType: { identifier: PASS_TYPE, key: passKey },
};
const google = { collectorId: COLLECTOR_ID, collectorKey, value: 'redeem-me' };
const apple = {
  passIdentifier: PASS_TYPE,
  passKey,
  message: 'hello from the pass',
  at: new Date('2026-11-22T12:00:00Z'),
};
const SUN = `https://pay.example/card/card_0123456789abcdef?p=${'A'.repeat(32)}&c=${'B'.repeat(16)}`;

for (const [name, options] of [
  ['a phone', {}],
  ['a phone that compresses', { compressed: true }],
  ['a phone that answers in portions', { portion: 40 }],
  ['an older phone', { old: true }],
] as const) {
  test(`Smart Tap: a pass yields its value from ${name}`, async () => {
    const phone = googlePhone({ ...google, ...options });
    const tapped = await readTap(phone.transceive, wallets);
    assert.equal(tapped.status, 'read');
    assert.equal(tapped.credential.type, 'smart_tap');
    const value = Buffer.from(tapped.credential.value, 'base64url');
    assert.equal(value[0], 1);
    assert.equal(value.subarray(33).toString('utf8'), 'redeem-me');
    assert.ok(phone.seen.signed);
  });
}

test('Smart Tap: two taps of one phone never give the same value', async () => {
  const [first, second] = [
    await readTap(googlePhone(google).transceive, wallets),
    await readTap(googlePhone(google).transceive, wallets),
  ];
  assert.notDeepEqual(first, second);
});

test("Smart Tap: a phone gives no pass to a reader with another network's key", async () => {
  const phone = googlePhone({ ...google, collectorKey: signingKey(randomBytes(32)) });
  assert.equal((await readTap(phone.transceive, wallets)).status, 'unreadable');
  assert.equal(phone.seen.signed, false);
});

test('Smart Tap: a phone without our pass says so', async () => {
  const phone = googlePhone({ ...google, value: null });
  assert.deepEqual(await readTap(phone.transceive, wallets), { status: 'no_pass' });
});

test('VAS: message and time are read from a pass', async () => {
  const tapped = await readTap(applePhone(apple), wallets);
  assert.equal(tapped.status, 'read');
  assert.equal(tapped.credential.type, 'apple_vas');
  const value = Buffer.from(tapped.credential.value, 'base64url');
  assert.equal(value.readUInt32BE(1), Date.parse('2026-11-22T12:00:00Z') / 1000);
  assert.equal(value.subarray(5).toString('utf8'), apple.message);
});

test('VAS: a pass encrypted for another key is not read', async () => {
  const foreign = applePhone({ ...apple, passKey: openKey(randomBytes(32)) });
  assert.equal((await readTap(foreign, wallets)).status, 'unreadable');
});

test('VAS: the response of a published conversation is decoded', (t) => {
  const file = path.join(import.meta.dirname, '../../../shared/third-party/vas-trace.log');
  if (!existsSync(file)) return t.skip('the published trace is not on this machine');
  const answer = /<-- .*data=(70[0-9a-f]+)\(/.exec(readFileSync(file, 'utf8'))?.[1];
  const { keyId, deviceX, sealed } = cryptogramOf(Buffer.from(answer ?? '', 'hex'));
  assert.equal(Buffer.from(keyId).toString('hex'), 'c0b77375');
  assert.match(Buffer.from(deviceX).toString('hex'), /^d3f37956.*038388$/);
  assert.equal(sealed.length, 4 + 22 + 16);
});

test('a SUN card yields its URL, a static chip its pass', async () => {
  assert.deepEqual(await readTap(tag({ address: SUN }), wallets), {
    status: 'read',
    credential: { type: 'nfc_sun', value: SUN },
  });
  const pass = `nfc_${'a'.repeat(30)}`;
  assert.deepEqual(await readTap(tag({ text: pass }), wallets), {
    status: 'read',
    credential: { type: 'nfc_id', value: pass },
  });
});

test('a bank card and a foreign tag are not payment cards', async () => {
  const foreign = tag({ address: 'https://example.com/menu' });
  for (const card of [bankCard, foreign]) {
    assert.deepEqual(await readTap(card, wallets), { status: 'not_a_payment_card' });
  }
});

test('a till without keys reads cards, and reports phones as without a pass', async () => {
  const none: Wallets = { collector: null, passType: null };
  const phone = googlePhone(google).transceive;
  assert.deepEqual(await readTap(phone, none), { status: 'no_pass' });
  assert.deepEqual(await readTap(applePhone(apple), none), { status: 'no_pass' });
  assert.equal((await readTap(tag({ address: SUN }), none)).status, 'read');
});

test('a card that is removed too early is reported, at every command', async () => {
  const cards: readonly (() => Transceive)[] = [
    () => googlePhone({ ...google, portion: 40 }).transceive,
    () => applePhone(apple),
    () => tag({ address: SUN }),
  ];
  for (const card of cards) {
    let commands = 0;
    const counted = card();
    await readTap(async (bytes) => {
      commands++;
      return counted(bytes);
    }, wallets);
    for (let left = 0; left < commands; left++) {
      let sent = 0;
      const leaving = card();
      const tapped = await readTap(async (bytes) => {
        if (sent++ === left) throw new CardGone();
        return leaving(bytes);
      }, wallets);
      assert.deepEqual(tapped, { status: 'gone' });
    }
  }
});

test('a card that stops answering ends the tap, not the till', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const tapped = readTap(() => new Promise<never>(() => {}), wallets);
  t.mock.timers.tick(LONGEST_TAP_MS);
  assert.equal((await tapped).status, 'unreadable');
});

/** Returns bytes that a broken or hostile card might send instead. */
function mutated(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const at = random.below(copy.length);
  const kind = random.below(5);
  if (kind === 0) copy[at] = random.below(256);
  if (kind === 1) return copy.subarray(0, at);
  if (kind === 2) return Uint8Array.from([...copy, ...copy.subarray(at)]);
  if (kind === 3) return Uint8Array.from([...copy.subarray(0, at), ...copy.subarray(at + 1)]);
  if (kind === 4) copy.fill(0xff, at, at + 4);
  return copy;
}

const chip = privateKeyToAccount(generatePrivateKey());
const digest = randomBytes(32);

/** A device, and the only value that its tap may return. */
const DEVICES: readonly (() => readonly [string, Transceive, string])[] = [
  () => ['google', googlePhone(google).transceive, 'redeem-me'],
  () => ['apple', applePhone(apple), apple.message],
  // The network verifies a SUN card's message: its MAC covers every relevant byte.
  () => ['tag', tag({ address: SUN }), ''],
  () => ['halo', haloChip(chip), ''],
  () => ['keycard', keycard(chip), ''],
];

test(`${ROUNDS} conversations with changed bytes: no crash, no wrong value`, async () => {
  const random = createRandom(20_261_122, 'conversations');
  let longestMs = 0;
  let read = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const [name, card, expected] = present(DEVICES[round % DEVICES.length], 'a device')();
    const target = random.below(6);
    let sent = 0;
    const began = performance.now();
    const changed: Transceive = async (bytes) => {
      const answer = await card(bytes);
      return sent++ === target ? mutated(answer, random) : answer;
    };
    const tapped = await readTap(changed, wallets, async () => digest);
    longestMs = Math.max(longestMs, performance.now() - began);
    if (tapped.status === 'signed') {
      const { public_key, r, s } = tapped.signed;
      const parts = { r: BigInt(`0x${r}`), s: BigInt(`0x${s}`) };
      const signature = ethereumSignature(digest, parts, Buffer.from(public_key, 'hex'));
      // Only a signature over the requested digest may be submitted.
      if (signature === null) continue;
      assert.equal(signature, await chip.sign({ hash: toHex(digest) }), `round ${round}: ${name}`);
    }
    if (tapped.status !== 'read' || name === 'tag') continue;
    read++;
    // Irrelevant bytes may change, but the value is either correct or missing.
    const value = Buffer.from(tapped.credential.value, 'base64url').toString('latin1');
    assert.ok(value.endsWith(expected), `round ${round}: ${name} gave a changed value`);
  }
  assert.ok(read > 100, `only ${read} phones were read`);
  assert.ok(longestMs <= LONGEST_TAP_MS, `one took ${longestMs} ms`);
});
