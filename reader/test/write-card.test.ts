import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { readSunMessage } from '../../src/core/sun-message.ts';
import { parseCardUrl } from '../../src/payers/card-url.ts';
import { CardGone, type Transceive } from '../src/protocols/apdu.ts';
import { isOriginal } from '../src/protocols/chip-originality.ts';
import { cmac } from '../src/protocols/cmac.ts';
import { authenticate, checksum, SecureSession } from '../src/protocols/ntag424.ts';
import { readTap } from '../src/protocols/read-tap.ts';
import {
  type CardSettings,
  readSettings,
  writeCard as writeCardOf,
} from '../src/protocols/write-card.ts';
import { NO_WALLETS } from '../src/till-settings.ts';
import { emulatedChip, MAKER_KEY, REAL_CHIPS, signUid } from './emulated-ntag424.ts';
import { bankCard, tag } from './emulated-phones.ts';

const hex = (text: string) => Buffer.from(text, 'hex');
const HOME = 'https://pay.example/card/card_01QzXo0KcV5sVQ2pWm8Tn3';

const writeCard = (chip: Transceive, settings: CardSettings) =>
  writeCardOf(chip, settings, MAKER_KEY);

function newSettings(page = HOME): CardSettings {
  return {
    url_template: `${page}?p=${'0'.repeat(32)}&c=${'0'.repeat(16)}`,
    meta_read_key: randomBytes(16).toString('hex'),
    file_read_key: randomBytes(16).toString('hex'),
  };
}

/** Emulates a chip with scripted responses, which checks each command. */
function scripted(...steps: readonly (readonly [command: string, answer: string])[]): Transceive {
  const left = [...steps];
  return async (command) => {
    const [expected, answer] = left.shift() ?? ['', ''];
    assert.equal(Buffer.from(command).toString('hex').toUpperCase(), expected);
    return hex(answer);
  };
}

describe("NXP's examples (AN12196)", () => {
  const keys = {
    id: hex('9D00C4DF'),
    encryption: hex('1309C877509E5A215007FF0ED19CA564'),
    mac: hex('4C6626F5E72EA694202139295C7A7FC7'),
  };
  const changing = {
    id: hex('7614281A'),
    encryption: hex('4CF3CB41A22583A61E89B158D252FC53'),
    mac: hex('5529860B2FC5FB6154B7F28361D30BF9'),
  };

  test('authentication with the key of a new chip, and a command under its keys', async () => {
    const chip = scripted(
      ['9071000002000000', 'A04C124213C186F22399D33AC2A3021591AF'],
      [
        '90AF00002035C3E05A752E0144BAC0DE51C1F22C56B34408A23D8AEA266CAB947EA8E0118D00',
        '3FA64DB5446D1F34CD6EA311167F5E4985B89690C04A05F17FA7AB2F081206639100',
      ],
      // The example writes a file in between, which advances the command counter; an empty write
      // advances it, too.
      ['908D00000702000000000000 00'.replace(' ', ''), '9100'],
      ['905F0000190261B6D97903566E84C3AE5274467E89EAD799B7C1A0EF7A0400', '57BFF87B1241E93D9100'],
    );
    const using = { number: 0, key: new Uint8Array(16) };
    const session = await authenticate(chip, using, hex('13C5DB8A5930439FC3DEF9A4C675360F'));
    assert.ok(session !== null);
    await session.writeData(2, new Uint8Array());
    await session.changeFileSettings(2, hex('4000E0C1F121200000430000430000'));
  });

  test('a response with another MAC than the published one is refused', async () => {
    const chip = scripted([
      '905F0000190261B6D97903566E84C3AE5274467E89EAD799B7C1A0EF7A0400',
      '57BFF87B1241E93E9100',
    ]);
    const session = new SecureSession(chip, keys, 1);
    const settings = hex('4000E0C1F121200000430000430000');
    await assert.rejects(session.changeFileSettings(2, settings), /invalid MAC/);
  });

  test("a key is changed: first another one, then the session's own", async () => {
    const chip = scripted(
      [
        '90C4000029022CF362B7BF4311FF3BE1DAA295E8C68DE09050560D19B9E16C23' +
          '93AE9CD1FAC75D0CE20BCD1D06E600',
        '203BB55D1089D5879100',
      ],
      [
        '90C400002900C0EB4DEEFEDDF0B513A03A95A75491818580503190D4D05053FF' +
          '75668A01D6FDA6610234BDED643200',
        '9100',
      ],
    );
    const session = new SecureSession(chip, changing, 2);
    const to = hex('F3847D627727ED3BC9C4CC050489B966');
    assert.equal(checksum(to).toString('hex'), '789dfadc');
    await session.changeKey(2, { from: new Uint8Array(16), to, version: 1 });
    const own = hex('5004BF991F408672B1EF00F08F9E8647');
    await session.changeOwnKey(0, { to: own, version: 1 });
  });

  test('the MAC of RFC 4493', () => {
    const key = hex('2b7e151628aed2a6abf7158809cf4f3c');
    const message = hex('6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46');
    assert.equal(cmac(key, hex('')).toString('hex'), 'bb1d6929e95937287fa37d129b756746');
    assert.equal(
      cmac(key, message.subarray(0, 16)).toString('hex'),
      '070a16b46b4d4144f79bdd9dd04a287c',
    );
  });
});

describe('signatures of chip makers', () => {
  test('two NXP chips are original; with each other’s signature they are not', () => {
    for (const [at, { uid, signature }] of REAL_CHIPS.entries()) {
      assert.ok(isOriginal(hex(uid), hex(signature)));
      const other = REAL_CHIPS[1 - at]?.signature ?? '';
      assert.ok(!isOriginal(hex(uid), hex(other)));
      const changed = hex(signature);
      changed[at + 27] = (changed[at + 27] ?? 0) ^ 1;
      assert.ok(!isOriginal(hex(uid), changed));
    }
  });

  test('signatures of another maker, of zeros or of another length are invalid', () => {
    for (let round = 0; round < 20; round++) {
      const { uid } = emulatedChip();
      assert.ok(isOriginal(hex(uid), signUid(uid), MAKER_KEY));
      assert.ok(!isOriginal(hex(uid), signUid(uid)));
    }
    const [{ uid, signature }] = REAL_CHIPS;
    for (const bad of ['', '00'.repeat(56), 'ff'.repeat(56), signature.slice(2)]) {
      assert.ok(!isOriginal(hex(uid), hex(bad)));
    }
  });

  test('a chip without a signature, or with another’s, is refused and not changed', async () => {
    for (const signature of [null, signUid('04000000000001')]) {
      const chip = emulatedChip('04000000000002', { signature });
      assert.deepEqual(await writeCard(chip.transceive, newSettings()), { status: 'counterfeit' });
      assert.equal(chip.seen.authenticated, 0);
      assert.equal((await readTap(chip.transceive, NO_WALLETS)).status, 'not_a_payment_card');
    }
  });
});

describe('writing a card', () => {
  test('a blank chip becomes a card that a till reads, with a new message each time', async () => {
    const chip = emulatedChip();
    const settings = newSettings();
    assert.deepEqual(await writeCard(chip.transceive, settings), {
      status: 'written',
      uid: chip.uid,
    });
    const taps = [
      await readTap(chip.transceive, NO_WALLETS),
      await readTap(chip.transceive, NO_WALLETS),
    ];
    const values = taps.map((tap) => (tap.status === 'read' ? tap.credential.value : ''));
    assert.ok(values.every((value) => value.startsWith(`${HOME}?p=`)));
    assert.notEqual(values[0], values[1]);
  });

  test('the same pass again changes nothing; another pass is refused', async () => {
    const chip = emulatedChip();
    const settings = newSettings();
    await writeCard(chip.transceive, settings);
    assert.deepEqual(await writeCard(chip.transceive, settings), {
      status: 'already_written',
      uid: chip.uid,
    });
    const before = await readTap(chip.transceive, NO_WALLETS);
    for (const other of [newSettings(), newSettings(`${HOME}x`)]) {
      assert.deepEqual(await writeCard(chip.transceive, other), { status: 'not_blank' });
    }
    assert.equal((await readTap(chip.transceive, NO_WALLETS)).status, before.status);
  });

  test('any other chip is refused and gets no key', async () => {
    const settings = newSettings();
    const foreign = { status: 'not_a_chip_of_this_kind' };
    assert.deepEqual(await writeCard(bankCard, settings), foreign);
    assert.deepEqual(await writeCard(tag({ address: 'https://a.example/' }), settings), foreign);
  });

  test('a chip with other content or keys is refused and not changed', async () => {
    const zero = { number: 0, key: new Uint8Array(16) };
    const withContent = emulatedChip();
    await writeAddress(withContent.transceive, 'https://menu.example/');
    const withKey = emulatedChip();
    await withKey.transceive(hex('00a4040007d276000085010100'));
    const session = await authenticate(withKey.transceive, zero);
    const to = randomBytes(16);
    await session?.changeKey(3, { from: new Uint8Array(16), to, version: 7 });
    for (const chip of [withContent, withKey]) {
      assert.deepEqual(await writeCard(chip.transceive, newSettings()), { status: 'not_blank' });
      await chip.transceive(hex('00a4040007d276000085010100'));
      assert.notEqual(await authenticate(chip.transceive, zero), null);
    }
    assert.deepEqual(await readTap(withContent.transceive, NO_WALLETS), {
      status: 'not_a_payment_card',
    });
  });

  test('a chip removed at any command is finished when it is held there again', async () => {
    let commands = 0;
    const whole = emulatedChip();
    const settings = newSettings();
    await writeCard((bytes) => {
      commands++;
      return whole.transceive(bytes);
    }, settings);
    assert.ok(commands > 20);
    for (const isAnswerLost of [false, true]) {
      for (let left = 0; left < commands; left++) {
        const chip = emulatedChip();
        let sent = 0;
        const first = await writeCard(async (bytes) => {
          const isLast = sent++ === left;
          if (isLast && isAnswerLost) await chip.transceive(bytes);
          if (isLast) throw new CardGone();
          return chip.transceive(bytes);
        }, settings);
        assert.deepEqual(first, { status: 'gone' });
        const second = await writeCard(chip.transceive, settings);
        assert.match(second.status, /^(already_)?written$/, `command ${left}`);
        assert.equal((await readTap(chip.transceive, NO_WALLETS)).status, 'read');
      }
    }
  });

  test('after a wrong byte in a response, a chip reported as written is written', async () => {
    const settings = newSettings();
    const keys = {
      metaRead: hex(settings.meta_read_key),
      fileRead: hex(settings.file_read_key),
    };
    const ends = new Set<string>();
    for (let round = 0; round < 120; round++) {
      const chip = emulatedChip();
      let sent = 0;
      const { status } = await writeCard(async (bytes) => {
        const answer = Buffer.from(await chip.transceive(bytes));
        if (sent++ !== round % 40) return answer;
        const at = (round * 7) % answer.length;
        answer.writeUInt8(answer.readUInt8(at) ^ 0x55, at);
        return answer;
      }, settings);
      ends.add(status);
      if (status !== 'written') continue;
      const read = await readTap(chip.transceive, NO_WALLETS);
      const parsed = parseCardUrl(read.status === 'read' ? read.credential.value : '');
      const message = parsed && readSunMessage(parsed.message, keys);
      assert.equal(message?.uid, chip.uid, `round ${round}`);
    }
    assert.ok(ends.has('failed') && ends.has('not_blank'));
  });

  test('malformed settings are refused before a command is sent to a card', () => {
    const settings = newSettings();
    for (const broken of [
      { ...settings, url_template: HOME },
      { ...settings, url_template: `ftp://a/${settings.url_template}` },
      { ...settings, url_template: newSettings(`https://${'a'.repeat(200)}/card/x`).url_template },
      { ...settings, meta_read_key: 'ab' },
      { ...settings, file_read_key: 'z'.repeat(32) },
    ]) {
      assert.throws(() => readSettings(broken), RangeError);
    }
  });
});

async function writeAddress(chip: Transceive, address: string): Promise<void> {
  await chip(hex('00a4040007d276000085010100'));
  const payload = Buffer.concat([hex('00'), Buffer.from(address)]);
  const record = Buffer.concat([Buffer.of(0xd1, 1, payload.length, 0x55), payload]);
  const data = Buffer.concat([
    Buffer.of(2, 0, 0, 0, record.length + 2, 0, 0, 0, record.length),
    record,
  ]);
  assert.deepEqual(
    await chip(Buffer.concat([hex('908d0000'), Buffer.of(data.length), data, hex('00')])),
    hex('9100'),
  );
}
