import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatePrivateKey } from 'viem/accounts';
import { describeKeysApart } from '#ops/keys-apart.ts';

const [relayerKey, registrarKey] = [generatePrivateKey(), generatePrivateKey()];
const worker = { relayerKeys: [relayerKey], registrarKey: null };
const registrar = { relayerKeys: [], registrarKey };

test('the keys of operators and registrar are in different processes', () => {
  assert.match(describeKeysApart(worker, registrar), /different keys/);
});

test('a worker that holds the registrar key, and a registrar with relayer keys, are named', () => {
  const both = { relayerKeys: [relayerKey], registrarKey };
  assert.throws(() => describeKeysApart(both, registrar), /the worker holds the registrar key/);
  assert.throws(() => describeKeysApart(worker, both), /the registrar holds relayer keys/);
});

test('one key of both roles is named', () => {
  const same = { relayerKeys: [], registrarKey: relayerKey };
  assert.throws(() => describeKeysApart(worker, same), /also a relayer key/);
});
