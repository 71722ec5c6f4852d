import assert from 'node:assert/strict';
import { type Database, openDatabase } from '#db/database.ts';
import { silentLog } from '#observability/log.ts';
import type { ContractDelays } from '#sandbox/deploy-sandbox-network.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import { type Caller, caller, type Reply } from '#testkit/apis/api-client.ts';
import { type ChaosGround, openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import {
  type ChaosProcess,
  makeShop,
  startChaosProcess,
} from '#testkit/simulation/chaos/chaos-process.ts';
import { readContractEvents } from '#testkit/simulation/invariants/contract-invariants.ts';
import { comeToRest } from '#testkit/simulation/invariants/invariants.ts';

/** Time limit for the retries of a request, and for a recovery. */
export const REST_MS = 45_000;
const AMOUNT = 2_500_000;

/** The columns of the test network's recovery that tests read. */
export interface RecoveryRow {
  readonly status: string;
  readonly reason: string;
  readonly loss_shown: boolean;
  readonly payments: number;
  readonly refunds: number;
  readonly withdrawals: number;
  readonly canceled: number;
  readonly request_count: bigint;
  readonly fencing_token: bigint;
}

export interface CreateOptions {
  /** The idempotency key. Default: one per order. */
  readonly key?: string;
  readonly amount?: number;
  /**
   * Fields of the request's body, for example a price in another currency instead of the amount.
   */
  readonly sale?: object;
}

/** Two API nodes and the workers of a service. Tests can restore the service's database. */
export interface RestoreGround {
  readonly ground: ChaosGround;
  readonly db: Database;
  readonly sandbox: SandboxFile;
  /** The two API nodes, followed by the workers. */
  readonly nodes: ChaosProcess[];
  node(place: number): { readonly merchant: Caller; readonly terminal: Caller };
  create(place: number, order: string, options?: CreateOptions): Promise<Reply>;
  /**
   * Taps with the demo pass `ok` (default) or `ok_2`. Repeats the request until it gets a final
   * response.
   */
  tap(place: number, intent: unknown, key: string, pass?: 'ok' | 'ok_2'): Promise<Reply>;
  /** Taps with the pass `ok`, without repeating the request. */
  tapOnce(place: number, intent: unknown, key: string): Promise<Reply>;
  pay(order: string, options?: CreateOptions): Promise<{ intent: string; payment: string }>;
  /** Returns the number of payments for this order that the contract has settled. */
  settledOnChain(order: string): Promise<number>;
  onChain<T>(read: (chain: Chain) => Promise<T>): Promise<T>;
  recovery(): Promise<RecoveryRow>;
  /** Waits for the end of a recovery that was requested after `requestCount` was read. */
  recovered(requestCount: bigint): Promise<RecoveryRow>;
  /** Waits until all invariants hold, including those between ledger and chain. */
  comeToRest(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Repeats the request until it gets a final response. A node may be down, be starting, or respond
 * with 503.
 */
export async function persist(ask: () => Promise<Reply>): Promise<Reply> {
  let answer: Reply | undefined;
  await waitUntil(async () => {
    answer = await ask().catch(() => undefined);
    return answer !== undefined && answer.status < 500;
  }, REST_MS);
  assert.ok(answer !== undefined, 'no answer came');
  return answer;
}

type Callers = Pick<RestoreGround, 'node' | 'sandbox'>;

function sales({ node, sandbox }: Callers) {
  const create: RestoreGround['create'] = (place, order, options = {}) => {
    const { key = `create ${order}`, amount = AMOUNT, sale = { amount } } = options;
    const body = { ...sale, terminal: sandbox.test.terminal, order_id: order };
    return persist(() => node(place).merchant.post('/payment_intents', body, key));
  };
  const present = (place: number, intent: unknown, key: string, pass: 'ok' | 'ok_2' = 'ok') => {
    const credential = { type: 'nfc_id', value: sandbox.test.passes[pass] };
    return node(place).terminal.post(`/payment_intents/${intent}/tap`, { credential }, key);
  };
  const tap: RestoreGround['tap'] = (place, intent, key, pass) =>
    persist(() => present(place, intent, key, pass));
  const pay: RestoreGround['pay'] = async (order, options) => {
    const created = await create(0, order, options);
    assert.equal(created.status, 201, JSON.stringify(created.body));
    const tapped = await tap(0, created.body.id, `tap ${order}`);
    assert.equal(tapped.body.status, 'succeeded', JSON.stringify(tapped.body));
    return { intent: String(created.body.id), payment: String(tapped.body.payment) };
  };
  return { create, tap, tapOnce: present, pay };
}

function watching(ground: ChaosGround, db: Database) {
  const onChain: RestoreGround['onChain'] = async (read) => {
    const chain = await openChain(ground.testnet.config, silentLog);
    return read(chain).finally(() => chain.close());
  };
  const recovery: RestoreGround['recovery'] = async () => {
    const [row] = await db.query<RecoveryRow>(
      'select * from network_recoveries where livemode = false',
    );
    assert.ok(row !== undefined);
    return row;
  };
  const recovered: RestoreGround['recovered'] = async (requestCount) => {
    let row: RecoveryRow | undefined;
    await waitUntil(async () => {
      row = await recovery().catch(() => undefined);
      return row !== undefined && row.status === 'done' && row.request_count > requestCount;
    }, REST_MS);
    assert.ok(row !== undefined && row.request_count > requestCount, 'no recovery was done');
    return row;
  };
  const settledOnChain: RestoreGround['settledOnChain'] = (order) =>
    onChain(async (chain) => {
      const events = await readContractEvents(chain);
      return events.filter((one) => one.event === 'PaymentSettled' && one.orderId === order).length;
    });
  const chains = [ground.testnet.config];
  const requireRest = async () =>
    assert.deepEqual(await comeToRest({ db, chains }, { limitMs: REST_MS }), []);
  return { onChain, recovery, recovered, settledOnChain, comeToRest: requireRest };
}

/**
 * Starts two API nodes and the workers. They reach each chain through one proxy, which can
 * misbehave as a provider might.
 * @param env additional environment variables for every process
 * @param delays the contracts' delays
 */
export async function openRestoreGround(
  workers = 1,
  env: Readonly<Record<string, string>> = {},
  delays?: ContractDelays,
): Promise<RestoreGround> {
  const ground = await openChaosGround({
    providers: 'only',
    ...(delays === undefined ? {} : { delays }),
  });
  const sandbox = await makeShop(ground);
  const db = openDatabase({ url: ground.database.url, maxConnections: 4 });
  const names = Array.from({ length: workers }, (_, number) => `worker ${number}`);
  const nodes = await Promise.all([
    startChaosProcess(ground, { name: 'api', role: 'api', env }),
    startChaosProcess(ground, { name: 'other', role: 'api', env }),
    ...names.map((name) => startChaosProcess(ground, { name, role: 'worker', env })),
  ]);
  const node = (place: number) => {
    const url = nodes[place]?.url;
    return {
      merchant: caller(`${url}/v1`, sandbox.test.secret_key),
      terminal: caller(`${url}/device/v1`, sandbox.test.device_key),
    };
  };
  return {
    ground,
    db,
    sandbox,
    nodes,
    node,
    ...sales({ node, sandbox }),
    ...watching(ground, db),
    close: async () => {
      await Promise.all(nodes.map((one) => one.close()));
      await db.close();
      await ground.close();
    },
  };
}
