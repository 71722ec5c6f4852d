import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { addressMessage, textMessage } from '../../data/ndef.ts';
import type { Chip } from '../reader/chip-commands.ts';
import type { Read } from '../reader/read-credential.ts';
import { readNfc } from '../reader/read-nfc.ts';
import { readDer } from '../reader/sign-by-chip.ts';
import { haloChip } from './virtual-halo-chip.ts';
import { driverOf, Field, FOUND_MS, type Thing } from './virtual-nfc-field.ts';

const account = privateKeyToAccount(generatePrivateKey());

/**
 * Holds the item up briefly.
 * @returns the items that the code for real readers recognizes.
 */
async function readOnce(thing: Thing): Promise<readonly Read[]> {
  const field = new Field();
  const reads: Read[] = [];
  const end = new AbortController();
  await readNfc((read) => reads.push(read), end.signal, driverOf(field));
  field.hold(thing);
  field.take(thing);
  end.abort();
  return reads;
}

function mutated(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let flips = randomInt(1, 5); flips > 0; flips--) {
    copy[randomInt(copy.length)] = randomInt(256);
  }
  return randomInt(3) === 0 ? copy.subarray(0, randomInt(copy.length)) : copy;
}

test('a pass, a tag, a chip and a bank card are recognized by their bytes', async () => {
  const tag = `https://pay.example.com/t/${'a'.repeat(22)}`;
  const things: readonly (readonly [Thing, Read['is']])[] = [
    [{ message: () => textMessage('nfc_2Yv9AbcExample') }, 'pass'],
    [{ message: () => addressMessage(tag) }, 'tag'],
    [{ message: () => addressMessage('https://shop.example.com/menu') }, 'no_pass'],
    [{ message: () => null }, 'unreadable'],
    [haloChip(account, 'https://example.com/'), 'chip'],
  ];
  for (const [thing, is] of things) {
    const reads = await readOnce(thing);
    assert.deepEqual(
      reads.map((read) => read.is),
      [is],
    );
  }
});

test('older chips list their keys', async () => {
  const key = account.publicKey.slice(2);
  const message = () => addressMessage(`https://example.com/?static=41${key}41${key}00`);
  const [read] = await readOnce({ message });
  assert.ok(read?.is === 'chip' && read.chip.publicKey === key);
});

test('two items in the field disturb each other', async () => {
  const field = new Field();
  const reads: Read[] = [];
  field.hold({ message: () => textMessage('nfc_2Yv9AbcExample') });
  await readNfc((read) => reads.push(read), new AbortController().signal, driverOf(field));
  await new Promise((resolve) => setTimeout(resolve, 2 * FOUND_MS));
  field.hold({ message: () => textMessage('nfc_another0Example') });
  assert.deepEqual(
    reads.map(({ is }) => is),
    ['pass', 'unreadable'],
  );
});

test('10,000 mutated messages are read without a fault', async () => {
  const messages = [
    textMessage('nfc_2Yv9AbcExample'),
    addressMessage('https://pay.example.com/card/card_1?p=00&c=11'),
    addressMessage(`https://example.com/?pk1=${account.publicKey.slice(2)}`),
  ];
  for (let round = 0; round < 10_000; round++) {
    const bytes = mutated(messages[round % messages.length] ?? new Uint8Array());
    assert.equal((await readOnce({ message: () => bytes })).length, 1);
  }
});

test('10,000 mutated signatures of a chip are a signature, or refused by one error', async () => {
  const digest = randomBytes(32);
  const chip = await chipOf(haloChip(account, 'https://example.com/'));
  const der = await chip.sign(digest, AbortSignal.timeout(5_000));
  assert.ok(readDer(der).r > 0n);
  for (let round = 0; round < 10_000; round++) {
    try {
      readDer(mutated(der));
    } catch (error) {
      assert.ok(error instanceof RangeError, String(error));
    }
  }
});

test('a high s of a signature is replaced by the low one', () => {
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const high = Buffer.from((ORDER - 5n).toString(16), 'hex');
  const both = Buffer.concat([Buffer.from([2, 1, 9, 2, 33, 0]), high]);
  const der = Uint8Array.from([0x30, both.length, ...both]);
  assert.deepEqual(readDer(der), { r: 9n, s: 5n });
});

/** Puts an item into the field and returns the chip that the readers' code finds. */
async function chipOf(thing: Thing): Promise<Chip> {
  const field = new Field();
  field.hold(thing);
  const signal = AbortSignal.timeout(5_000);
  return new Promise((resolve) => {
    const onRead = (read: Read) => {
      if (read.is === 'chip') resolve(read.chip);
    };
    void readNfc(onRead, signal, driverOf(field));
  });
}
