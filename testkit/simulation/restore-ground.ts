import assert from 'node:assert/strict';
import { present } from '#core/assert.ts';
import type { Failpoint } from '#core/failpoints.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { openIdKey } from '#db/id-key.ts';
import { silentLog } from '#observability/log.ts';
import type { ContractDelays } from '#sandbox/deploy-sandbox-network.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { idSealingKey } from '#settings/config.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { type Caller, caller, type Reply } from '#testkit/apis/api-client.ts';
import { askToWithdraw } from '#testkit/fixtures/payments/ask-to-withdraw.ts';
import { outsideService } from '#testkit/fixtures/settlement/outside-service.ts';
import { type ChaosGround, openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import {
  type ChaosProcess,
  type ChaosProcessOptions,
  makeShop,
  startChaosProcess,
} from '#testkit/simulation/chaos/chaos-process.ts';
import { readContractEvents } from '#testkit/simulation/invariants/contract-invariants.ts';
import { comeToRest } from '#testkit/simulation/invariants/invariants.ts';

/** Time limit for the retries of a request, and for a recovery. */
export const REST_MS = 45_000;
/** The amount of a sale. */
export const AMOUNT = 2_500_000;
/** First of the settlement numbers that the service has not drawn. */
export const DRAWN_BY_NOBODY = 900_000_000n;

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

interface CreateOptions {
  /** The idempotency key. Default: one per order. */
  readonly key?: string;
  readonly amount?: number;
  /**
   * Fields of the request's body, for example a price in another currency instead of the amount.
   */
  readonly sale?: object;
}

/**
 * Reads something again and again, until the result is final or the time is up.
 * @returns the last result; `undefined` if the last try failed
 */
export async function lastOf<T>(
  read: () => Promise<T>,
  isFinal: (result: T) => boolean,
  limitMs = REST_MS,
): Promise<T | undefined> {
  let last: T | undefined;
  await waitUntil(async () => {
    last = await read().catch(() => undefined);
    return last !== undefined && isFinal(last);
  }, limitMs);
  return last;
}

/**
 * Repeats the request until it gets a final response. A node may be down, be starting, or respond
 * with 503.
 */
export async function persist(ask: () => Promise<Reply>): Promise<Reply> {
  const answer = await lastOf(ask, ({ status }) => status < 500);
  assert.ok(answer !== undefined, 'no answer came');
  return answer;
}

interface Callers {
  readonly node: (position: number) => { readonly merchant: Caller; readonly terminal: Caller };
  readonly sandbox: SandboxFile;
}

/** Returns the requests of the demo merchant and its till, to a node. */
function requests({ node, sandbox }: Callers) {
  const create = (position: number, order: string, options: CreateOptions = {}) => {
    const { key = `create ${order}`, amount = AMOUNT, sale = { amount } } = options;
    const body = { ...sale, terminal: sandbox.test.terminal, order_id: order };
    return persist(() => node(position).merchant.post('/payment_intents', body, key));
  };
  /** Taps with a demo pass, without repeating the request. */
  const tapOnce = (position: number, intent: unknown, key: string, pass: 'ok' | 'ok_2' = 'ok') => {
    const credential = { type: 'nfc_id', value: sandbox.test.passes[pass] };
    return node(position).terminal.post(`/payment_intents/${intent}/tap`, { credential }, key);
  };
  /** Taps, and repeats the request until it gets a final response. */
  const tap = (...tapped: Parameters<typeof tapOnce>) => persist(() => tapOnce(...tapped));
  const pay = async (order: string, options?: CreateOptions) => {
    const created = await create(0, order, options);
    assert.equal(created.status, 201, JSON.stringify(created.body));
    const tapped = await tap(0, created.body.id, `tap ${order}`);
    assert.equal(tapped.body.status, 'succeeded', JSON.stringify(tapped.body));
    return { intent: String(created.body.id), payment: String(tapped.body.payment) };
  };
  const refund = (position: number, body: object, key?: string) =>
    persist(() => node(position).merchant.post('/refunds', body, key));
  const read = async (path: string, position = 0) => (await node(position).merchant.get(path)).body;
  return {
    ...{ create, tap, tapOnce, pay, refund, read },
    readIntent: (id: unknown) => read(`/payment_intents/${id}`),
    /** Returns the highest `sequence` that receivers have got or will get. */
    newestSequence: async () => {
      const [newest] = (await read('/events?limit=1')).data as { sequence: number }[];
      return newest?.sequence ?? 0;
    },
  };
}

function watching(ground: ChaosGround, db: Database, account: string) {
  const onChain = async <T>(read: (chain: Chain) => Promise<T>): Promise<T> => {
    const chain = await openChain(ground.testnet.config, silentLog);
    return read(chain).finally(() => chain.close());
  };
  const count = async (sql: string, values: readonly unknown[] = []) => {
    const [row] = await db.query<{ count: bigint }>(sql, values);
    return Number(row?.count ?? 0n);
  };
  return {
    onChain,
    /** Returns the `count` that a statement selects. */
    count,
    /** Returns the number of payments for this order that the contract has settled. */
    settledOnChain: (order: string) =>
      onChain(async (chain) => {
        const events = await readContractEvents(chain);
        return events.filter((one) => one.event === 'PaymentSettled' && one.orderId === order)
          .length;
      }),
    merchantNumber: async (accountId = account) => {
      const [row] = await db.query<{ number: bigint }>(
        `select merchant_number as number from account_modes
         where account_id = $1 and not livemode`,
        [accountId],
      );
      return present(row, 'mode of the account').number;
    },
    /** Returns the payer of a demo pass. */
    payerOf: async (pass: 'ok' | 'ok_2') => {
      const [payer] = await db.query<{ passId: string; payerId: string; address: Hex }>(
        `select s.id as "passId", y.id as "payerId", y.address
         from passes s join payers y on y.id = s.payer_id
         where s.label = $1 and not y.livemode`,
        [`Demo: ${pass}`],
      );
      return present(payer, 'payer');
    },
    /** Requests a withdrawal on the test network as the dashboard does. */
    withdraw: async (key: string, amount: bigint, accountId = account) => {
      const idKey = await openIdKey(db, idSealingKey(ground.secret));
      return onChain((chain) => askToWithdraw({ db, chain, idKey }, { accountId, key, amount }));
    },
    /** Waits until all invariants hold, including those between ledger and chain. */
    comeToRest: async () => {
      const sources = { db, chains: [ground.testnet.config] };
      assert.deepEqual(await comeToRest(sources, { limitMs: REST_MS }), []);
    },
  };
}

interface Loss {
  /** True if the database continues on a new timeline, as a promoted replica does. */
  readonly promote?: boolean;
  /** Called right after the restore, before the recovery is over. */
  readonly meanwhile?: (() => Promise<unknown>) | undefined;
  /** The step of the recovery at which the only worker dies, before it starts again. */
  readonly dyingAt?: Failpoint | undefined;
}

/** The first two nodes are API nodes. */
const WORKERS_FROM = 2;

type NewProcess = Pick<ChaosProcessOptions, 'name' | 'role' | 'firstEnv'>;

/** Returns the processes, and functions that stop some of them and start others. */
function openProcesses(ground: ChaosGround, env: Readonly<Record<string, string>>) {
  /** The two API nodes, followed by the workers. */
  const nodes: ChaosProcess[] = [];
  const stop = async (from = 0) => {
    await Promise.all(nodes.splice(from).map((one) => one.close()));
  };
  const start = async (processes: readonly NewProcess[]) => {
    const starting = processes.map((one) => startChaosProcess(ground, { ...one, env }));
    const started = await Promise.all(starting);
    nodes.push(...started);
    return started;
  };
  return { nodes, stop, start };
}

type Processes = ReturnType<typeof openProcesses>;

function losing({ database }: ChaosGround, db: Database, { stop, start }: Processes) {
  const recovery = async (): Promise<RecoveryRow> => {
    const [row] = await db.query<RecoveryRow>(
      'select * from network_recoveries where livemode = false',
    );
    return present(row, 'recovery');
  };
  /** Waits for the end of a recovery that was requested after `requestCount` was read. */
  const recovered = async (requestCount: bigint): Promise<RecoveryRow> => {
    const isOver = (now: RecoveryRow) => now.status === 'done' && now.request_count > requestCount;
    const row = await lastOf(recovery, isOver);
    assert.ok(row !== undefined && row.request_count > requestCount, 'no recovery was done');
    return row;
  };
  /**
   * Copies the database.
   * @returns a function that restores the copy and waits until the service has recovered
   */
  const backUp = async (name: string) => {
    const { request_count: requestCount } = await recovery();
    await database.copy(name);
    return async ({ promote = false, meanwhile, dyingAt }: Loss = {}): Promise<RecoveryRow> => {
      // Other workers would recover first.
      if (dyingAt !== undefined) await stop(WORKERS_FROM);
      await database.putBack(name, { promote });
      await meanwhile?.();
      if (dyingAt !== undefined) {
        const firstEnv = { TAPLINE_FAILPOINT: dyingAt };
        const [worker] = await start([{ name: `dies at ${dyingAt}`, role: 'worker', firstEnv }]);
        assert.ok(await waitUntil(() => (worker?.starts() ?? 0) > 1, REST_MS), 'nothing died');
      }
      return recovered(requestCount);
    };
  };
  return { recovery, recovered, backUp };
}

/** Two API nodes and the workers of a service. Tests can restore the service's database. */
export type RestoreGround = Awaited<ReturnType<typeof openRestoreGround>>;

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
) {
  const ground = await openChaosGround({
    providers: 'only',
    ...(delays === undefined ? {} : { delays }),
  });
  const sandbox = await makeShop(ground);
  const db = openDatabase({ url: ground.database.url, maxConnections: 4 });
  const processes = openProcesses(ground, env);
  const { nodes, stop } = processes;
  await processes.start([
    { name: 'api', role: 'api' },
    { name: 'other', role: 'api' },
    ...Array.from({ length: workers }, (_, number) => {
      return { name: `worker ${number}`, role: 'worker' } as const;
    }),
  ]);
  const node = (position: number) => {
    const url = nodes[position]?.url;
    return {
      url,
      merchant: caller(`${url}/v1`, sandbox.test.secret_key),
      terminal: caller(`${url}/device/v1`, sandbox.test.device_key),
    };
  };
  return {
    ...{ ground, db, sandbox, node, ...processes },
    outside: outsideService(ground.testnet.config),
    ...requests({ node, sandbox }),
    ...watching(ground, db, sandbox.account),
    ...losing(ground, db, processes),
    close: async () => {
      await stop();
      await db.close();
      await ground.close();
    },
  };
}
