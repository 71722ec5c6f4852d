import {
  type CredentialEnds,
  readCredentialEnds,
  terminalInactive,
} from '#accounts/credential-ends.ts';
import { checkMayTakePayments } from '#accounts/merchant-caller.ts';
import {
  type Answer,
  answerRefusal,
  answerWith,
  isRefusal,
  type Refusal,
  refuse,
} from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { IdKey } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { type Stamp, stampOrders } from '#db/commit-order.ts';
import type { Database, Tx } from '#db/database.ts';
import type { DatabaseWatch } from '#db/watch.ts';
import { appendEvents } from '#events/append.ts';
import { insertDecided, takeKeys } from '#idempotency/batch-queries.ts';
import type { KeyRow } from '#idempotency/queries.ts';
import { freesKey, type IdempotentRequest, keyOf, meetUnderWay } from '#idempotency/request.ts';
import { decideReplay, keyExpiry, REPLAYED } from '#idempotency/run-once.ts';
import {
  type CreateRequest,
  type IntentIds,
  PLACES_PER_CREATE,
  toNewIntent,
} from '#payments/create-request.ts';
import { type ChosenOrderId, chooseOrderIds, orderKey } from '#payments/order-ids.ts';
import { asOf, type PaymentIntent } from '#payments/payment-intent.ts';
import {
  insertIntents,
  selectTerminalStatuses,
  type TerminalStatusRow,
} from '#payments/queries.ts';
import { renderIntent } from '#payments/render.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';
import { areStale, type DrawnNumber } from '#settlement/numbers.ts';

/** The rows that decide about a batch, read under the accounts' order locks. */
interface Found {
  /** Rows of the keys that exist already. */
  readonly keys: ReadonlyMap<string, KeyRow>;
  readonly terminals: ReadonlyMap<string, TerminalStatusRow>;
  readonly watch: DatabaseWatch;
  readonly ends: CredentialEnds;
  /** One per request. */
  readonly orderIds: readonly ChosenOrderId[];
  /** Of intents that this batch creates. */
  readonly taken: Set<string>;
}

type Decision =
  | { readonly kind: 'created'; readonly intent: PaymentIntent; readonly stamp: Stamp }
  /** The intent that it asks for existed before the database lost it, and was rebuilt. */
  | { readonly kind: 'rebuilt'; readonly intent: PaymentIntent }
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

interface Deciding {
  readonly request: CreateRequest;
  readonly orderId: ChosenOrderId;
  readonly drawn: DrawnNumber;
  readonly stamp: Stamp;
}

function decide(
  idKey: IdKey,
  { request, orderId, drawn, stamp }: Deciding,
  found: Found,
): Decision {
  const ended = found.ends(request.standing);
  if (ended !== null) return { kind: 'refused', refusal: ended };
  const known = found.keys.get(keyOf(request.idempotency));
  if (known !== undefined) {
    return { kind: 'replayed', answer: decideReplay(known, request.idempotency.fingerprint) };
  }
  const { tenant } = request.standing;
  const forbidden =
    checkLedger(found.watch, tenant.livemode) ?? checkMayTakePayments(request.standing);
  if (forbidden !== null) return { kind: 'refused', refusal: forbidden };
  if (orderId.rebuilt !== null) return { kind: 'rebuilt', intent: orderId.rebuilt };
  const refusal = checkTerminal(found.terminals.get(request.input.terminalId), tenant);
  if (refusal !== null) return { kind: 'refused', refusal };
  const key = orderKey(request, orderId.text);
  if (orderId.taken || found.taken.has(key)) {
    const message = `order_id ${orderId.text} belongs to another payment intent: choose a new one.`;
    return { kind: 'refused', refusal: refuse('order_id_in_use', message, 'order_id') };
  }
  found.taken.add(key);
  const created = { ...stamp, drawn, orderId: orderId.text };
  const intent = { ...toNewIntent(idKey, request, created), position: stamp.next() };
  return { kind: 'created', intent, stamp };
}

async function readFound(tx: Tx, idKey: IdKey, requests: readonly CreateRequest[]): Promise<Found> {
  const now = present(requests[0], 'request').now;
  const keysRead = takeKeys(
    tx,
    requests.map((request) => request.idempotency),
    now,
  );
  const [keys, orderIds, terminals, ends] = await Promise.all([
    keysRead,
    chooseOrderIds(tx, idKey, { requests, keys: keysRead }),
    selectTerminalStatuses(tx, [...new Set(requests.map(({ input }) => input.terminalId))]),
    readCredentialEnds(
      tx,
      requests.map(({ standing }) => standing),
    ),
  ]);
  const byId = new Map(terminals.map((row) => [row.id, row]));
  return { keys, watch: tx.watch, ends, orderIds, terminals: byId, taken: new Set() };
}

function answerOf(decision: Decision, request: CreateRequest): Answer | Refusal {
  switch (decision.kind) {
    case 'created':
      return answerWith(201, renderIntent(decision.intent));
    case 'rebuilt': {
      const answer = answerWith(201, renderIntent(asOf(decision.intent, request.now)));
      return { ...answer, headers: REPLAYED };
    }
    case 'refused':
      return freesKey(decision.refusal.code)
        ? decision.refusal
        : answerRefusal(decision.refusal, request.requestId);
    case 'replayed':
      return decision.answer;
  }
}

interface Batch {
  readonly requests: readonly CreateRequest[];
  /** One number per request. */
  readonly drawn: readonly DrawnNumber[];
}

/** The first of several requests with one key runs; the others met it under way. */
function decideAll(
  idKey: IdKey,
  { requests, drawn }: Batch,
  ground: { readonly found: Found; readonly stampOf: (tenant: Tenant) => Stamp },
): Decision[] {
  const { found, stampOf } = ground;
  const running = new Map<string, IdempotentRequest>();
  return requests.map((request, index) => {
    const key = keyOf(request.idempotency);
    const first = running.get(key);
    if (first !== undefined && !found.keys.has(key)) {
      return { kind: 'replayed', answer: meetUnderWay(first, request.idempotency) };
    }
    running.set(key, request.idempotency);
    const deciding = {
      request,
      orderId: present(found.orderIds[index], 'order id'),
      drawn: present(drawn[index], 'drawn number'),
      stamp: stampOf(request.standing.tenant),
    };
    return decide(idKey, deciding, found);
  });
}

interface Decided {
  readonly decision: Decision;
  readonly answer: Answer | Refusal;
}

/** Writes what was decided, and returns how many deliveries that made. */
async function writeDecided(
  tx: Tx,
  requests: readonly CreateRequest[],
  decided: readonly Decided[],
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
        resource: decision.kind === 'refused' ? null : decision.intent.id,
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
  const intents = created.map(({ intent }) => intent);
  const [, , deliveries] = await Promise.all([
    insertDecided(tx, stored),
    insertIntents(tx, intents),
    appendEvents(tx, drafts),
  ]);
  return deliveries;
}

/** What became of one request. */
export interface Created {
  readonly answer: Answer | Refusal;
  readonly created: boolean;
}

/** Lock, read, decide, write. */
async function decideBatch(tx: Tx, idKey: IdKey, batch: Batch) {
  const { requests, drawn } = batch;
  const now = new Date(Math.max(...requests.map((request) => request.now.getTime())));
  const wanted = requests.map(({ standing }) => ({
    tenant: standing.tenant,
    count: PLACES_PER_CREATE,
  }));
  const [stampOf, found, stale] = await Promise.all([
    stampOrders(tx, wanted, now),
    readFound(tx, idKey, requests),
    areStale(tx, drawn),
  ]);
  if (stale) throw new StaleNumbers('settlement numbers were raised since these were drawn');
  const decided = decideAll(idKey, batch, { found, stampOf }).map((decision, index) => ({
    decision,
    answer: answerOf(decision, present(requests[index], 'request')),
  }));
  const deliveries = tx.finish(writeDecided(tx, requests, decided));
  const outcomes = decided.map(({ answer, decision }): Created => {
    return { answer, created: decision.kind === 'created' };
  });
  return { outcomes, deliveries };
}

/** Nothing was written: numbers that are drawn now are good. */
class StaleNumbers extends Error {
  override name = 'StaleNumbers';
}

/** Numbers are raised once in a recovery: a second try finds them as the first left them. */
const MAX_TRIES = 3;

export interface CreateDeps extends IntentIds {
  readonly db: Database;
}

/**
 * Decides each request in one transaction, under the locks of all their accounts' orders.
 * @returns one outcome per request.
 */
export async function createBatch(
  { db, idKey, numbers }: CreateDeps,
  requests: readonly CreateRequest[],
): Promise<{ readonly outcomes: readonly Created[]; readonly deliveries: number }> {
  const modes = requests.map(({ standing }) => standing.tenant.livemode);
  for (let tries = 1; ; tries++) {
    const drawn = await numbers.take(modes);
    try {
      const written = await db.transaction((tx) => decideBatch(tx, idKey, { requests, drawn }));
      numbers.putBack(drawn.filter((_, index) => !written.outcomes[index]?.created));
      return { ...written, deliveries: await written.deliveries };
    } catch (error) {
      if (!(error instanceof StaleNumbers) || tries === MAX_TRIES) throw error;
      numbers.drop();
    }
  }
}
