import assert from 'node:assert/strict';
import { startLoop } from '#core/background-loop.ts';
import { silentLog } from '#observability/log.ts';
import { applyRefundOutcomes } from '#refunds/apply-refund-results.ts';
import { learnRates } from '#settlement/chain/fees/fee-rates.ts';
import { tagToken } from '#terminals/tag-url.ts';
import { type Body, type Caller, caller } from '#testkit/apis/api-client.ts';
import { type PayGround, startPayGround } from '#testkit/apis/pay-ground.ts';
import { tokenOf } from '#testkit/apis/pay-links.ts';
import type { SignedIn } from '#testkit/apis/store-server.ts';
import { tap } from '#testkit/apis/tap.ts';
import {
  CART_RATES,
  CART_SALES,
  type CartSale,
  cartRequest,
} from '#testkit/fixtures/payments/cart-sales.ts';
import { addTestKey } from '#testkit/fixtures/payments/merchants.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { addPayer, TEST_ID_KEY, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { limitPayer } from '#testkit/fixtures/payments/store-requests.ts';
import { addEndpoint, endpointsOf } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { LOCAL_CIDRS } from '#testkit/fixtures/webhooks/webhooks.ts';
import { startReceiver } from '#testkit/network/webhook-receiver.ts';
import { startWebhookWorker } from '#webhooks/delivery-loops.ts';

/** A cart that was sold, paid with a tip and refunded in part. */
export interface SoldCart {
  readonly sale: CartSale;
  readonly payer: SignedIn;
  readonly intent: string;
  readonly payment: string;
  readonly refund: string;
  /** The event `payment.succeeded`. */
  readonly event: string;
  readonly orderId: string;
  /** The token of the receipt's address. */
  readonly receipt: string;
  readonly refundReceipt: string;
  /** A cursor from before the payment, with which the payer's wallet is notified of it. */
  readonly updates: string;
  /** The answers of routes while the cart was not paid, by the name of the surface. */
  readonly open: Readonly<Record<string, Body>>;
  /** The same after the tip was chosen. */
  readonly tipped: Readonly<Record<string, Body>>;
}

export interface CartGround {
  readonly ground: PayGround;
  readonly merchant: Caller;
  readonly tag: string;
  readonly sold: readonly SoldCart[];
  /** The report of the till's shift in which the carts were sold. */
  readonly shift: Body;
  /** An API key of the merchant. */
  readonly key: string;
  /** Returns the bodies of the merchant's webhooks, once there are this many. */
  webhooks(count: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

const ONE_PAYER = 200_000_000n;

async function post(caller: Caller, path: string, body?: object): Promise<Body> {
  const answer = await caller.post(path, body);
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
}

async function get(caller: Caller, path: string): Promise<Body> {
  const answer = await caller.get(path);
  assert.equal(answer.status, 200, `${path} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function sell(
  ground: PayGround,
  { sale, merchant, tag }: { sale: CartSale; merchant: Caller; tag: string },
): Promise<SoldCart> {
  const { store, server, world } = ground;
  const device = server.device();
  const payer = await server.signIn({ account: await world.network.addPayer({ usdc: ONE_PAYER }) });
  const { pass, payer: row } = await addPayer(store, { address: payer.account.address });
  await limitPayer(store, row.id, { confirmFirst: true });
  const { accountId } = store.merchant.tenant;
  const currency = [accountId, sale.currency];
  await store.db.query('update accounts set currency = $2 where id = $1', currency);

  const cart = { ...cartRequest(sale), terminal: store.terminalId };
  const created = await post(merchant, '/payment_intents', cart);
  const intent = String(created.id);
  const { cursor } = await get(payer.me, '/updates');
  const open = {
    created,
    merchant: await get(merchant, `/payment_intents/${intent}`),
    next: await get(device, '/payment_intents/next'),
    device: await get(device, `/payment_intents/${intent}`),
    link: await get(server.pay, `/${tokenOf(intent)}`),
    tag: await get(server.pay, `/tags/${tag}`),
  };
  const tip = `tip_amount=${sale.atoms.tip}`;
  const from = `from=${payer.account.address}`;
  const signable = {
    link: await get(server.pay, `/${tokenOf(intent)}?${tip}`),
    tag: await get(server.pay, `/tags/${tag}?${tip}`),
    chip: await get(device, `/payment_intents/${intent}/authorization?${from}&${tip}`),
  };
  const asked = await tap(device, intent, pass, { tip: sale.atoms.tip });
  assert.equal(asked.body.status, 'requires_action', JSON.stringify(asked.body));
  const tipped = {
    ...signable,
    asked: asked.body,
    merchant: await get(merchant, `/payment_intents/${intent}`),
    confirmations: await get(payer.me, '/confirmations'),
    confirmation: await get(payer.me, `/confirmations/${intent}`),
    approved: await post(payer.me, `/confirmations/${intent}/approve`),
  };
  const { payment, order_id } = await get(merchant, `/payment_intents/${intent}`);
  const { receipt_url } = await get(merchant, `/payments/${payment}`);
  const events = await get(merchant, '/events?type=payment.succeeded&limit=1');
  const [event] = events.data as readonly { readonly id: string }[];
  const refund = await post(merchant, '/refunds', {
    payment,
    line_items: [{ line: 0, quantity: 1 }],
  });
  assert.equal(refund.status, 'succeeded', JSON.stringify(refund));
  const tokenIn = (url: unknown) => String(url).split('/').at(-1) ?? '';
  return {
    ...{ sale, payer, intent, open, tipped },
    ...{ payment: String(payment), refund: String(refund.id), event: String(event?.id) },
    ...{ orderId: String(order_id), receipt: tokenIn(receipt_url) },
    ...{ refundReceipt: tokenIn(refund.receipt_url), updates: String(cursor) },
  };
}

/** Sells {@link CART_SALES} on a real chain, one after the other, by one terminal. */
export async function sellCarts(): Promise<CartGround> {
  const ground = await startPayGround();
  const { store, server, world } = ground;
  const refunding = startLoop({
    name: 'refunds',
    pollMs: 50,
    run: () => applyRefundOutcomes({ ...store, log: silentLog }),
    onError: (_name, error) => {
      throw error;
    },
  });
  const hooks = await startHooks(store);
  const close = async () => {
    await Promise.all([refunding.stop(), hooks.close()]);
    await ground.close();
  };
  try {
    await learnRates(world.network.chain);
    await putRates(store.db, CART_RATES, { now: new Date(), maxAgeS: 3_600 });
    const now = store.clock.now();
    const { secret: key } = await addTestKey(store.db, store.merchant.tenant, { now });
    const merchant = caller(`${server.url}/api/v1`, key);
    const tag = await tagOf(ground);
    const device = server.device();
    await post(device, '/shift', {});
    const sold: SoldCart[] = [];
    for (const sale of CART_SALES) sold.push(await sell(ground, { sale, merchant, tag }));
    const { body: shift } = await device.send('DELETE', '/shift');
    return { ground, merchant, key, tag, sold, shift, webhooks: hooks.bodies, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts a server that gets all events of the store, and the worker that sends them. */
async function startHooks(store: TestStore) {
  const receiver = await startReceiver();
  const endpoints = endpointsOf(store);
  await addEndpoint(endpoints, receiver.url);
  const worker = startWebhookWorker({
    ...{ db: store.db, wakeups: store.wakeups, clock: store.clock, log: silentLog },
    ...{ secretKey: endpoints.keys.webhook, allowCidrs: LOCAL_CIDRS },
  });
  return {
    bodies: async (count: number) =>
      (await receiver.waitFor(count)).map(({ body }) => body.toString()),
    close: async () => {
      await worker.stop();
      await receiver.close();
    },
  };
}

async function tagOf({ store: { db, terminalId } }: PayGround): Promise<string> {
  const rows = await db.query<{ tag: string }>('select tag from terminals where id = $1', [
    terminalId,
  ]);
  return tagToken(TEST_ID_KEY, String(rows[0]?.tag));
}
