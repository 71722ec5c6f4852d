import { randomBytes } from 'node:crypto';
import { checkMayTakePayments, type MerchantStanding } from '#accounts/merchant-caller.ts';
import { type Answer, answerRefusal, answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { base62 } from '#core/base62.ts';
import { addSeconds } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { atoms } from '#core/money.ts';
import { isRefusal, type Refusal, refuse } from '#core/refusal.ts';
import { createBatcher } from '#db/batching.ts';
import { type Stamp, stampOrders, tenantKey } from '#db/commit-order.ts';
import type { Database, Tx } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { appendEvents } from '#events/append.ts';
import { insertDecided, selectKeys } from '#idempotency/batch-queries.ts';
import type { KeyRow } from '#idempotency/queries.ts';
import {
  freesKey,
  type IdempotentRequest,
  keyReused,
  requestInProgress,
} from '#idempotency/request.ts';
import { decideReplay, keyExpiry } from '#idempotency/run-once.ts';
import type { PaymentIntent } from '#payments/payment-intent.ts';
import {
  insertIntents,
  selectOrderIdsInUse,
  selectTerminalStatuses,
  type TerminalStatusRow,
} from '#payments/queries.ts';
import { renderIntent } from '#payments/render.ts';

/** What a merchant's server, or a cashier, asks for. Already validated. */
export interface NewIntent {
  readonly amount: number;
  readonly terminalId: string;
  readonly orderId: string | null;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly source: 'api' | 'terminal';
  readonly splitGroup: string | null;
  /** Seconds. */
  readonly expiresIn: number;
}

export interface CreateRequest {
  readonly standing: MerchantStanding;
  readonly idempotency: IdempotentRequest;
  readonly requestId: string;
  readonly now: Date;
  readonly input: NewIntent;
}

export type CreateIntent = (request: CreateRequest) => Promise<Answer | Refusal>;

/** What the database knows that decides over a batch, read under the accounts' order locks. */
interface Found {
  /** Rows of the keys that are there already. */
  readonly keys: ReadonlyMap<string, KeyRow>;
  readonly orderIds: Set<string>;
  readonly terminals: ReadonlyMap<string, TerminalStatusRow>;
}

type Decision =
  | { readonly kind: 'created'; readonly intent: PaymentIntent; readonly stamp: Stamp }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'replayed'; readonly answer: Answer | Refusal };

/** 62^8 values: two of one account's intents meet with a chance of one in 10^14 per pair. */
const ORDER_ID_LENGTH = 8;
/** An intent and its event. */
const PLACES_PER_CREATE = 2;
/** Batches of one account wait for each other's commit, so more in flight would only queue. */
const MAX_IN_FLIGHT = 3;
/** Above this a batch's own time shows in the latency of its first request. */
const MAX_ITEMS = 64;

function keyOf(request: IdempotentRequest): string {
  return `${tenantKey(request.tenant)} ${request.caller} ${request.key}`;
}

function newOrderId(): string {
  return base62(BigInt(`0x${randomBytes(16).toString('hex')}`), ORDER_ID_LENGTH);
}

function checkTerminal(terminal: TerminalStatusRow | undefined, tenant: Tenant): Refusal | null {
  const own = terminal?.account_id === tenant.accountId && terminal.livemode === tenant.livemode;
  if (!own) {
    return refuse(
      'parameter_invalid',
      "terminal is not one of this account's terminals in this mode: see GET /v1/terminals.",
      'terminal',
    );
  }
  if (terminal.status === 'active') return null;
  return refuse('terminal_inactive', 'The terminal is inactive: activate it in the dashboard.');
}

function toNewIntent(request: CreateRequest, orderId: string, stamp: Stamp): PaymentIntent {
  const { input } = request;
  return {
    id: newId('paymentIntent', stamp.created),
    tenant: request.standing.tenant,
    position: stamp.next(),
    created: stamp.created,
    amount: atoms(input.amount),
    terminalId: input.terminalId,
    orderId,
    description: input.description,
    metadata: input.metadata,
    source: input.source,
    splitGroup: input.splitGroup,
    expiresAt: addSeconds(stamp.created, input.expiresIn),
    pickedUpAt: input.source === 'terminal' ? stamp.created : null,
    tappedAt: null,
    lastPaymentError: null,
    status: 'requires_payment_method',
  };
}

function decide(request: CreateRequest, found: Found, stamp: Stamp): Decision {
  const known = found.keys.get(keyOf(request.idempotency));
  if (known !== undefined) {
    return { kind: 'replayed', answer: decideReplay(known, request.idempotency.fingerprint) };
  }
  const { tenant } = request.standing;
  const refusal =
    checkMayTakePayments(request.standing) ??
    checkTerminal(found.terminals.get(request.input.terminalId), tenant);
  if (refusal !== null) return { kind: 'refused', refusal };
  const orderId = request.input.orderId ?? newOrderId();
  const orderKey = `${tenantKey(tenant)} ${orderId}`;
  if (found.orderIds.has(orderKey)) {
    const message = `order_id ${orderId} belongs to another payment intent: choose a new one.`;
    return { kind: 'refused', refusal: refuse('order_id_in_use', message, 'order_id') };
  }
  found.orderIds.add(orderKey);
  return { kind: 'created', intent: toNewIntent(request, orderId, stamp), stamp };
}

async function readFound(tx: Tx, requests: readonly CreateRequest[]): Promise<Found> {
  const wanted = requests.flatMap(({ standing, input }) =>
    input.orderId === null ? [] : [{ tenant: standing.tenant, orderId: input.orderId }],
  );
  const now = present(requests[0], 'request').now;
  const [keys, orderIds, terminals] = await Promise.all([
    selectKeys(
      tx,
      requests.map((request) => request.idempotency),
      now,
    ),
    selectOrderIdsInUse(tx, wanted),
    selectTerminalStatuses(tx, [...new Set(requests.map(({ input }) => input.terminalId))]),
  ]);
  return {
    keys,
    orderIds: new Set(
      orderIds.map((row) => {
        const tenant = { accountId: row.account_id, livemode: row.livemode };
        return `${tenantKey(tenant)} ${row.order_id}`;
      }),
    ),
    terminals: new Map(terminals.map((row) => [row.id, row])),
  };
}

function answerOf(decision: Decision, request: CreateRequest): Answer | Refusal {
  switch (decision.kind) {
    case 'created':
      return answerWith(201, renderIntent(decision.intent));
    case 'refused':
      return freesKey(decision.refusal.code)
        ? decision.refusal
        : answerRefusal(decision.refusal, request.requestId);
    case 'replayed':
      return decision.answer;
  }
}

/** What a request gets that met another with its key under way. */
function meet(first: IdempotentRequest, request: IdempotentRequest): Refusal {
  return first.fingerprint.equals(request.fingerprint) ? requestInProgress() : keyReused();
}

/** The first of several requests with one key runs; the others met it under way. */
function decideAll(
  requests: readonly CreateRequest[],
  found: Found,
  stamps: ReadonlyMap<string, Stamp>,
): Decision[] {
  const running = new Map<string, IdempotentRequest>();
  return requests.map((request) => {
    const key = keyOf(request.idempotency);
    const first = running.get(key);
    if (first !== undefined && !found.keys.has(key)) {
      return { kind: 'replayed', answer: meet(first, request.idempotency) };
    }
    running.set(key, request.idempotency);
    const stamp = present(stamps.get(tenantKey(request.standing.tenant)), 'stamp');
    return decide(request, found, stamp);
  });
}

async function write(
  tx: Tx,
  requests: readonly CreateRequest[],
  decided: readonly { readonly decision: Decision; readonly answer: Answer | Refusal }[],
): Promise<number> {
  const created = decided.flatMap(({ decision }) =>
    decision.kind === 'created' ? [decision] : [],
  );
  const stored = decided.flatMap(({ decision, answer }, index) => {
    if (decision.kind === 'replayed' || isRefusal(answer)) return [];
    const request = present(requests[index], 'request');
    return [
      {
        request: request.idempotency,
        resource: decision.kind === 'created' ? decision.intent.id : null,
        answer,
        created: request.now,
        expiresAt: keyExpiry(request.now),
      },
    ];
  });
  const drafts = created.map(({ intent, stamp }) => ({
    tenant: intent.tenant,
    type: 'payment_intent.created' as const,
    objectId: intent.id,
    object: renderIntent(intent),
    stamp,
  }));
  const written = await Promise.all([
    insertDecided(tx, stored),
    insertIntents(
      tx,
      created.map(({ intent }) => intent),
    ),
    appendEvents(tx, drafts),
  ]);
  return written[2];
}

async function createBatch(
  deps: { readonly db: Database; readonly wakeups: Wakeups },
  requests: readonly CreateRequest[],
): Promise<(Answer | Refusal)[]> {
  const { decided, deliveries } = await deps.db.transaction(async (tx) => {
    const now = new Date(Math.max(...requests.map((request) => request.now.getTime())));
    const counts = Map.groupBy(requests, ({ standing }) => tenantKey(standing.tenant));
    const wanted = [...counts.values()].map((group) => ({
      tenant: present(group[0], 'request').standing.tenant,
      count: group.length * PLACES_PER_CREATE,
    }));
    const [stamps, found] = await Promise.all([
      stampOrders(tx, wanted, now),
      readFound(tx, requests),
    ]);
    const decisions = decideAll(requests, found, stamps);
    const decided = decisions.map((decision, index) => ({
      decision,
      answer: answerOf(decision, present(requests[index], 'request')),
    }));
    return { decided, deliveries: await write(tx, requests, decided) };
  });
  for (const { decision } of decided) {
    if (decision.kind === 'created') deps.wakeups.send('terminal', decision.intent.terminalId);
  }
  if (deliveries > 0) deps.wakeups.send('deliveries');
  return decided.map(({ answer }) => answer);
}

/**
 * Creates payment intents by group commit: what waits while earlier batches are under way shares
 * one transaction. Key, intent, event, deliveries and stored response of each commit together.
 */
export function createIntentCreator(deps: {
  readonly db: Database;
  readonly wakeups: Wakeups;
}): CreateIntent {
  const batcher = createBatcher<CreateRequest, Answer | Refusal>({
    run: (requests) => createBatch(deps, requests),
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: MAX_ITEMS,
  });
  return (request) => batcher.add(request);
}
