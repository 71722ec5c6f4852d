import assert from 'node:assert/strict';
import { encodeFunctionData } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { startLoop } from '#core/background-loop.ts';
import { DatabaseUnavailable } from '#db/database-faults.ts';
import { silentLog } from '#observability/log.ts';
import { applyPayerRequests } from '#payers/apply-payer-results.ts';
import { applyDeployments } from '#payments/apply-deployments.ts';
import { applySettlements } from '#payments/apply-settlements.ts';
import { retryOffline } from '#payments/offline/retry-offline.ts';
import { createPreflight } from '#payments/preflight-by-network.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { GasPolicy } from '#settlement/gas-budget.ts';
import type { Readiness } from '#settlement/network-readiness.ts';
import type { Reply } from '#testkit/apis/api-client.ts';
import { addBareWallet, tokenOf } from '#testkit/apis/pay-links.ts';
import { type StoreServer, serveStore } from '#testkit/apis/store-server.ts';
import { AMOUNT, PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import { addIntent, openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import type { Overrides } from '#testkit/network/test-network.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';

/** A merchant's terminal, its pay links over HTTP, and a real chain on which payments settle. */
export interface PayGround {
  readonly world: RelayerWorld;
  readonly store: TestStore;
  readonly server: StoreServer;
  newLink(amount?: number): Promise<{ readonly intentId: string; readonly token: string }>;
  onTerminal(intentId: string): Promise<Readonly<Record<string, unknown>>>;
  authorize(token: string, from: Hex, signature: Hex): Promise<Reply>;
  /** Creates a wallet without gas or allowance. Its default balance is enough for one sale. */
  bare(usdc?: bigint): Promise<PrivateKeyAccount>;
  /** Returns the number of settlement jobs for the intent. */
  requestsOf(intentId: string): Promise<number>;
  mint(to: Hex, usdc: bigint): Promise<void>;
  blocklist(address: Hex): Promise<void>;
  changeRates(rates: FeeRates): Promise<void>;
  /** Makes the next check before a payment wait until the returned function is called. */
  holdPreflight(): () => void;
  close(): Promise<void>;
}

interface FeeRates {
  readonly acquirer: number;
  readonly protocol: number;
  readonly cashback: number;
}

interface Said {
  readonly error?: { readonly code: string };
  readonly status?: string;
  readonly last_payment_error?: { readonly decline_code: string } | null;
}

/**
 * Returns the HTTP status and a code: the error code if there is one, else the decline code, else
 * the object's status.
 */
export function summary({ status, body }: Pick<Reply, 'status' | 'body'>): string {
  const { error, status: state, last_payment_error: declined }: Said = body;
  return `${status} ${error?.code ?? declined?.decline_code ?? state}`;
}

/**
 * @param options.isIdle settles nothing until the test starts the relayer
 * @param options.gas limits of calls whose gas the operator pays
 */
export async function startPayGround({
  isIdle = false,
  overrides,
  readiness,
  gas,
}: {
  readonly isIdle?: boolean;
  readonly overrides?: Overrides;
  readonly readiness?: Readiness;
  readonly gas?: Partial<GasPolicy>;
} = {}): Promise<PayGround> {
  const world = await startRelayerWorld(overrides);
  const stopMining = world.network.mineEvery(100);
  if (!isIdle) world.startRelayer();
  const { database, wakeups, merchant, network } = world;
  const { merchantNumber } = merchant;
  const askChain = createPreflight([network.chain]);
  let held: Promise<void> | null = null;
  const preflight: typeof askChain = async (payment) => {
    const waiting = held;
    held = null;
    await waiting;
    return askChain(payment);
  };
  const places = { database, wakeups, merchantNumber, preflight, ...(readiness && { readiness }) };
  const opened = await openStore(places);
  const store = gas === undefined ? opened : limited(opened, gas);
  const server = await serveStore(store, { chains: [network.chain] });
  const stopApplying = keepApplying(world, store);
  return {
    world,
    store,
    server,
    newLink: async (amount = AMOUNT) => {
      const intentId = await addIntent(store, { amount });
      return { intentId, token: tokenOf(intentId) };
    },
    onTerminal: async (id) => (await server.device().get(`/payment_intents/${id}`)).body,
    authorize: (token, from, signature) =>
      server.pay.post(`/${token}/authorization`, { from, signature }),
    bare: (usdc = PULLED) => addBareWallet(network, usdc),
    holdPreflight: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    requestsOf: async (intentId) => {
      const sql = 'select id from chain_requests where subject_id = $1';
      return (await store.db.query(sql, [intentId])).length;
    },
    ...chainActs(world),
    close: async () => {
      await stopApplying();
      await server.close();
      await stopMining();
      await world.stop();
    },
  };
}

function limited(store: TestStore, gas: Partial<GasPolicy>): TestStore {
  const { ctx } = store;
  const { settings } = ctx;
  return { ...store, ctx: { ...ctx, settings: { ...settings, gas: { ...settings.gas, ...gas } } } };
}

function keepApplying({ wakeups, network }: RelayerWorld, store: TestStore): () => Promise<void> {
  const deps = { ...store, log: silentLog };
  const { settleWithinS } = store;
  const context = { ...store, chains: [network.chain], settings: { settleWithinS } };
  const every = (pollMs: number, name: string, run: () => Promise<boolean>) =>
    startLoop({
      name,
      pollMs,
      run,
      onError: (_name, error) => {
        // On a busy machine, all connections can be in use for seconds. The loop then runs again.
        if (!(error instanceof DatabaseUnavailable)) throw error;
      },
    });
  const applying = every(50, 'settlements', () => applySettlements(deps));
  wakeups.on('chain-outcomes', 'payment', applying.wake);
  const others = [
    every(50, 'deployments', () => applyDeployments(deps)),
    every(100, 'offline sales', () => retryOffline(context)),
    every(50, 'approvals', () => applyPayerRequests(store, 'enrolment')),
    every(50, 'transfers', () => applyPayerRequests(store, 'transfer')),
  ];
  return async () => {
    await applying.stop();
    await Promise.all(others.map((loop) => loop.stop()));
  };
}

/** Returns functions that do on the chain what other parties can do. */
function chainActs({ network }: RelayerWorld) {
  const { admin, config, send } = network;
  const onToken = (functionName: 'mint' | 'setBlocked', args: readonly unknown[]) => {
    const call = { abi: testUsdcAbi, functionName, args } as Parameters<
      typeof encodeFunctionData
    >[0];
    return send(admin, config.usdc, encodeFunctionData(call));
  };
  return {
    mint: (to: Hex, usdc: bigint) => onToken('mint', [to, usdc]),
    blocklist: (address: Hex) => onToken('setBlocked', [address, true]),
    changeRates: async (rates: FeeRates) => {
      const call = { abi: settlementAbi, functionName: 'setRates', args: [rates] } as const;
      await network.govern(encodeFunctionData(call));
    },
  };
}

/** Asserts that exactly one of the responses reports a payment. */
export function assertPaidOnce(replies: readonly Reply[]): void {
  const told = replies.map(summary);
  assert.equal(told.filter((one) => one === '200 succeeded').length, 1, String(told));
}
