import assert from 'node:assert/strict';
import type { PrivateKeyAccount } from 'viem/accounts';
import { newId } from '#core/ids.ts';
import { silentLog } from '#observability/log.ts';
import { applyRegistrations } from '#payouts/apply-registrations.ts';
import { requestPayments } from '#settlement/chain-requests.ts';
import { startRelayer } from '#settlement/relayer/relayer.ts';
import {
  type DashboardServer,
  type DashboardServerOptions,
  startDashboardServer,
} from '#testkit/apis/dashboard-server.ts';
import type { PersonAnswer, PersonClient } from '#testkit/apis/person-client.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import type { TestNetwork } from '#testkit/network/test-network.ts';

/** For how long a test waits for the chain. */
export const CHAIN_WAIT_MS = 60_000;

export interface DashboardOnChain {
  readonly network: TestNetwork;
  readonly server: DashboardServer;
  /**
   * Starts a relayer, and blocks that come by themselves. From then on, the relayer manages the
   * nonces of the registrar's key.
   */
  startRelayer(): void;
  close(): Promise<void>;
}

/** Opens a dashboard at the real time, because the contract checks deadlines by its chain. */
export async function openDashboardOnChain(
  network: TestNetwork,
  options?: DashboardServerOptions,
): Promise<DashboardOnChain> {
  const { chain } = network;
  const server = await startDashboardServer([chain], options);
  const { db, wakeups, clock } = server;
  clock.advance(Date.now() - clock.now().getTime());
  const stops: (() => Promise<unknown>)[] = [];
  return {
    network,
    server,
    startRelayer: () => {
      const relayer = startRelayer({ chain, db, wakeups, clock, log: silentLog });
      stops.push(() => relayer.stop(), network.mineEvery(50));
    },
    close: async () => {
      for (const stop of stops) await stop();
      await server.close();
      await network.stop();
    },
  };
}

/** Signs the consent that the page at this path requests. @returns the body to send there. */
export async function signConsent(client: PersonClient, page: string, wallet: PrivateKeyAccount) {
  const { status, body, text } = await client.get(`${page}/consent?wallet=${wallet.address}`);
  assert.equal(status, 200, text);
  const typedData = body.typed_data as Parameters<PrivateKeyAccount['signTypedData']>[0];
  const signature = await wallet.signTypedData(typedData);
  return { wallet: wallet.address, deadline: body.deadline, signature };
}

/** Waits until an account is live. @returns the response of its page `go_live`. */
export function untilLive(
  server: DashboardServer,
  client: PersonClient,
  page: string,
): Promise<PersonAnswer['body']> {
  const look = async () => {
    await applyRegistrations({ ...server, log: silentLog });
    const { body } = await client.get(page);
    return body.live === true && body;
  };
  return eventually('the registration', look, CHAIN_WAIT_MS);
}

/**
 * Settles an account's first sale on the chain only, without a payment in the database.
 * @returns the number of the merchant
 */
export async function sellOnChain(
  { server, network }: DashboardOnChain,
  accountId: string,
  amount: number,
): Promise<bigint> {
  const [payer] = await network.addPayers(1);
  const [row] = await server.db.query<{ number: bigint }>(
    `select merchant_number as number from account_modes
     where account_id = $1 and not livemode`,
    [accountId],
  );
  assert.ok(payer !== undefined && row !== undefined);
  const now = server.clock.now();
  const payload = {
    merchantNumber: String(row.number),
    payer: payer.address,
    amount: String(amount),
    orderId: 'A-1',
  };
  const subjectId = newId('paymentIntent', now);
  const request = { livemode: false, number: null, settleWithinS: 300, subjectId, payload };
  await server.db.transaction((tx) => requestPayments(tx, [request], now));
  server.wakeups.send('chain-requests', 'testnet');
  const isSettled = async () => (await network.merchantBalance(row.number)) === BigInt(amount);
  await eventually('the sale', isSettled, CHAIN_WAIT_MS);
  return row.number;
}
