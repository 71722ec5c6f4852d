import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type CardKeys, cmac, readSunMessage, writeSunMessage } from '#core/sun-message.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const ZERO_KEYS: CardKeys = { metaRead: Buffer.alloc(16), fileRead: Buffer.alloc(16) };
/** NXP's example (AN12196) of a card message: encrypted PICC data and a MAC. */
const PUBLISHED = {
  piccData: hex('EF963FF7828658A599F3041510671E88'),
  mac: hex('94EED9EE65337086'),
};

describe('the message of an NTAG 424 DNA card', () => {
  test("NXP's published example gives the published UID and counter", () => {
    assert.deepEqual(readSunMessage(PUBLISHED, ZERO_KEYS), { uid: '04DE5F1EACC040', counter: 61 });
  });

  test('the emulated card produces the published message', () => {
    const tap = { uid: '04DE5F1EACC040', counter: 61 };
    assert.deepEqual(writeSunMessage(tap, ZERO_KEYS, hex('DA5CF60941')), PUBLISHED);
  });

  test('a message with any bit changed is refused', () => {
    for (let bit = 0; bit < 8 * 24; bit++) {
      const bytes = Buffer.concat([PUBLISHED.piccData, PUBLISHED.mac]);
      bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      const forged = { piccData: bytes.subarray(0, 16), mac: bytes.subarray(16) };
      assert.equal(readSunMessage(forged, ZERO_KEYS), null, `bit ${bit}`);
    }
  });

  test('a message of another card is refused, whichever of the two keys differs', () => {
    const other = randomBytes(16);
    assert.equal(readSunMessage(PUBLISHED, { ...ZERO_KEYS, metaRead: other }), null);
    assert.equal(readSunMessage(PUBLISHED, { ...ZERO_KEYS, fileRead: other }), null);
  });

  test('a message of any card and count is read back', () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    fc.assert(
      fc.property(
        fc.record({ keys: bytes(32), uid: bytes(7), pad: bytes(5) }),
        fc.integer({ min: 0, max: 0xff_ffff }),
        (random, counter) => {
          const all = Buffer.from(random.keys);
          const keys = { metaRead: all.subarray(0, 16), fileRead: all.subarray(16) };
          const uid = Buffer.from(random.uid).toString('hex').toUpperCase();
          const message = writeSunMessage({ uid, counter }, keys, Buffer.from(random.pad));
          assert.deepEqual(readSunMessage(message, keys), { uid, counter });
        },
      ),
    );
  });
});

describe('AES-CMAC', () => {
  // Test vectors from RFC 4493, section 4.
  const key = hex('2b7e151628aed2a6abf7158809cf4f3c');
  const message = hex(
    `6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
    30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710`.replaceAll(/\s/g, ''),
  );
  for (const [length, mac] of [
    [0, 'bb1d6929e95937287fa37d129b756746'],
    [16, '070a16b46b4d4144f79bdd9dd04a287c'],
    [40, 'dfa66747de9ae63030ca32611497c827'],
    [64, '51f0bebf7e3b9d92fc49741779363cfe'],
  ] as const) {
    test(`computes the MAC of the RFC's example of ${length} bytes`, () => {
      assert.equal(cmac(key, message.subarray(0, length)).toString('hex'), mac);
    });
  }
});
