import { present } from '#core/assert.ts';
import {
  isSendable,
  newestOffer,
  type Observation,
  type OpenTransaction,
} from '#settlement/relayer/state-machine/transaction.ts';
import { receiptAt } from '#testkit/simulation/relayer-model/follower-moves.ts';
import {
  isHolder,
  learn,
  load,
  type Machine,
  openOf,
  promise,
  queuedAgain,
  reopenedFrom,
  rowOf,
  type Scene,
  slotsOf,
  storeOffer,
  withRow,
} from '#testkit/simulation/relayer-model/worker-moves.ts';
import {
  attemptOf,
  hashAt,
  indexOf,
  type Job,
  type Row,
  type Rows,
  type Task,
} from '#testkit/simulation/relayer-model/world.ts';

/** Executes the next effect. Returns a scene for each possible result. */
export function carryOut(scene: Scene, machine: Machine): Scene[] {
  const [task, ...tasks] = scene.worker.tasks;
  if (task === undefined) return [];
  const rest = { ...scene, worker: { ...scene.worker, tasks } };
  if (task.kind === 'watch_finality') return [watchFinality(rest, machine)];
  if (task.kind === 'reopen') {
    const { sender, from } = task;
    if (!isHolder(rest.rows, rest.worker, machine, sender)) return [lost(rest, machine, sender)];
    const rows = reopenedFrom(rest.rows, machine, sender, from);
    return [askAgain(load({ ...rest, rows }, machine, sender), machine)];
  }
  const transaction = openOf(rest.worker, machine, task.slot);
  if (transaction === null) return [rest];
  if (task.kind === 'broadcast') return broadcasts(rest, machine, task.slot);
  const { sender } = present(machine.bounds.slots[task.slot], 'slot');
  if (!isHolder(rest.rows, rest.worker, machine, sender)) return [lost(rest, machine, sender)];
  return commits(rest, machine, task, transaction);
}

/**
 * Returns the scene after another worker took over the sender, so that this worker's memory of it
 * is invalid.
 */
function lost({ worker, ...scene }: Scene, { bounds }: Machine, sender: number): Scene {
  const isOfIt = (task: Task) =>
    'slot' in task ? bounds.slots[task.slot]?.sender === sender : 'sender' in task;
  const tasks = worker.tasks.filter((task) => !isOfIt(task));
  return { ...scene, worker: { ...worker, tasks, held: worker.held.with(sender, null) } };
}

type Committing = Exclude<Task, { readonly kind: 'broadcast' | 'reopen' | 'watch_finality' }>;

function commits(
  scene: Scene,
  machine: Machine,
  task: Committing,
  transaction: OpenTransaction,
): Scene[] {
  const { worker, rows } = scene;
  const { slot } = task;
  switch (task.kind) {
    case 'replace':
    case 'cancel': {
      if (task.requeue) requireDead(scene, machine, slot, transaction);
      const stored = storeOffer(rows, transaction, task, machine);
      const next = learn(worker, machine, slot, stored.observation);
      return [{ ...scene, worker: next, rows: stored.rows }];
    }
    case 'mark_included':
    case 'clear_included': {
      const isIncluded = task.kind === 'mark_included';
      return [{ ...scene, rows: withRow(rows, slot, { ...rowOf(rows, slot), isIncluded }) }];
    }
    case 'ask_signer':
      return [scene, ...signatures(scene, machine, slot, transaction)];
    case 'inspect_nonce':
      return [inspected(scene, machine, slot, transaction)];
    case 'apply_result':
      return [applied(scene, machine, task)];
    default:
      return [];
  }
}

/**
 * Requires that jobs move to another transaction only if the old one can never be mined, or if its
 * row forbids resending it.
 */
function requireDead(
  { worker, rows }: Scene,
  _machine: Machine,
  slot: number,
  transaction: OpenTransaction,
): void {
  const height = worker.head?.height ?? 0;
  const { validUntil, retired } = rowOf(rows, slot);
  const isDead = height > validUntil || retired || transaction.requests.length === 0;
  promise(isDead, 'jobs are queued again while their bytes can still be mined');
}

function signatures(
  scene: Scene,
  machine: Machine,
  slot: number,
  transaction: OpenTransaction,
): Scene[] {
  const row = rowOf(scene.rows, slot);
  const { wanted: offer } = transaction;
  if (offer === null || row.wanted === null) return [];
  const attempt = attemptOf(slot, row.attempts.length, offer);
  const rows = withRow(scene.rows, slot, {
    ...row,
    wanted: null,
    attempts: [...row.attempts, offer],
  });
  const observation: Observation = { kind: 'signature_stored', attempt, offer };
  return [{ ...scene, rows, worker: learn(scene.worker, machine, slot, observation) }];
}

/**
 * Handles a nonce that another transaction has used: marks our transaction as foreign and queues
 * its jobs again.
 */
function inspected(
  scene: Scene,
  machine: Machine,
  slot: number,
  transaction: OpenTransaction,
): Scene {
  const { chain, worker } = scene;
  if (chain.mined[slot]?.attempt !== -1) return scene;
  const jobs = transaction.requests.map(({ id }) => Number(id));
  const rows = queuedAgain(scene.rows, slot, jobs);
  const foreign: Row = { ...rowOf(rows, slot), status: 'foreign' };
  const next = learn(worker, machine, slot, { kind: 'foreign' });
  return { ...scene, rows: withRow(rows, slot, foreign), worker: next };
}

function applied(
  scene: Scene,
  machine: Machine,
  task: Extract<Task, { readonly kind: 'apply_result' }>,
): Scene {
  const { slot, block, succeeded } = task;
  const row = rowOf(scene.rows, slot);
  const mined: Row = { ...row, status: 'mined', block };
  const done: Job = { status: 'succeeded', slot };
  const isMine = (job: number) => scene.rows.jobs[job]?.slot === slot;
  const jobs = scene.rows.jobs.map((job, index) =>
    succeeded.includes(index) && isMine(index) ? done : job,
  );
  const written = { ...withRow(scene.rows, slot, mined), jobs };
  const open = present(openOf(scene.worker, machine, slot), 'open transaction');
  const others = open.requests
    .map(({ id }) => Number(id))
    .filter((job) => !succeeded.includes(job));
  const rows = queuedAgain(written, slot, others);
  return { ...scene, rows, worker: learn(scene.worker, machine, slot, { kind: 'result_written' }) };
}

/** Reopens rows whose blocks were removed by a reorganization. */
function watchFinality(scene: Scene, machine: Machine): Scene {
  const { chain, worker } = scene;
  let next = scene;
  worker.held.forEach((_, sender) => {
    if (!isHolder(next.rows, worker, machine, sender)) return;
    const gone = machine.bounds.slots.flatMap((position, slot) => {
      const row = next.rows.transactions[slot];
      if (position.sender !== sender || row?.status !== 'mined' || row.block === null) return [];
      const { at, hash } = row.block;
      return at <= chain.height && hashAt(chain, at) === hash ? [] : [slot];
    });
    const rows = gone.reduce((now: Rows, slot) => {
      return withRow(now, slot, { ...rowOf(now, slot), status: 'signed', block: null });
    }, next.rows);
    if (gone.length > 0) next = askAgain(load({ ...next, rows }, machine, sender), machine);
  });
  return next;
}

function askAgain(scene: Scene, machine: Machine): Scene {
  let { worker } = scene;
  for (const slot of slotsOf(worker)) worker = learn(worker, machine, slot, { kind: 'ask_again' });
  return { ...scene, worker };
}

/** Returns the scenes after a broadcast: the bytes reach nodes, get lost, or are refused. */
function broadcasts(scene: Scene, machine: Machine, slot: number): Scene[] {
  const { chain, rows } = scene;
  const transaction = present(openOf(scene.worker, machine, slot), 'open transaction');
  if (!isSendable(transaction)) return [scene];
  const { sender } = present(machine.bounds.slots[slot], 'slot');
  const newest = present(transaction.attempts.at(-1), 'attempt');
  const row = rowOf(rows, slot);
  promise(indexOf(newest.hash) < row.attempts.length, 'bytes are sent that are not stored');
  const isCurrent = isHolder(rows, scene.worker, machine, sender);
  const isOld = !newest.cancels && row.retired && isCurrent;
  promise(!isOld, 'bytes are sent whose jobs were queued again');
  promise(
    !isCurrent || newest.cancels || newestOffer(transaction)?.cancels !== true,
    'a call is sent though a cancellation was decided',
  );
  const height = scene.worker.head?.height ?? 0;
  const isRefused = !newest.cancels && height > row.validUntil;
  promise(!isCurrent || !isRefused, 'bytes are sent that the contract refuses');
  const atBlock = BigInt(height);
  const worker = learn(scene.worker, machine, slot, { kind: 'sent', atBlock });
  const bit = 2 ** indexOf(newest.hash);
  const pool = chain.pool.with(slot, (chain.pool[slot] ?? 0) | bit);
  const delivered = { ...scene, worker, chain: { ...chain, pool } };
  const lostOnes = scene.worker.faults < machine.bounds.faults;
  const refused = (verdict: 'underpriced' | 'unsendable' | 'unfunded') => {
    const told = learn(worker, machine, slot, { kind: 'refused', hash: newest.hash, verdict });
    return { ...scene, worker: { ...told, faults: told.faults + 1 } };
  };
  const silent = { ...scene, worker: { ...worker, faults: worker.faults + 1 } };
  const faults = lostOnes
    ? [silent, refused('underpriced'), refused('unsendable'), refused('unfunded')]
    : [];
  return [delivered, ...faults];
}

/**
 * Returns the scenes in which a receipt arrives together with an announced head, before the worker
 * requests it.
 */
export function earlyAnswers(scene: Scene, machine: Machine): Scene[] {
  const { worker, chain } = scene;
  if (!machine.bounds.isAnnounced) return [];
  return slotsOf(worker).flatMap((slot) => {
    const transaction = openOf(worker, machine, slot);
    if (transaction?.phase !== 'broadcast' || transaction.early !== null) return [];
    const mined = chain.mined[slot] ?? null;
    if (mined === null || mined.attempt < 0) return [];
    const receipt = receiptAt(slot, chain);
    if (receipt.txHash !== transaction.attempts.at(-1)?.hash) return [];
    const early = { receipt, second: NO_SECOND };
    return [{ ...scene, worker: learn(worker, machine, slot, { kind: 'early_receipt', early }) }];
  });
}

const NO_SECOND = Promise.resolve(null);
