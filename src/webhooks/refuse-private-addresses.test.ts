import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addressPolicy, canonicalAddress } from '#webhooks/refuse-private-addresses.ts';
import { SPECIAL_IPV4, SPECIAL_IPV6 } from '#webhooks/special-addresses.ts';

const strict = addressPolicy([]);
const local = addressPolicy(['127.0.0.0/8', 'fd00::/8', '192.168.7.9']);

describe('the addresses to which webhooks may be sent', () => {
  test('every block of the registries is refused, at its first address', () => {
    const blocks = [...SPECIAL_IPV4, ...SPECIAL_IPV6];
    assert.ok(blocks.length >= 32);
    for (const { cidr } of blocks) {
      const [first = ''] = cidr.split('/');
      assert.notEqual(strict.refusalOf(first), null, cidr);
    }
  });

  test('the last address of a block is refused and the one after it is not', () => {
    for (const [last, next] of [
      ['10.255.255.255', '11.0.0.0'],
      ['100.127.255.255', '100.128.0.0'],
      ['169.254.255.255', '169.255.0.0'],
      ['172.31.255.255', '172.32.0.0'],
      ['198.19.255.255', '198.20.0.0'],
      ['2001:1ff:ffff::', '2001:200::1'],
      ['3fff:fff::1', '2fff::1'],
    ] as const) {
      assert.notEqual(strict.refusalOf(last), null, last);
      assert.equal(strict.refusalOf(next), null, next);
    }
  });

  test('public addresses of both families are allowed', () => {
    for (const address of ['93.184.216.34', '1.1.1.1', '2606:4700::1111', '2a00:1450:4001::5']) {
      assert.equal(strict.refusalOf(address), null, address);
    }
  });

  test('a private IPv4 address is refused in every IPv6 notation', () => {
    for (const address of [
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:10.1.2.3',
      '::ffff:169.254.169.254',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
      '64:ff9b::a9fe:a9fe',
      '2002:7f00:1::',
      '2002:0a00:0001::1',
      // Teredo stores the client's address, 192.168.1.1, inverted.
      '2001:0:4136:e378:8000:63bf:3f57:fefe',
    ]) {
      assert.notEqual(strict.refusalOf(address), null, address);
    }
  });

  test('a public IPv4 address behind NAT64 is allowed, as IPv6-only hosts need it', () => {
    assert.equal(strict.refusalOf('64:ff9b::5db8:d822'), null);
  });

  test('IPv6 outside 2000::/3 is refused even if no registry names it', () => {
    for (const address of ['4000::1', '::7f00:1', 'a000::1', 'fec0::1']) {
      assert.notEqual(strict.refusalOf(address), null, address);
    }
  });

  test('zones, names and nonsense are refused', () => {
    for (const text of ['fe80::1%eth0', 'localhost', '', '127.1', '1.2.3.4.5']) {
      assert.notEqual(strict.refusalOf(text), null, text);
    }
  });

  test('an exempt range opens its addresses, even in mapped form, and nothing else', () => {
    for (const address of [
      '127.0.0.1',
      '127.9.9.9',
      '::ffff:127.0.0.1',
      'fd12::1',
      '192.168.7.9',
    ]) {
      assert.equal(local.refusalOf(address), null, address);
    }
    for (const address of ['10.0.0.1', '192.168.7.8', 'fc00::1', '::1', '2002:7f00:1::']) {
      assert.notEqual(local.refusalOf(address), null, address);
    }
  });

  test('an invalid range is refused by its text', () => {
    for (const cidr of ['127.0.0.0/33', 'localhost', '10.0.0.0/', '::/129', '10.0.0.0/a']) {
      assert.throws(() => addressPolicy([cidr]), RangeError, cidr);
    }
  });

  test('two notations of one address compare equal', () => {
    assert.equal(canonicalAddress('::ffff:127.0.0.1'), '127.0.0.1');
    assert.equal(canonicalAddress('2001:DB8:0:0::1'), canonicalAddress('2001:db8::1'));
    assert.equal(canonicalAddress('fe80::1%eth0'), 'fe80::1');
  });
});
