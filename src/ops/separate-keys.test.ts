import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatePrivateKey } from 'viem/accounts';
import { requireSeparateKeys } from '#ops/separate-keys.ts';

const [relayerKey, registrarKey] = [generatePrivateKey(), generatePrivateKey()];
const worker = { relayerKeys: [relayerKey], registrarKey: null };
const registrar = { relayerKeys: [], registrarKey };

test('the keys of operators and registrar are held by different processes', () => {
  assert.match(requireSeparateKeys(worker, registrar), /different keys/);
});

test('a worker with the registrar key is reported, and so is a registrar with relayer keys', () => {
  const both = { relayerKeys: [relayerKey], registrarKey };
  assert.throws(() => requireSeparateKeys(both, registrar), /the worker holds the registrar key/);
  assert.throws(() => requireSeparateKeys(worker, both), /the registrar holds relayer keys/);
});

test('one key with both roles is named', () => {
  const same = { relayerKeys: [], registrarKey: relayerKey };
  assert.throws(() => requireSeparateKeys(worker, same), /also a relayer key/);
});
