import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { caller } from '#testkit/apis/api-client.ts';
import { signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { signTransfer } from '#testkit/fixtures/payers/sign-transfer.ts';
import { BEHAVIORS } from '#testkit/network/provider-behaviors.ts';
import { PUBLIC_URL } from '#testkit/simulation/chaos/chaos-process.ts';
import { comeToRest } from '#testkit/simulation/invariants/invariants.ts';
import { openRestoreGround, persist, REST_MS } from '#testkit/simulation/restore-ground.ts';

/** Restores behind a node with limited history, and to a moment before a transfer. */

/** Amount that a wallet sends, in atoms. */
const SENT = 2_500_000n;

const world = await openRestoreGround();
after(() => world.close());

describe('the only node returns no logs while the database is restored', () => {
  it('its receipts show what the copy lacks, and payments continue', async () => {
    const { provider } = world.ground.testnet;
    assert.ok(provider !== null);
    provider.behavior = BEHAVIORS['gives no logs']();
    const open = await world.create(0, 'BARE-1');
    const restore = await world.backUp('bare');
    const paid = await world.tap(0, open.body.id, 'tap BARE-1');
    assert.equal(paid.body.status, 'succeeded', JSON.stringify(paid.body));
    await world.pay('BARE-2');
    const row = await restore();
    assert.deepEqual([row.loss_shown, row.payments], [true, 2]);
    const again = await world.tap(1, open.body.id, 'tap BARE-1');
    assert.equal(again.body.payment, paid.body.payment, JSON.stringify(again.body));
    await world.pay('BARE-3');
    for (const order of ['BARE-1', 'BARE-2', 'BARE-3']) {
      assert.equal(await world.settledOnChain(order), 1, order);
    }
    const { db } = world;
    assert.deepEqual(await comeToRest({ db }, { limitMs: REST_MS }), []);
    // Repairs the node, because the other invariants read the token's logs.
    provider.behavior = null;
    await world.comeToRest();
  });
});

describe('a wallet sent USDC in the lost period, and the operator paid the gas', () => {
  it('the same authorization moves nothing again, and the next one is sent', async () => {
    const { outside, ground } = world;
    const { config } = ground.testnet;
    const wallet = await outside.addWallet();
    const to = (await outside.addWallet()).address;
    const { chainId } = config;
    const sign = () => signTransfer(config, wallet, { to, amount: Number(SENT) });
    const owner = async () => {
      const url = new URL(world.nodes[0]?.url ?? '').origin;
      const token = await signInWallet(url, wallet, { chainId, publicUrl: PUBLIC_URL });
      return caller(`${url}/api/payer/v1`, token);
    };
    const send = async (body: object) => {
      const me = await owner();
      return persist(() => me.post('/transfers', body));
    };
    const received = async () => (await outside.usdcOf(to)) - funds;
    const funds = await outside.usdcOf(to);
    const known = await send(await sign());
    assert.equal(known.body.status, 'succeeded', JSON.stringify(known.body));
    const signed = await sign();
    const restore = await world.backUp('transfers');
    assert.equal((await send(signed)).body.status, 'succeeded');
    assert.equal((await send(await sign())).body.status, 'succeeded');
    assert.ok((await restore()).loss_shown);

    assert.equal((await send(signed)).body.status, 'succeeded');
    assert.equal(await received(), SENT * 3n);
    assert.equal((await send(await sign())).body.status, 'succeeded');
    assert.equal(await received(), SENT * 4n);
    await world.comeToRest();
  });
});
