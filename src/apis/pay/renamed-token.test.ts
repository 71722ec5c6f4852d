import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PayGround, startPayGround, summary } from '#testkit/apis/pay-ground.ts';
import { readLink, sign } from '#testkit/apis/pay-links.ts';
import { renameToken } from '#testkit/network/token-without-permit.ts';

let ground: PayGround;

before(async () => {
  ground = await startPayGround();
});

after(() => ground.close());

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
