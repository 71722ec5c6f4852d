import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Tapline } from 'tapline';
import { startTestApi } from '../../testkit/apis/api.ts';
import { type Cut, startCuttingProxy } from './cutting-proxy.ts';

/** Enough parallel sales to keep the server busy and the test short. */
const AT_ONCE = 32;

/**
 * Cuts the connections of many sales: one for every `everyBytes` bytes of the request and of the
 * response.
 */
export async function cutSales(t: TestContext, everyBytes: number): Promise<void> {
  const api = await startTestApi();
  const port = Number(new URL(api.url).port);
  const { key, terminal } = api.merchant.test;
  let sales = 0;
  let replays = 0;
  const sell = async (cut: Cut | null) => {
    // Has a constant length, so that an offset means the same in every request.
    const order_id = (sales++).toString(36).padStart(8, '0');
    const proxy = await startCuttingProxy(port, cut);
    const tapline = new Tapline(key, { baseUrl: `http://127.0.0.1:${proxy.port}/api` });
    const body = { amount: 2_500_000, terminal, order_id };
    const { data, response } = await tapline.paymentIntents.create(body).withResponse();
    assert.equal(data.order_id, order_id);
    if (response.headers.get('Idempotent-Replayed') === 'true') replays++;
    await proxy.close();
    return proxy.seen;
  };
  const { request, answer } = await sell(null);
  const cuts: Cut[] = [
    ...placesIn(request, everyBytes).map((after) => ({ of: 'request' as const, after })),
    ...placesIn(answer, everyBytes).map((after) => ({ of: 'answer' as const, after })),
  ];
  assert.ok(request > 300 && answer > 600, `${request} and ${answer} bytes`);
  t.diagnostic(`${request} bytes of request and ${answer} of answer`);
  const left = [...cuts];
  const worker = async () => {
    for (let cut = left.pop(); cut !== undefined; cut = left.pop()) await sell(cut);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const [row] = await api.db.query<{ all: number; orders: number }>(
    `select count(*)::int as all, count(distinct order_id)::int as orders
     from payment_intents where account_id = $1`,
    [api.merchant.test.tenant.accountId],
  );
  assert.deepEqual(row, { all: cuts.length + 1, orders: cuts.length + 1 });
  // Every cut within the response causes a replay. Only the one after its last byte does not.
  assert.ok(replays > (answer / everyBytes) * 0.9, `${replays} replays`);
  await api.close();
}

function placesIn(length: number, every: number): number[] {
  const count = Math.floor(length / every) + 1;
  return Array.from({ length: count }, (_, index) => length - index * every);
}
