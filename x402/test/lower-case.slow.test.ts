import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { decodePaymentResponseHeader } from '@x402/fetch';
import { getAddress } from 'viem';
import { type OutsideChain, startOutsideChain } from '../../testkit/apis/outside-chain.ts';
import { startSharedSandbox } from '../../testkit/network/shared-sandbox.ts';
import { openX402Ground, payingFetch, type X402Ground } from './x402-ground.ts';

/**
 * A network configured with lower-case addresses, as block explorers and scripts often print them.
 */

const CHAIN_ID = 41_107;
const PRICE = 2_500_000;
const FUNDS = 10_000_000n;

let chain: OutsideChain;
let ground: X402Ground;

before(async () => {
  chain = await startOutsideChain({ chainId: CHAIN_ID, token: 'test' });
  const { env, settlement } = await chain.deploySettlement();
  const small = {
    CHAIN_TESTNET_USDC: chain.usdc.toLowerCase(),
    CHAIN_TESTNET_SETTLEMENT: settlement.toLowerCase(),
  };
  assert.notEqual(small.CHAIN_TESTNET_USDC, getAddress(chain.usdc));
  ground = await openX402Ground(await startSharedSandbox({ ...env, ...small }));
});

after(async () => {
  await ground?.close();
  await chain?.stop();
});

test('an x402 payment settles where the token is set in lower case', async () => {
  const { usdc, settlement } = ground.shared.sandbox.test;
  assert.deepEqual(
    [usdc, settlement],
    [usdc, settlement].map((one) => getAddress(one)),
  );
  const shop = await ground.openShop(PRICE);
  const buyer = await ground.newBuyer(FUNDS);
  const before = await ground.merchantReceived();
  const response = await payingFetch(ground, buyer)(shop);
  assert.equal(response.status, 200, await response.clone().text());
  const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '');
  assert.equal(receipt.success, true);
  assert.equal(await ground.merchantReceived(), before + BigInt(PRICE));
});

test('a client that writes the asset in lower case pays as well', async () => {
  const buyer = await ground.newBuyer(FUNDS);
  const requirements = ground.facilitator.requirements({ price: PRICE, resource: '/tea' });
  const small = { ...requirements, asset: requirements.asset.toLowerCase() };
  assert.notEqual(small.asset, requirements.asset);
  const { extra, amount } = requirements;
  const now = Math.floor(Date.now() / 1000);
  const message = {
    ...{ from: buyer.address, to: ground.bridge.address, value: BigInt(amount) },
    ...{ validAfter: 0n, validBefore: BigInt(now + 60), nonce: `0x${'5a'.repeat(32)}` as const },
  };
  const field = (name: string, type: string) => ({ name, type });
  const signature = await buyer.signTypedData({
    domain: {
      ...{ name: String(extra.name), version: String(extra.version), chainId: CHAIN_ID },
      verifyingContract: getAddress(small.asset),
    },
    types: {
      TransferWithAuthorization: [
        ...['from', 'to'].map((name) => field(name, 'address')),
        ...['value', 'validAfter', 'validBefore'].map((name) => field(name, 'uint256')),
        field('nonce', 'bytes32'),
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const text = Object.entries(message).map(([name, value]) => [name, String(value)]);
  const authorization = Object.fromEntries(text);
  const payload = { x402Version: 2, accepted: small, payload: { authorization, signature } };
  const verified = await ground.facilitator.verify(payload as never, small);
  assert.equal(verified.isValid, true, JSON.stringify(verified));
});
