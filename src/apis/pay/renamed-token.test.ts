import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPayGround, summary } from '#testkit/apis/pay-ground.ts';
import { readLink, sign } from '#testkit/apis/pay-links.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { renameToken } from '#testkit/network/token-without-permit.ts';

const ground = openForTests(startPayGround);

test('a wallet pays after the token was renamed while the service ran', async () => {
  const { rpc, config } = ground.world.network;
  const undo = await renameToken({ rpc, usdc: config.usdc }, { name: 'Real USD Coin' });
  try {
    const { token } = await ground.newLink();
    const account = await ground.bare();
    const link = await readLink(ground.server.pay, token, account.address);
    const signed = link.typed_data?.domain as { readonly name?: string };
    assert.equal(signed.name, 'Real USD Coin');
    const paid = await ground.authorize(token, account.address, await sign(account, link));
    assert.equal(summary(paid), '200 succeeded');
  } finally {
    await undo();
  }
});
