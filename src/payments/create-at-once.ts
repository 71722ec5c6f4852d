import { checkMayTakePayments } from '#accounts/merchant-caller.ts';
import { type Answer, answerWith, type Refusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Clock } from '#core/clock.ts';
import { type IdKey, newId } from '#core/ids.ts';
import type { Draw } from '#db/batching.ts';
import type { ColumnValues } from '#db/columns.ts';
import { createdAt, lockingStatement, type TimeRow, tenantKey, toTimes } from '#db/commit-order.ts';
import { codeOf, type Pipeline } from '#db/database.ts';
import type { Statement } from '#db/pipeline.ts';
import type { DatabaseWatch } from '#db/watch.ts';
import { eventHead, topicsOf } from '#events/append.ts';
import { type IdempotentRequest, keyOf, meetUnderWay } from '#idempotency/request.ts';
import { decideReplay, type StoredAnswer } from '#idempotency/run-once.ts';
import type { AccountClocks } from '#payments/account-clocks.ts';
import {
  type CreateRequest,
  type IntentIds,
  orderIdOf,
  PLACES_PER_CREATE,
  toNewIntent,
} from '#payments/create-request.ts';
import { CREATE, NEW_CREATES, type NewCreate } from '#payments/create-statement.ts';
import { renderIntent } from '#payments/render.ts';
import type { DrawnNumber } from '#settlement/numbers.ts';

const CREATED = 'payment_intent.created';

/** Codes of a statement that lost a race, for a key or an order id, or met a deadlock. */
const MET_ANOTHER = new Set(['23505', '40P01']);

interface AtOnceDeps extends IntentIds {
  readonly clock: Clock;
  readonly pipeline: Pipeline;
  readonly clocks: AccountClocks;
}

/** `null`: this request was not touched. */
export type AtOnce = { readonly answer: Answer | Refusal; readonly created: boolean } | null;

export interface CreatedAtOnce {
  /** One per request. */
  readonly outcomes: readonly AtOnce[];
  /**
   * Requests that were not touched only because another transaction held or stamped their order.
   */
  readonly busy: ReadonlySet<number>;
  readonly deliveries: number;
}

/**
 * The first says what was written. Each belongs to a known key, or to none when no key is known.
 */
interface WrittenRow {
  readonly items: number[];
  readonly open: number[];
  readonly deliveries: bigint;
}

type OutcomeRow = WrittenRow &
  ({ readonly item: null } | (StoredAnswer & { readonly item: number; readonly expires_at: Date }));

interface Candidate {
  readonly request: CreateRequest;
  readonly orderId: string;
  /** Which of the batch's requests it is. */
  readonly item: number;
}

/** What the statement is asked to create. */
interface Numbered extends Candidate {
  readonly drawn: DrawnNumber;
}

/**
 * The first of each key and order id, of accounts that may take payments on a ledger that is open:
 * what follows them has to be decided after them.
 */
function candidates(
  idKey: IdKey,
  requests: readonly CreateRequest[],
  watch: DatabaseWatch,
): Candidate[] {
  const seen = new Set<string>();
  const isFirst = (text: string) => !seen.has(text) && seen.add(text) !== null;
  return requests.flatMap((request, item) => {
    const { standing, idempotency } = request;
    if (!isFirst(`key ${keyOf(idempotency)}`) || checkMayTakePayments(standing) !== null) return [];
    if (!watch.serves(standing.tenant.livemode)) return [];
    const orderId = orderIdOf(idKey, request);
    const alone = isFirst(`order ${tenantKey(standing.tenant)} ${orderId}`);
    return alone ? [{ request, orderId, item }] : [];
  });
}

interface Row {
  readonly item: number;
  readonly request: IdempotentRequest;
  readonly drawn: DrawnNumber;
  readonly answer: Answer;
}

/** A row, and what the statement is told about it. */
interface Draft {
  readonly row: Row;
  readonly columns: NewCreate;
}

function toDraft(
  idKey: IdKey,
  { request, orderId, drawn, item }: Numbered,
  stamped: { readonly place: number; readonly created: Date; readonly aheadSeconds: number },
): Draft {
  const { place, created, aheadSeconds } = stamped;
  const { standing, idempotency, input, now } = request;
  const { accountId, livemode } = standing.tenant;
  const intent = toNewIntent(idKey, request, { drawn, orderId, created, aheadSeconds });
  const answer = answerWith(201, renderIntent(intent));
  const eventId = newId('event', created);
  const columns: NewCreate = {
    item,
    place,
    account_id: accountId,
    livemode,
    created,
    caller: idempotency.caller,
    key: idempotency.key,
    fingerprint: idempotency.fingerprint,
    method: idempotency.method,
    path: idempotency.path,
    key_created: now,
    id: intent.id,
    number: drawn.number,
    epoch: drawn.epoch,
    amount: intent.amount,
    terminal_id: intent.terminalId,
    order_id: intent.orderId,
    // Nobody has one that we made up; if somebody does, the unique index says so.
    order_id_given: input.orderId !== null,
    description: intent.description,
    metadata: JSON.stringify(intent.metadata),
    source: intent.source,
    split_group: intent.splitGroup,
    expires_at: intent.expiresAt,
    picked_up_at: intent.pickedUpAt,
    ahead_seconds: aheadSeconds,
    tipping: intent.tipping === null ? null : JSON.stringify(intent.tipping),
    key_hash: standing.keyHash ?? null,
    traceparent: intent.traceparent ?? null,
    body: answer.body,
    event_id: eventId,
    event_head: eventHead({ id: eventId, type: CREATED, livemode, created }),
  };
  return { row: { item, request: idempotency, drawn, answer }, columns };
}

/**
 * The requests of each account and mode are numbered from the first place that is not taken. They
 * count as created now, not when they arrived: what other processes send for the account later has
 * a later time then, so it is rare that one has to be left out. The rows do not keep their columns,
 * which nobody needs while the statement is under way.
 */
function toRows(
  { clock, clocks, idKey }: AtOnceDeps,
  tried: readonly Numbered[],
): { readonly rows: Row[]; readonly input: ColumnValues } {
  const byTenant = Map.groupBy(tried, ({ request }) => tenantKey(request.standing.tenant));
  const now = clock.now();
  const drafts = [...byTenant.entries()].flatMap(([tenant, group]) => {
    const known = clocks.timeOf(tenant);
    const time = { created: createdAt(known, now), aheadSeconds: known.aheadSeconds };
    clocks.learn(tenant, { ...known, stampedAt: time.created });
    return group.map((one, n) =>
      toDraft(idKey, one, { ...time, place: 1 + n * PLACES_PER_CREATE }),
    );
  });
  const input = NEW_CREATES.valuesOf(drafts.map(({ columns }) => columns));
  return { rows: drafts.map(({ row }) => row), input };
}

/** An expired key belongs to nobody, but its row has to be removed first: that is not plain. */
function replay(known: StoredAnswer & { readonly expires_at: Date }, asked: CreateRequest): AtOnce {
  if (known.expires_at <= asked.now) return null;
  return { answer: decideReplay(known, asked.idempotency.fingerprint), created: false };
}

/** The result of each request, from the rows that the statement was given and has returned. */
function outcomesOf(
  requests: readonly CreateRequest[],
  rows: readonly Row[],
  found: readonly OutcomeRow[],
): AtOnce[] {
  const written = new Set(found[0]?.items);
  const created = new Map(rows.flatMap((row) => (written.has(row.item) ? [[row.item, row]] : [])));
  const known = new Map(found.flatMap((row) => (row.item === null ? [] : [[row.item, row]])));
  const used = new Map([...created.values()].map(({ request }) => [keyOf(request), request]));
  return requests.map((request, item): AtOnce => {
    const [own, stored] = [created.get(item), known.get(item)];
    if (own !== undefined) return { answer: own.answer, created: true };
    if (stored !== undefined) return replay(stored, request);
    const first = used.get(keyOf(request.idempotency));
    if (first === undefined) return null;
    return { answer: meetUnderWay(first, request.idempotency), created: false };
  });
}

/** What the statement was given, and what it said. */
interface Written {
  readonly rows: readonly Row[];
  readonly found: readonly OutcomeRow[];
}

/** Gives back the numbers that were not used, and says what became of each request. */
function settle(
  { numbers }: IntentIds,
  requests: readonly CreateRequest[],
  { drawn, written }: { readonly drawn: readonly DrawnNumber[]; readonly written: Written },
): CreatedAtOnce {
  const { rows, found } = written;
  const items = new Set(found[0]?.items);
  const used = new Set(rows.flatMap((row) => (items.has(row.item) ? [row.drawn] : [])));
  numbers.putBack(drawn.filter((one) => !used.has(one)));
  return {
    outcomes: outcomesOf(requests, rows, found),
    busy: new Set(found[0]?.open.filter((item) => !items.has(item))),
    deliveries: Number(found[0]?.deliveries ?? 0),
  };
}

/** Another transaction was quicker: the whole statement has done nothing. */
function nothingIfMet(error: unknown): OutcomeRow[] {
  if (MET_ANOTHER.has(codeOf(error))) return [];
  throw error;
}

/** A statement for those requests of a batch that may be plain. */
interface Prepared {
  readonly rows: readonly Row[];
  readonly statement: Statement;
  /** Once the statement was sent and answered. */
  release(): void;
}

/** @returns null when none of them may be plain. */
function prepare(
  deps: AtOnceDeps,
  requests: readonly CreateRequest[],
  numberOf: (one: Candidate) => DrawnNumber | undefined,
): Prepared | null {
  const tried = candidates(deps.idKey, requests, deps.pipeline.watch);
  if (tried.length === 0) return null;
  const numbered = tried.map((one) => ({ ...one, drawn: present(numberOf(one), 'drawn number') }));
  const { rows, input } = toRows(deps, numbered);
  const values = [CREATED, topicsOf(CREATED), ...input.values];
  return { rows, statement: { text: CREATE, values }, release: () => input.release() };
}

/**
 * Creates the plain ones of these intents in one round trip, and answers what comes again. A
 * request whose key was used by another of the batch has met that one under way. The others are
 * left untouched, and so are all of them when another transaction was quicker with one of the keys.
 * It never waits for a lock.
 * @throws DatabaseUnavailable nothing was done. @throws CommitUnknown it may have been done.
 */
export async function createAtOnce(
  deps: AtOnceDeps,
  requests: readonly CreateRequest[],
): Promise<CreatedAtOnce> {
  const { pipeline, numbers } = deps;
  const drawn = await numbers.take(requests.map(({ standing }) => standing.tenant.livemode));
  // After drawing: that may have opened a connection, which may have met another database.
  const prepared = prepare(deps, requests, ({ item }) => drawn[item]);
  if (prepared === null) return settle(deps, requests, { drawn, written: { rows: [], found: [] } });
  const { rows, statement, release } = prepared;
  const found = await pipeline
    .run<OutcomeRow>(statement.text, statement.values)
    .catch(nothingIfMet)
    .finally(release);
  return settle(deps, requests, { drawn, written: { rows, found } });
}

/**
 * The same for accounts for which other processes write at the same time. It waits for the locks of
 * their orders first, so that nobody is in the statement's way. Only then are the requests taken:
 * as many as have come until then share the statement, and their time is that of their turn.
 * @param most How many requests the draw can take.
 * @throws DatabaseUnavailable nothing was done. @throws CommitUnknown it may have been done.
 */
export async function createUnderLocks(
  deps: AtOnceDeps,
  draw: Draw<CreateRequest>,
  most: number,
): Promise<CreatedAtOnce> {
  const { pipeline, clocks, numbers } = deps;
  const tenants = new Map(
    draw.waiting().map(({ standing: { tenant } }) => [tenantKey(tenant), tenant]),
  );
  const modes = new Set([...tenants.values()].map(({ livemode }) => livemode));
  // Before the locks, so that nobody waits for us while we draw.
  const drawn = await numbers.take([...modes].flatMap((livemode) => Array(most).fill(livemode)));
  const batch: { prepared: Prepared | null } = { prepared: null };
  const found = await pipeline
    .runLocked<TimeRow, OutcomeRow>(lockingStatement([...tenants.values()]), (locked) => {
      for (const [tenant, time] of toTimes(locked)) clocks.learn(tenant, time);
      const requests = draw.take(({ standing }) => tenants.has(tenantKey(standing.tenant)));
      const left = Map.groupBy(drawn, ({ livemode }) => livemode);
      batch.prepared = prepare(deps, requests, ({ request }) =>
        left.get(request.standing.tenant.livemode)?.shift(),
      );
      return batch.prepared?.statement ?? null;
    })
    .catch((error) => {
      // It did not get the locks: there are no requests yet that could be left untouched.
      if (draw.taken().length === 0) throw error;
      return nothingIfMet(error);
    })
    .finally(() => batch.prepared?.release());
  const rows = batch.prepared?.rows ?? [];
  return settle(deps, draw.taken(), { drawn, written: { rows, found } });
}
