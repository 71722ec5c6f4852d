import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedFields, type Pin } from './compare-contract-pins.ts';

const PIN: Pin = {
  chainId: 8453,
  usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  usdcDomain: { name: 'USD Coin', version: '2' },
  settlement: '0x1111111111111111111111111111111111111111',
  feeRate: 125,
};

test('every pinned field is compared, whatever the case of an address', () => {
  const stranger = `0x${'22'.repeat(20)}` as const;
  const cases = [
    [{}, []],
    [{ usdc: PIN.usdc.toLowerCase() as Pin['usdc'] }, []],
    [{ chainId: 1 }, ['chain']],
    [{ usdc: stranger }, ['token']],
    [{ usdcDomain: { name: 'USDC', version: '2' } }, ['token name']],
    [{ usdcDomain: { name: 'USD Coin', version: '1' } }, ['token version']],
    [{ settlement: stranger }, ['receiver']],
    [{ settlement: stranger, chainId: 1 }, ['chain', 'receiver']],
    [{ feeRate: 126 }, ['fees']],
    [{ feeRate: 124 }, []],
    [{ feeRate: undefined }, []],
  ] as const;
  for (const [change, fields] of cases) {
    assert.deepEqual(changedFields(PIN, { ...PIN, ...change }), fields);
  }
});
