import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { x402Client } from '@x402/core/client';
import type { PaymentRequirements } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type Listening, listen } from '../../testkit/network/listen.ts';
import { type Facilitator, routesOf, type Settled, serverOf } from '../src/index.ts';
import {
  identifiedBy,
  openX402Ground,
  payingFetch,
  settleAt,
  type X402Ground,
} from './x402-ground.ts';

/** One payment that is presented many times buys one thing. */

const PRICE = 1_000_000;
const TOTAL = BigInt(PRICE + 3_000 + 2_000 - 500);
const FUNDS = 10_000_000n;
const HASH = /^0x[0-9a-f]{64}$/;
/** Enough for two blocks on a busy machine. */
const WITHIN_MS = 60_000;

let ground: X402Ground;
/** Two facilitators of one merchant, each a process of its own. */
let pair: readonly Listening[];

async function serve(facilitator: Facilitator): Promise<Listening> {
  return listen(serverOf(routesOf(facilitator)));
}

before(async () => {
  ground = await openX402Ground();
  pair = [await serve(ground.facilitator), await serve(await ground.another())];
});

after(async () => {
  await Promise.all((pair ?? []).map((one) => one.close()));
  await ground?.close();
});

interface Signed {
  readonly payload: object;
  readonly requirements: PaymentRequirements;
}

/** Signs a payment with the real package. Each call has another nonce. */
async function sign(buyer: PrivateKeyAccount, resource: string, id?: string): Promise<Signed> {
  const offer = ground.facilitator.requirements({ price: PRICE, resource });
  const requirements = { ...offer, maxTimeoutSeconds: 600 } as PaymentRequirements;
  const { network, asset } = requirements;
  const client = x402Client.fromConfig({
    schemes: [{ network, client: new ExactEvmScheme(buyer) }],
    spendControls: { allowedAssets: [{ network, asset }] },
  });
  const payload = await client.createPaymentPayload({
    x402Version: 2,
    resource: { url: resource },
    accepts: [requirements],
  });
  const named = id === undefined ? {} : { extensions: identifiedBy(id) };
  return { payload: { ...payload, ...named }, requirements };
}

let resources = 0;
const newResource = () => `https://shop.test/duplicates/${++resources}`;

const urlOf = (index: number) => pair[index % 2]?.url ?? '';

/** Settles again while the result is unknown. */
async function settled(ask: () => Promise<Settled>): Promise<Settled> {
  const until = Date.now() + WITHIN_MS;
  for (;;) {
    const answer = await ask();
    if (answer.errorReason !== 'settlement_pending' || Date.now() > until) return answer;
    await sleep(200);
  }
}

describe('twenty requests at once with one signature', () => {
  test('are one success; the others get 409 with its hash and payment intent', async () => {
    const buyer = await ground.newBuyer(FUNDS);
    const before = await ground.merchantReceived();
    const signed = await sign(buyer, newResource());
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => settleAt(urlOf(index), signed)),
    );
    const [paid, ...more] = answers.filter(({ success }) => success);
    assert.ok(paid !== undefined && more.length === 0, JSON.stringify(answers));
    assert.match(paid.transaction, HASH);
    const restarted = await serve(await ground.another());
    answers.push(await settleAt(restarted.url, signed), await settleAt(urlOf(0), signed));
    await restarted.close();
    for (const answer of answers.filter(({ success }) => !success)) {
      assert.equal(answer.status, 409);
      assert.equal(answer.errorReason, 'duplicate_settlement');
      assert.equal(answer.transaction, paid.transaction);
      assert.deepEqual(answer.extra, paid.extra);
      assert.equal(answer.network, paid.network);
      assert.ok(answer.errorMessage?.includes(String(paid.extra?.paymentIntent)));
      assert.doesNotMatch(answer.errorMessage ?? '', /\bnew\b|sign/);
    }
    assert.equal(await ground.usdcOf(buyer.address), FUNDS - TOTAL);
    assert.equal(await ground.merchantReceived(), before + BigInt(PRICE));
  });

  test('buy one thing from a paywall, whose other answers ask for no payment', async () => {
    const shop = await ground.openShop(PRICE);
    const buyer = await ground.newBuyer(FUNDS);
    let header = '';
    const first = await payingFetch(ground, buyer, async (request) => {
      header = request.headers.get('PAYMENT-SIGNATURE') ?? '';
      if (header === '') return fetch(request);
      const headers = { 'PAYMENT-SIGNATURE': header };
      const all = await Promise.all(Array.from({ length: 20 }, () => fetch(shop, { headers })));
      const [paid, ...more] = all.filter(({ status }) => status === 200);
      assert.ok(paid !== undefined && more.length === 0, all.map(({ status }) => status).join());
      for (const one of all.filter((response) => response !== paid)) {
        assert.equal(one.status, 409);
        assert.equal(one.headers.get('PAYMENT-REQUIRED'), null);
        const body = (await one.json()) as Record<string, string>;
        assert.equal(body.error, 'duplicate_settlement');
        assert.match(String(body.transaction), HASH);
        assert.match(String(body.payment_intent), /^pi_/);
      }
      return paid;
    })(shop);
    assert.equal(first.status, 200);
    assert.equal(await ground.usdcOf(buyer.address), FUNDS - TOTAL);
  });
});

test('a pending settlement names its transaction; its caller gets the result once', async () => {
  const hasty = await ground.another({ waitMs: 0 });
  const buyer = await ground.newBuyer(FUNDS);
  const { payload, requirements } = await sign(buyer, newResource());
  const ask = () => hasty.settle(payload, requirements);
  const first = await ask();
  assert.equal(first.errorReason, 'settlement_pending');
  assert.match(first.transaction, HASH);
  assert.equal(first.network, hasty.network);
  const paid = await settled(ask);
  assert.equal(paid.success, true, JSON.stringify(paid));
  assert.equal(paid.transaction, first.transaction);
  assert.equal((await ask()).errorReason, 'duplicate_settlement');
});

for (const named of ['payment-identifier', 'Idempotency-Key'] as const) {
  describe(`a purchase named by ${named}`, () => {
    const naming = () => {
      const id = `order_${randomUUID()}`;
      const isKey = named === 'Idempotency-Key';
      return { id: isKey ? undefined : id, headers: isKey ? { 'Idempotency-Key': id } : {} };
    };

    test('is told to everyone who names it, also after a restart', async () => {
      const { id, headers } = naming();
      const buyer = await ground.newBuyer(FUNDS);
      const signed = await sign(buyer, newResource(), id);
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) => settleAt(urlOf(index), signed, headers)),
      );
      const restarted = await serve(await ground.another());
      answers.push(await settleAt(restarted.url, signed, headers));
      await restarted.close();
      const [first] = answers;
      assert.equal(first?.success, true, JSON.stringify(first));
      for (const answer of answers) assert.deepEqual(answer, first);
      assert.equal(await ground.usdcOf(buyer.address), FUNDS - TOTAL);
    });

    test('costs nothing more when the client signs again, at either facilitator', async () => {
      const { id, headers } = naming();
      const key = headers['Idempotency-Key'];
      const resource = newResource();
      const hasty = await ground.another({ waitMs: 0 });
      const buyer = await ground.newBuyer(FUNDS);
      const one = await sign(buyer, resource, id);
      const two = await sign(buyer, resource, id);
      const first = await hasty.settle(one.payload, one.requirements, { key });
      assert.equal(first.errorReason, 'settlement_pending');
      const again = await hasty.settle(two.payload, two.requirements, { key });
      if (!again.success) assert.equal(again.transaction, first.transaction);
      const { isValid } = await hasty.verify(two.payload, two.requirements, { key });
      assert.equal(isValid, true);
      const elsewhere = await settled(() => settleAt(urlOf(0), two, headers));
      const here = await settled(() => hasty.settle(one.payload, one.requirements, { key }));
      assert.equal(elsewhere.success, true, JSON.stringify(elsewhere));
      assert.equal(elsewhere.transaction, first.transaction);
      assert.equal(here.transaction, first.transaction);
      assert.equal(await ground.usdcOf(buyer.address), FUNDS - TOTAL);
    });

    test('is not another purchase under the same name', async () => {
      const { id, headers } = naming();
      const buyer = await ground.newBuyer(FUNDS);
      const first = await settled(async () =>
        settleAt(urlOf(0), await sign(buyer, newResource(), id), headers),
      );
      const other = await settleAt(urlOf(1), await sign(buyer, newResource(), id), headers);
      assert.equal(first.success, true, JSON.stringify(first));
      assert.deepEqual([other.status, other.errorReason], [409, 'duplicate_settlement']);
      assert.equal(other.transaction, first.transaction);
      assert.equal(await ground.usdcOf(buyer.address), FUNDS - TOTAL);
    });
  });
}

test('a purchase that failed is charged when its client signs again', async () => {
  const id = randomUUID();
  const resource = newResource();
  const buyer = await ground.newBuyer(FUNDS);
  await ground.limitBridge(PRICE - 1);
  const failing = await sign(buyer, resource, id);
  const failed = await settled(() => settleAt(urlOf(0), failing));
  await ground.limitBridge(null);
  assert.equal(failed.errorReason, 'limit_exceeded');
  assert.match(failed.errorMessage ?? '', /The money was refunded/);
  const paid = await settled(async () => settleAt(urlOf(1), await sign(buyer, resource, id)));
  assert.equal(paid.success, true, JSON.stringify(paid));
  // The failed signature gets the result of its name, too.
  assert.equal((await settleAt(urlOf(0), failing)).transaction, paid.transaction);
  assert.equal(await ground.usdcOf(buyer.address), FUNDS - TOTAL);
});

test('a name is 16 to 128 letters, digits, hyphens and underscores', async () => {
  const buyer = await ground.newBuyer(FUNDS);
  for (const id of ['a'.repeat(15), 'a'.repeat(129), `${'a'.repeat(16)} `, `${'a'.repeat(15)}é`]) {
    const answer = await settleAt(urlOf(0), await sign(buyer, newResource(), id));
    assert.equal(answer.errorReason, 'invalid_payload', id);
  }
  assert.deepEqual((ground.facilitator.supported() as { extensions: string[] }).extensions, [
    'payment-identifier',
  ]);
});
