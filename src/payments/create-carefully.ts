import {
  type CredentialEnds,
  readCredentialEnds,
  terminalInactive,
} from '#accounts/credential-ends.ts';
import { checkMayTakePayments } from '#accounts/merchant-caller.ts';
import { type Answer, answerRefusal, answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import { isRefusal, type Refusal, refuse } from '#core/refusal.ts';
import { type Stamp, stampOrders, tenantKey } from '#db/commit-order.ts';
import type { Database, Tx } from '#db/database.ts';
import type { DatabaseWatch } from '#db/watch.ts';
import { appendEvents } from '#events/append.ts';
import { insertDecided, selectKeys } from '#idempotency/batch-queries.ts';
import type { KeyRow } from '#idempotency/queries.ts';
import { freesKey, type IdempotentRequest, keyOf, meetUnderWay } from '#idempotency/request.ts';
import { decideReplay, keyExpiry } from '#idempotency/run-once.ts';
import {
  type CreateRequest,
  newOrderId,
  PLACES_PER_CREATE,
  toNewIntent,
} from '#payments/create-request.ts';
import type { PaymentIntent } from '#payments/payment-intent.ts';
import {
  insertIntents,
  selectOrderIdsInUse,
  selectTerminalStatuses,
  type TerminalStatusRow,
} from '#payments/queries.ts';
import { renderIntent } from '#payments/render.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';

/** What the database knows that decides over a batch, read under the accounts' order locks. */
interface Found {
  /** Rows of the keys that are there already. */
  readonly keys: ReadonlyMap<string, KeyRow>;
  readonly orderIds: Set<string>;
  readonly terminals: ReadonlyMap<string, TerminalStatusRow>;
  readonly watch: DatabaseWatch;
  readonly ends: CredentialEnds;
}

type Decision =
  | { readonly kind: 'created'; readonly intent: PaymentIntent; readonly stamp: Stamp }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'replayed'; readonly answer: Answer | Refusal };

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
  return terminalInactive();
}

function decide(request: CreateRequest, found: Found, stamp: Stamp): Decision {
  const ended = found.ends(request.standing);
  if (ended !== null) return { kind: 'refused', refusal: ended };
  const known = found.keys.get(keyOf(request.idempotency));
  if (known !== undefined) {
    return { kind: 'replayed', answer: decideReplay(known, request.idempotency.fingerprint) };
  }
  const { tenant } = request.standing;
  const refusal =
    checkLedger(found.watch, tenant.livemode) ??
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
  const intent = { ...toNewIntent(request, orderId, stamp.created), position: stamp.next() };
  return { kind: 'created', intent, stamp };
}

async function readFound(tx: Tx, requests: readonly CreateRequest[]): Promise<Found> {
  const wanted = requests.flatMap(({ standing, input }) =>
    input.orderId === null ? [] : [{ tenant: standing.tenant, orderId: input.orderId }],
  );
  const now = present(requests[0], 'request').now;
  const [keys, orderIds, terminals, ends] = await Promise.all([
    selectKeys(
      tx,
      requests.map((request) => request.idempotency),
      now,
    ),
    selectOrderIdsInUse(tx, wanted),
    selectTerminalStatuses(tx, [...new Set(requests.map(({ input }) => input.terminalId))]),
    readCredentialEnds(
      tx,
      requests.map(({ standing }) => standing),
    ),
  ]);
  return {
    keys,
    watch: tx.watch,
    orderIds: new Set(
      orderIds.map((row) => {
        const tenant = { accountId: row.account_id, livemode: row.livemode };
        return `${tenantKey(tenant)} ${row.order_id}`;
      }),
    ),
    terminals: new Map(terminals.map((row) => [row.id, row])),
    ends,
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
      return { kind: 'replayed', answer: meetUnderWay(first, request.idempotency) };
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

export interface CreatedCarefully {
  /** One per request. */
  readonly outcomes: readonly { readonly answer: Answer | Refusal; readonly created: boolean }[];
  readonly deliveries: number;
}

/**
 * Decides over each request under the locks of all their accounts' orders, whatever there is to
 * decide, in one transaction.
 */
export function createCarefully(
  db: Database,
  requests: readonly CreateRequest[],
): Promise<CreatedCarefully> {
  return db.transaction(async (tx) => {
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
    const decided = decideAll(requests, found, stamps).map((decision, index) => ({
      decision,
      answer: answerOf(decision, present(requests[index], 'request')),
    }));
    const deliveries = await write(tx, requests, decided);
    const outcomes = decided.map(({ answer, decision }) => ({
      answer,
      created: decision.kind === 'created',
    }));
    return { outcomes, deliveries };
  });
}
