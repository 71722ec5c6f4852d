import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '#db/database.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';

export interface SalesOptions {
  /**
   * Returns the API URL of the node that gets the next request, such as `http://127.0.0.1:1/api`.
   */
  readonly node: () => string;
  /** The merchant. Its customers pay with the pass `ok`. */
  readonly shop: Pick<SandboxFile['test'], 'secret_key' | 'device_key' | 'terminal' | 'passes'>;
  readonly clients: number;
  /**
   * Number of additional clients, each of which creates ten intents per second and does not pay
   * them. Default: 0.
   */
  readonly writers?: number;
  /** Each client's pause between two sales, in milliseconds. Default: 0. */
  readonly pauseMs?: number;
  /**
   * The reaction to an unexpected response. `report`: count it as a failure. `repeat`: send the
   * request again with the same key until it succeeds.
   */
  readonly onFailure: 'report' | 'repeat';
}

export interface Sale {
  readonly orderId: string;
  /** `null` until the response to the create request has arrived. */
  intentId: string | null;
  /** The status in the response to the tap; `null` until that has arrived. */
  status: string | null;
}

/** A shop that sells all the time, through a load balancer that picks a node for each request. */
export interface Sales {
  readonly sales: readonly Sale[];
  readonly failures: readonly string[];
  /** Returns the time of the last successful write, from `performance.now()`. */
  lastWriteAt(): number;
  /** Starts no further sales. Resolves once every started sale has ended. */
  stop(): Promise<void>;
}

/** Time limit of a request. The service responds within 30 s. */
const ANSWER_MS = 35_000;
const REPEAT_PAUSE_MS = 100;
const WRITE_PAUSE_MS = 100;
/**
 * For how long a request is repeated: longer than any simulated outage takes, including alert and
 * restart.
 */
const REPEAT_MS = 360_000;

type Body = { readonly [field: string]: unknown };

interface Post {
  readonly path: string;
  readonly bearer: string;
  readonly key: string;
  readonly body: Body;
}

/**
 * Sends a request.
 * @returns the object in the response, or an error message
 */
async function attempt(node: string, { path, bearer, key, body }: Post): Promise<Body | string> {
  try {
    const response = await fetch(`${node}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bearer}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const text = await response.text();
    return response.ok ? (JSON.parse(text) as Body) : `${path}: ${response.status} ${text}`;
  } catch (error) {
    return `${path}: ${error instanceof Error ? (error.cause ?? error) : error}`;
  }
}

/**
 * Returns a function that sends the requests of one shop, repeats them as configured, and records
 * the results.
 */
function openCounter(options: SalesOptions) {
  const failures: string[] = [];
  let lastWriteAt = performance.now();
  const post = async (request: Omit<Post, 'key'>): Promise<Body | null> => {
    const whole = { ...request, key: randomUUID() };
    const deadline = performance.now() + REPEAT_MS;
    for (;;) {
      const answer = await attempt(options.node(), whole);
      if (typeof answer !== 'string') {
        lastWriteAt = performance.now();
        return answer;
      }
      if (options.onFailure === 'report' || performance.now() > deadline) {
        failures.push(answer);
        return null;
      }
      await sleep(REPEAT_PAUSE_MS);
    }
  };
  return { failures, post, lastWriteAt: () => lastWriteAt };
}

export function keepSelling(options: SalesOptions): Sales {
  const sales: Sale[] = [];
  const { failures, post, lastWriteAt } = openCounter(options);
  let stopping = false;
  const { secret_key: secretKey, device_key: deviceKey, terminal, passes } = options.shop;
  const openOrder = async () => {
    const orderId = randomUUID().slice(0, 8);
    const sale: Sale = { orderId, intentId: null, status: null };
    sales.push(sale);
    const order = { amount: 1_000, terminal, order_id: orderId };
    const intent = await post({ path: '/v1/payment_intents', bearer: secretKey, body: order });
    if (intent !== null) sale.intentId = String(intent.id);
    return sale;
  };
  const sell = async () => {
    const sale = await openOrder();
    if (sale.intentId === null) return;
    const path = `/device/v1/payment_intents/${sale.intentId}/tap`;
    const credential = { type: 'nfc_id', value: passes.ok };
    const tapped = await post({ path, bearer: deviceKey, body: { credential } });
    if (tapped !== null) sale.status = String(tapped.status);
  };
  const client = async () => {
    while (!stopping) {
      await sell();
      if (options.pauseMs !== undefined) await sleep(options.pauseMs);
    }
  };
  const writer = async () => {
    while (!stopping) {
      await openOrder();
      await sleep(WRITE_PAUSE_MS);
    }
  };
  const writers = Array.from({ length: options.writers ?? 0 }, writer);
  const clients = [...writers, ...Array.from({ length: options.clients }, client)];
  return {
    sales,
    failures,
    lastWriteAt,
    stop: async () => {
      stopping = true;
      await Promise.all(clients);
    },
  };
}

interface Booked {
  readonly order_id: string;
  readonly id: string;
  readonly status: string;
  readonly payments: number;
}

/**
 * Compares the responses that the shop received with the ledger.
 * @returns contradictions: acknowledged sales that are missing or exist twice
 */
export async function compareSales(db: Sql, { sales }: Pick<Sales, 'sales'>): Promise<string[]> {
  const rows = await db.query<Booked>(
    `select i.order_id, i.id, i.status, count(p.id)::int as payments
     from payment_intents i left join payments p on p.payment_intent_id = i.id
     where i.order_id = any($1::text[]) group by i.id`,
    [sales.map(({ orderId }) => orderId)],
  );
  const byOrder = Map.groupBy(rows, ({ order_id }) => order_id);
  return sales.flatMap(({ orderId, intentId, status }) => {
    const booked = byOrder.get(orderId) ?? [];
    const [row] = booked;
    if (booked.length > 1) return [`${orderId} has ${booked.length} intents`];
    if (intentId !== null && row?.id !== intentId) return [`${orderId}: ${intentId} is lost`];
    if (row === undefined) return [];
    if (status === 'succeeded' && row.payments !== 1) return [`${row.id} was paid and is lost`];
    return row.payments > 1 ? [`${row.id} has ${row.payments} payments`] : [];
  });
}
