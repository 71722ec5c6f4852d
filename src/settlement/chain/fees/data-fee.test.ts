import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dataFees } from '#settlement/chain/fees/data-fee.ts';
import { profileNamed } from '#settlement/chain-profiles.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';

const ORACLE = '0x420000000000000000000000000000000000000F';
/** EVM code that returns the first word after the selector, multiplied by a thousand. */
const TIMES_1000 = '0x6004356103e80260005260206000f3';

let network: TestNetwork;

before(async () => {
  network = await startTestNetwork();
});

after(() => network.stop());

const chainOf = (profile: 'base' | 'custom') => ({
  ...network.chain,
  config: { ...network.chain.config, profile: profileNamed(profile) },
});

test('a chain that publishes its transactions on another chain reports the cost', async () => {
  assert.deepEqual(await dataFees(chainOf('base'), [1, 2]), [0n, 0n], 'no such contract');
  await network.rpc.call('anvil_setCode', [ORACLE, TIMES_1000]);
  assert.deepEqual(await dataFees(chainOf('base'), [420, 9_924]), [420_000n, 9_924_000n]);
  assert.deepEqual(await dataFees(chainOf('custom'), [420]), [0n]);
});
