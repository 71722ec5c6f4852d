import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { startLoop } from '#core/background-loop.ts';
import { silentLog } from '#observability/log.ts';
import { applySettlements } from '#payments/apply-settlements.ts';
import { createPreflight } from '#payments/preflight-by-network.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { type StoreServer, serveStore } from '#testkit/apis/store-server.ts';
import { tap } from '#testkit/apis/tap.ts';
import { addIntent, openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { startRelayerWorld } from '#testkit/fixtures/settlement/relayer-world.ts';

const BLOCK_MS = 200;
const AWAKE = 100;
const ASLEEP = 30;
const WINDOWS = 2;
/** From the till's answer until a waiting wallet has its own. */
const WITHIN_MS = 1_000;
/** Between two tills' taps: a busy district. */
const TAP_EVERY_MS = 100;

interface Updates {
  readonly ended: readonly { readonly payment_intent: string; readonly result: string }[];
  readonly cursor: string;
}

async function updates(me: Caller, wait: number, after: string | null): Promise<Updates> {
  const query = after === null ? '' : `&after=${after}`;
  const { status, body } = await me.get(`/updates?wait=${wait}${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as Updates;
}

/** Waits, again and again as a window does, until a payment has ended. */
async function nextEnded(me: Caller, from: string) {
  for (let after = from; ; ) {
    const told = await updates(me, 25, after);
    if (told.ended.length > 0) return { at: performance.now(), ended: told.ended };
    after = told.cursor;
  }
}

async function addWallet(
  { store, server }: { readonly store: TestStore; readonly server: StoreServer },
  key: `0x${string}`,
) {
  const { me } = await server.signIn({ account: privateKeyToAccount(key) });
  const pass = (await me.post('/passes', {})).body;
  const { cursor } = await updates(me, 0, null);
  const pay = async () => {
    const intentId = await addIntent(store);
    const { body } = await tap(server.device(), intentId, String(pass.nfc_id));
    assert.equal(body.status, 'succeeded', JSON.stringify(body));
    return { intentId, at: performance.now() };
  };
  return { me, cursor, pay };
}

test('both windows of 100 wallets show a payment within 1 s, 30 others on waking', async () => {
  const world = await startRelayerWorld();
  const { network, database, wakeups, merchant } = world;
  const stopMining = network.mineEvery(BLOCK_MS);
  world.startRelayer();
  const chains = [network.chain];
  const { merchantNumber } = merchant;
  const preflight = createPreflight(chains);
  const store = await openStore({ database, wakeups, merchantNumber, preflight });
  const server = await serveStore(store, { chains });
  const apply = startLoop({
    ...{ name: 'settlements', pollMs: 30 },
    run: () => applySettlements({ ...store, log: silentLog }),
    onError: (_name, error) => {
      throw error;
    },
  });
  try {
    const keys = Array.from({ length: AWAKE + ASLEEP }, generatePrivateKey);
    await network.addPayers(keys.length, { keys });
    const wallets = await Promise.all(keys.map((key) => addWallet({ store, server }, key)));
    const results = wallets.map(async ({ me, cursor, pay }, n) => {
      const waiting = n < AWAKE ? Array.from({ length: WINDOWS }, () => nextEnded(me, cursor)) : [];
      await sleep(500 + n * TAP_EVERY_MS);
      const paid = await pay();
      const told = n < AWAKE ? await Promise.all(waiting) : [];
      return { me, cursor, paid, told };
    });
    const delays: number[] = [];
    for (const { me, cursor, paid, told } of await Promise.all(results)) {
      const expected = [{ payment_intent: paid.intentId, result: 'paid' }];
      const after = told.length > 0 ? told : [await updates(me, 25, cursor)];
      for (const { ended } of after) {
        assert.deepEqual(
          ended.map(({ payment_intent, result }) => ({ payment_intent, result })),
          expected,
        );
      }
      delays.push(...told.map(({ at }) => at - paid.at));
    }
    assert.equal(delays.length, AWAKE * WINDOWS);
    assert.ok(Math.max(...delays) <= WITHIN_MS, `${Math.round(Math.max(...delays))} ms`);
  } finally {
    await apply.stop();
    await stopMining();
    await server.close();
    await world.stop();
  }
});
