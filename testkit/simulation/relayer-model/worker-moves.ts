import { present } from '#core/assert.ts';
import {
  firstEffects,
  type step,
} from '#settlement/relayer/state-machine/decide-transaction-step.ts';
import {
  type Effect,
  fromRows,
  isExpired,
  type Observation,
  type OpenTransaction,
  type Transaction,
} from '#settlement/relayer/state-machine/transaction.ts';
import {
  attemptOf,
  type Bounds,
  type ChainState,
  FIRST_OFFER,
  type Job,
  jobOf,
  nonceOn,
  nowAt,
  type Row,
  type Rows,
  type Task,
  timeOf,
  type Worker,
} from '#testkit/simulation/relayer-model/world.ts';

/** Thrown when an invariant is violated. */
export class Violation extends Error {
  override name = 'Violation';
}

export function promise(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Violation(what);
}

export interface Scene {
  readonly worker: Worker;
  readonly rows: Rows;
  readonly chain: ChainState;
}

/**
 * The step function under test (the relayer's own, or one with a planted fault) and the worker that
 * runs it.
 */
export interface Machine {
  readonly step: typeof step;
  readonly bounds: Bounds;
  readonly self: number;
}

export const NOBODY: Worker = {
  ...{ head: null, held: [null, null], tasks: [], isTending: false, crashes: 0, faults: 0 },
};

export function openOf(worker: Worker, { bounds }: Machine, slot: number): OpenTransaction | null {
  const sender = present(bounds.slots[slot], 'slot').sender;
  const result = worker.held[sender]?.open[slot] ?? null;
  return result === null || result.phase === 'done' ? null : result;
}

function withOpen(worker: Worker, machine: Machine, slot: number, next: Transaction): Worker {
  const { sender } = present(machine.bounds.slots[slot], 'slot');
  const held = present(worker.held[sender] ?? null, 'held sender');
  const { [slot]: _, ...others } = held.open;
  const open = next.phase === 'done' ? others : { ...others, [slot]: next };
  return { ...worker, held: worker.held.with(sender, { ...held, open }) };
}

export function slotsOf(worker: Worker): number[] {
  return worker.held.flatMap((held) => Object.keys(held?.open ?? {}).map(Number));
}

const COMES_LAST: ReadonlySet<string> = new Set(['broadcast', 'ask_signer']);

/**
 * Converts effects to tasks. Effects on results are left out, because they are applied when the
 * result is read.
 */
export function toTasks(slot: number, effects: readonly Effect[]): Task[] {
  return effects.flatMap((effect): Task[] => {
    switch (effect.kind) {
      case 'replace':
        return [{ kind: 'replace', slot, offer: effect.offer, requeue: false }];
      case 'cancel':
        return [{ kind: 'cancel', slot, offer: effect.offer, requeue: effect.requeue }];
      case 'read_result':
      case 'apply_result':
      case 'alert':
      case 'drop':
        return [];
      default:
        return [{ kind: effect.kind, slot }];
    }
  });
}

export function withTasks(worker: Worker, tasks: readonly Task[]): Worker {
  const isLast = ({ kind }: Task) => COMES_LAST.has(kind);
  const before = worker.tasks.filter((one) => !isLast(one));
  const late = [...worker.tasks.filter(isLast), ...tasks.filter(isLast)];
  const unique = new Map(late.map((one) => [JSON.stringify(one), one]));
  return {
    ...worker,
    tasks: [...before, ...tasks.filter((one) => !isLast(one)), ...unique.values()],
  };
}

interface Observing {
  readonly worker: Worker;
  readonly effects: readonly Effect[];
}

export function observe(
  worker: Worker,
  machine: Machine,
  slot: number,
  observation: Observation,
  height: number | null = worker.head?.height ?? null,
): Observing {
  const known = openOf(worker, machine, slot);
  if (known === null) return { worker, effects: [] };
  const now = nowAt(height, machine.bounds);
  const { transaction, effects } = machine.step(known, observation, now);
  return { worker: withOpen(worker, machine, slot, transaction), effects };
}

/**
 * Gives an observation to a transaction, and converts the resulting effects to tasks. Models
 * `observe`.
 */
export function learn(
  worker: Worker,
  machine: Machine,
  slot: number,
  observation: Observation,
): Worker {
  const next = observe(worker, machine, slot, observation);
  return withTasks(next.worker, toTasks(slot, next.effects));
}

/** Returns true if the worker still holds the sender according to the rows. */
export function isHolder(rows: Rows, worker: Worker, machine: Machine, sender: number): boolean {
  const lease = rows.leases[sender];
  return lease?.holder === machine.self && lease.fencingToken === worker.held[sender]?.fencingToken;
}

/** Returns the worker after a crash: without its memory and its pending tasks. */
export function crash(worker: Worker, { bounds }: Machine): Worker[] {
  const isEmpty = worker.head === null && worker.held.every((held) => held === null);
  if (isEmpty || worker.crashes >= bounds.crashes) return [];
  return [{ ...NOBODY, crashes: worker.crashes + 1, faults: worker.faults }];
}

// The following functions change rows.

export function withRow(rows: Rows, slot: number, row: Row): Rows {
  return { ...rows, transactions: rows.transactions.with(slot, row) };
}

export function rowOf(rows: Rows, slot: number): Row {
  return present(rows.transactions[slot] ?? null, 'row of a transaction');
}

export function queuedAgain(rows: Rows, slot: number, jobs: readonly number[]): Rows {
  const row = rowOf(rows, slot);
  const moved = jobs.filter((job) => rows.jobs[job]?.slot === slot);
  if (moved.length === 0) return rows;
  const left = row.jobs.filter((job) => !moved.includes(job));
  const queued: Job = { status: 'queued', slot: null };
  return {
    ...withRow(rows, slot, { ...row, jobs: left, retired: true }),
    jobs: rows.jobs.map((job, index) => (moved.includes(index) ? queued : job)),
  };
}

/**
 * Stores a broadcast with a higher fee. Models `storeOffer`.
 * @returns the observation to give to the transaction
 */
export function storeOffer(
  rows: Rows,
  transaction: OpenTransaction,
  task: { readonly slot: number; readonly offer: Offer; readonly requeue: boolean },
  { bounds }: Machine,
): { readonly rows: Rows; readonly observation: Observation } {
  const { slot, offer, requeue: isRequeued } = task;
  const row = rowOf(rows, slot);
  const isAsked = bounds.signsElsewhere || transaction.wanted !== null;
  const stored: Row = isAsked
    ? { ...row, wanted: offer }
    : { ...row, attempts: [...row.attempts, offer] };
  const next = withRow(rows, slot, stored);
  const jobs = transaction.requests.map(({ id }) => Number(id));
  const after = isRequeued ? queuedAgain(next, slot, jobs) : next;
  const observation: Observation = isAsked
    ? { kind: 'offer_stored', offer, isRequeued }
    : {
        kind: 'attempt_stored',
        attempt: attemptOf(slot, row.attempts.length, offer),
        isRequeued,
      };
  return { rows: after, observation };
}

type Offer = Row['attempts'][number];

/** Loads a sender's rows that are not in the worker's memory yet. */
export function load(scene: Scene, machine: Machine, sender: number): Scene {
  const { rows, chain } = scene;
  let { worker } = scene;
  machine.bounds.slots.forEach((position, slot) => {
    const row = rows.transactions[slot];
    if (position.sender !== sender || row?.status !== 'signed') return;
    if (openOf(worker, machine, slot) !== null) return;
    const loaded = fromRow(row, rows, machine, { slot, height: worker.head?.height ?? null });
    worker = withOpen(worker, machine, slot, loaded);
    worker = withTasks(worker, toTasks(slot, firstEffects(loaded)));
  });
  return { worker, rows, chain };
}

function fromRow(
  row: Row,
  rows: Rows,
  { bounds }: Machine,
  { slot, height }: { readonly slot: number; readonly height: number | null },
): OpenTransaction {
  const facts = {
    ...{ id: BigInt(slot), nonce: BigInt(present(bounds.slots[slot], 'slot').nonce) },
    ...({ kind: 'payment', target: '0x01', input: '0x', gasLimit: 1n, signedAtMs: null } as const),
    attempts: row.attempts.map((offer, index) => attemptOf(slot, index, offer)),
    wanted: row.wanted,
    requests: row.jobs.map((job) => jobOf(job, rows.jobs[job]?.status === 'succeeded')),
    validUntil: timeOf(row.validUntil),
  };
  const newest = row.wanted ?? row.attempts.at(-1);
  const head = height === null ? null : { time: timeOf(height) };
  const isWhole = !row.retired && !isExpired(facts, head) && facts.requests.length > 0;
  const isBarred = newest?.cancels !== true && !isWhole;
  return fromRows(facts, 'always', isBarred);
}

/** Takes over a sender after this worker acquired its lease. */
export function takeUp(scene: Scene, machine: Machine): Scene[] {
  const { worker, rows, chain } = scene;
  if (worker.tasks.length > 0) return [];
  return rows.leases.flatMap((lease, sender) => {
    if (lease.holder !== machine.self || worker.held[sender] !== null) return [];
    const next = rows.transactions.filter(
      (row, slot) => row !== null && machine.bounds.slots[slot]?.sender === sender,
    ).length;
    const used = nonceOn(chain, sender, machine.bounds);
    if (used > next) return [];
    const held = worker.held.with(sender, { fencingToken: lease.fencingToken, open: {} });
    const reopened = reopenedFrom(rows, machine, sender, used);
    return [load({ worker: { ...worker, held }, rows: reopened, chain }, machine, sender)];
  });
}

export function reopenedFrom(rows: Rows, { bounds }: Machine, sender: number, from: number): Rows {
  return rows.transactions.reduce((next: Rows, row, slot) => {
    const position = bounds.slots[slot];
    if (row?.status !== 'mined' || position?.sender !== sender || position.nonce < from)
      return next;
    return withRow(next, slot, { ...row, status: 'signed', block: null });
  }, rows);
}

/**
 * Gives a queued job the sender's next nonce: signs its transaction, stores it, and then broadcasts
 * it.
 */
export function flush(scene: Scene, machine: Machine): Scene[] {
  const { worker, rows, chain } = scene;
  const { bounds } = machine;
  const job = rows.jobs.findIndex(({ status }) => status === 'queued');
  const height = worker.head?.height;
  if (job < 0 || height === undefined) return [];
  return rows.leases.flatMap((_, sender) => {
    const slot = bounds.slots.findIndex(
      (position, index) => position.sender === sender && rows.transactions[index] === null,
    );
    if (slot < 0 || !isHolder(rows, worker, machine, sender)) return [];
    const open = Object.values(present(worker.held[sender] ?? null, 'held sender').open);
    if (open.some(({ phase }) => phase === 'unsigned')) return [];
    const offer = bounds.signsElsewhere ? FIRST_OFFER : null;
    const row: Row = {
      ...{ status: 'signed', attempts: offer === null ? [FIRST_OFFER] : [], wanted: offer },
      ...{ jobs: [job], carried: [job], retired: false, block: null, isIncluded: false },
      validUntil: height + bounds.validBlocks,
    };
    const submitted = rows.jobs.with(job, { status: 'submitted', slot });
    const after = { ...withRow(rows, slot, row), jobs: submitted };
    const signed = fromRow(row, after, machine, { slot, height });
    const fresh = { ...signed, query: 'if_listed' } as OpenTransaction;
    const next = withOpen(worker, machine, slot, fresh);
    return [{ worker: withTasks(next, toTasks(slot, firstEffects(fresh))), rows: after, chain }];
  });
}
