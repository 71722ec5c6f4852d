import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { hashTypedData, keccak256, type TypedDataDefinition, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { addressOf, ethereumSignature, recoverKey } from '../src/ethereum/signature.ts';
import { digestOf } from '../src/ethereum/typed-data.ts';
import { CardGone, type Transceive } from '../src/protocols/apdu.ts';
import { readTap, type Tap } from '../src/protocols/read-tap.ts';
import { NO_WALLETS } from '../src/till-settings.ts';
import { haloChip, keycard, keycardCash } from './emulated-chips.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The message that a network requests for address `from`. */
const typedData = {
  domain: {
    name: 'USD Coin',
    version: '2',
    chainId: 31_337,
    verifyingContract: `0x${'a1'.repeat(20)}`,
  },
  types: {
    ReceiveWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  },
  primaryType: 'ReceiveWithAuthorization',
  message: {
    from: `0x${'b2'.repeat(20)}`,
    to: `0x${'c3'.repeat(20)}`,
    value: 2_512_500,
    validAfter: 0,
    validBefore: 1_795_000_000,
    nonce: `0x${'d4'.repeat(32)}`,
  },
};

describe('computations that chips leave to the reader', () => {
  test('the flat parts of the example in EIP-712: its domain, and one of its people', () => {
    const domain = {
      name: 'Ether Mail',
      version: '1',
      chainId: 1,
      verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
    };
    const types = {
      Person: [
        { name: 'name', type: 'string' },
        { name: 'wallet', type: 'address' },
      ],
    };
    const message = { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' };
    // The domain separator and the message hash of EIP-712's own example, Cow.
    const separator = 'f2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f';
    const cow = 'fc71e5fa27ff56c350aa531bc129ebdf613b772b6604664f5d8dbe21b85eb0c8';
    assert.equal(
      toHex(digestOf({ domain, types, primaryType: 'Person', message })),
      keccak256(`0x1901${separator}${cow}`),
    );
  });

  test('300 messages with random fields have the same hash as with viem', () => {
    const hexOf = (bytes: number) => toHex(randomBytes(bytes));
    const texts = ['', 'USD Coin', 'Café ☕', 'a'.repeat(200)];
    for (let round = 0; round < 300; round++) {
      const uint = () => BigInt(hexOf(1 + (round % 32))).toString();
      const random = {
        domain: {
          name: texts[round % texts.length],
          version: String(round),
          chainId: round * 1_000_003,
          verifyingContract: hexOf(20),
          ...(round % 3 === 0 ? { salt: hexOf(32) } : {}),
        },
        types: {
          Mixed: [
            { name: 'a', type: 'address' },
            { name: 'b', type: 'uint256' },
            { name: 'c', type: 'bytes32' },
            { name: 'd', type: 'string' },
            { name: 'e', type: 'uint64' },
          ],
        },
        primaryType: 'Mixed',
        message: {
          a: hexOf(20),
          b: uint(),
          c: hexOf(32),
          d: texts[(round + 1) % texts.length],
          e: Number.MAX_SAFE_INTEGER - round,
        },
      };
      assert.equal(
        toHex(digestOf(random)),
        hashTypedData(random as unknown as TypedDataDefinition),
        JSON.stringify(random),
      );
    }
  });

  test('address and EIP-712 agree with viem', () => {
    assert.equal(
      toHex(digestOf(typedData)),
      hashTypedData(typedData as unknown as TypedDataDefinition),
    );
    for (let round = 0; round < 20; round++) {
      const account = privateKeyToAccount(generatePrivateKey());
      assert.equal(addressOf(Buffer.from(account.publicKey.slice(2), 'hex')), account.address);
    }
  });

  test('a message that is not flat is refused', () => {
    const types = { ReceiveWithAuthorization: [{ name: 'from', type: 'Person' }] };
    assert.throws(() => digestOf({ ...typedData, types }), RangeError);
  });

  test('the public key of a signature is recovered, for the lower s only', async () => {
    for (let round = 0; round < 40; round++) {
      const account = privateKeyToAccount(generatePrivateKey());
      const key = Buffer.from(account.publicKey.slice(2), 'hex');
      const digest = randomBytes(32);
      const expected = await account.sign({ hash: toHex(digest) });
      const r = BigInt(expected.slice(0, 66));
      const s = BigInt(`0x${expected.slice(66, 130)}`);
      assert.equal(ethereumSignature(digest, { r, s }, key), expected);
      assert.equal(ethereumSignature(digest, { r, s: ORDER - s }, key), expected);
      assert.equal(ethereumSignature(randomBytes(32), { r, s }, key), null);
      const isOdd = expected.endsWith('1c');
      assert.deepEqual(recoverKey(digest, { r, s }, isOdd), key);
      assert.notDeepEqual(recoverKey(digest, { r, s }, !isOdd), key);
    }
    const bad = { r: 0n, s: 1n };
    assert.equal(recoverKey(randomBytes(32), bad, true), null);
    assert.equal(ethereumSignature(randomBytes(32), { r: ORDER, s: 1n }, Buffer.alloc(65)), null);
  });
});

const account = privateKeyToAccount(generatePrivateKey());
const CHIPS: readonly (readonly [string, () => Transceive])[] = [
  ['a HaLo chip', () => haloChip(account)],
  ['a Keycard Cash', () => keycardCash(account)],
  ['a Keycard with a path without a PIN', () => keycard(account)],
  ['a newer Keycard', () => keycard(account, { raw: true })],
];

function hold(chip: Transceive, digest: Uint8Array | null): Promise<Tap> {
  return readTap(chip, NO_WALLETS, async () => digest);
}

for (const [name, chip] of CHIPS) {
  test(`${name} signs the given digest, and nothing without one`, async () => {
    const digest = randomBytes(32);
    const tap = await hold(chip(), digest);
    assert.ok(tap.status === 'signed', JSON.stringify(tap));
    const { public_key, r, s } = tap.signed;
    const key = Buffer.from(public_key, 'hex');
    assert.equal(addressOf(key), account.address);
    const parts = { r: BigInt(`0x${r}`), s: BigInt(`0x${s}`) };
    assert.equal(
      ethereumSignature(digest, parts, key),
      await account.sign({ hash: toHex(digest) }),
    );
    assert.deepEqual(await hold(chip(), null), { status: 'nothing_to_sign' });
  });

  test(`${name} is reported as gone if it is removed at any command`, async () => {
    let commands = 0;
    const counted = chip();
    await hold(async (bytes) => {
      commands++;
      return counted(bytes);
    }, randomBytes(32));
    for (let left = 0; left < commands; left++) {
      let sent = 0;
      const leaving = chip();
      const tap = await hold(async (bytes) => {
        if (sent++ === left) throw new CardGone();
        return leaving(bytes);
      }, randomBytes(32));
      assert.deepEqual(tap, { status: 'gone' });
    }
  });
}

test('a Keycard that requires its PIN cannot pay here', async () => {
  const locked = keycard(account, { path: false });
  assert.deepEqual(await hold(locked, randomBytes(32)), { status: 'not_a_payment_card' });
});
