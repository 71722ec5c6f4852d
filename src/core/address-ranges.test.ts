import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRange, whyRefused } from '#core/address-ranges.ts';
import { cidrs } from '#settings/read-setting.ts';

const READ = {
  '10.0.0.1': '10.0.0.1',
  '10.0.0.0/8': '10.0.0.0/8',
  '0.0.0.0/0': '0.0.0.0/0',
  '2001:DB8:0::1': '2001:db8::1',
  'fd00::/8': 'fd00::/8',
  '::ffff:10.0.0.1': '10.0.0.1',
};

test('full addresses and ranges are read in their normal form', () => {
  for (const [entry, range] of Object.entries(READ)) assert.deepEqual(readRange(entry), { range });
});

/** Entries that programs read differently, with the full forms that the error shows. */
const SHORT: Readonly<Record<string, readonly string[]>> = {
  '1': ['0.0.0.1', '1.0.0.0'],
  '2': ['0.0.0.2', '2.0.0.0'],
  '10.1': ['10.0.0.1', '10.1.0.0'],
  '010.0.0.1': ['8.0.0.1', '10.0.0.1'],
  '0x0a000001': ['10.0.0.1'],
  '0x0A.0.0.1': ['10.0.0.1'],
  '167772161': ['10.0.0.1'],
  '10/8': ['10.0.0.0/8'],
  '192.168/16': ['192.168.0.0/16'],
  '0x0a000000/8': ['10.0.0.0/8'],
  '010.0.0.0/8': ['8.0.0.0/8', '10.0.0.0/8'],
};

for (const [entry, meant] of Object.entries(SHORT)) {
  test(`${entry} is refused with the full form`, () => {
    assert.deepEqual(readRange(entry), { meant });
    assert.ok(whyRefused(meant).endsWith(meant.join(' or ')));
  });
}

test('every setting with a list of addresses refuses a short form', () => {
  for (const name of ['TRUSTED_PROXIES', 'WEBHOOK_ALLOW_CIDRS', 'OPERATOR_ALLOW_CIDRS'] as const) {
    assert.throws(() => cidrs({ [name]: '10.0.0.1, 10/8' }, name), {
      message: `${name}: 10/8 is not a full address or CIDR range: write 10.0.0.0/8`,
    });
    const full = { [name]: '10.0.0.1, fd00::1,10.0.0.0/8' };
    assert.deepEqual(cidrs(full, name), ['10.0.0.1/32', 'fd00::1/128', '10.0.0.0/8']);
  }
});

test('what is no address has no full form', () => {
  for (const entry of [
    '',
    '/',
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/',
    '1.2.3.4.5',
  ]) {
    assert.deepEqual(readRange(entry), { meant: [] }, entry);
  }
  for (const entry of ['300.1.1.1', '10.0.0.0/8/8', '::/129', '::ffff:010.0.0.1', 'fd00::g']) {
    assert.deepEqual(readRange(entry), { meant: [] }, entry);
  }
  assert.equal(whyRefused([]), 'is neither an address nor a CIDR range');
});
