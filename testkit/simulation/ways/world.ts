import { caller } from '#testkit/apis/api-client.ts';
import { startTcpProxy } from '#testkit/network/tcp-proxy.ts';
import { startReceiver } from '#testkit/network/webhook-receiver.ts';
import type { Ground } from '#testkit/simulation/history.ts';
import { openRestoreGround, persist, REST_MS } from '#testkit/simulation/restore-ground.ts';
import { outsideWallets } from '#testkit/simulation/ways/outside-wallets.ts';
import type { PayersGround } from '#testkit/simulation/ways/payers.ts';
import { allowOffline, demoTill, type Till } from '#testkit/simulation/ways/shops.ts';

/**
 * A service with two API nodes and several shops. A webhook receiver records one merchant's events.
 */
export type WaysWorld = Awaited<ReturnType<typeof openWaysWorld>>;

async function addReceiver(url: string, till: Till) {
  const receiver = await startReceiver();
  const merchant = caller(`${url}/v1`, till.secretKey);
  const endpoint = { url: receiver.url, enabled_events: ['*'] };
  const answer = await persist(() => merchant.post('/webhook_endpoints', endpoint));
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return receiver;
}

/**
 * Settlement time-out in seconds, the longest that x402 allows. It is longer than any fault in
 * these tests, so that no payment is declined because of time.
 */
const SETTLE_WITHIN_S = 80;
/** Milliseconds after which every payment has either settled or failed for good. */
export const DECIDED_MS = 140_000;

export async function openWaysWorld(workers = 1) {
  const front = await startTcpProxy(0);
  const publicUrl = `http://127.0.0.1:${front.port}`;
  const env = {
    TAPLINE_PUBLIC_URL: publicUrl,
    SETTLEMENT_TIMEOUT_SECONDS: String(SETTLE_WITHIN_S),
  };
  const world = await openRestoreGround(workers, env);
  const url = (node: number) => String(world.nodes[node]?.url);
  front.targetPort = Number(new URL(url(0)).port);
  const till = demoTill(world);
  await allowOffline(world.db, till.terminal);
  const receiver = await addReceiver(url(0), till);
  const { config: network } = world.ground.testnet;
  const payers: PayersGround = {
    db: world.db,
    secret: world.ground.secret,
    network,
    publicUrl,
    outside: await outsideWallets(network),
    facilitators: [],
  };
  const unbookable = new Set<bigint>();
  return {
    world,
    payers,
    /** A terminal of the merchant whose events the receiver gets. */
    till,
    /** Extra settings of every process. */
    env,
    /** Settlement numbers of merchants whose accounts were lost. */
    unbookable,
    /** Returns a node's API URL, for example `http://127.0.0.1:1/api`. */
    url,
    /** Returns the data sources that the invariants check. */
    ground: (): Ground => {
      const merchant = caller(`${url(0)}/v1`, till.secretKey);
      const follower = { merchant, received: receiver.received };
      return { db: world.db, chains: [network], unbookable, follower, limitMs: REST_MS };
    },
    close: async () => {
      for (const facilitator of payers.facilitators) facilitator.close();
      await receiver.close();
      await world.close();
      await front.close();
    },
  };
}
