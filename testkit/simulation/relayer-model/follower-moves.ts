import { assert, present } from '#core/assert.ts';
import {
  earlyReceiptAt,
  isDue,
  isOnItsWay,
  receiptsToAsk,
} from '#settlement/relayer/state-machine/decide-transaction-step.ts';
import type {
  Observation,
  OpenTransaction,
} from '#settlement/relayer/state-machine/transaction.ts';
import {
  learn,
  type Machine,
  observe,
  openOf,
  promise,
  type Scene,
  slotsOf,
  toTasks,
  withTasks,
} from '#testkit/simulation/relayer-model/worker-moves.ts';
import {
  type Branch,
  type Held,
  hashAt,
  indexOf,
  leastHead,
  nonceOn,
  nowAt,
  receiptOf,
  SAFE_RULE,
  settledOn,
  type Task,
  viewsOf,
  type Worker,
} from '#testkit/simulation/relayer-model/world.ts';

// The moves of the follower.

/** Reads a head and, at that head, the state of every open transaction. */
export function poll(scene: Scene, machine: Machine): Scene[] {
  const { worker, chain } = scene;
  if (worker.tasks.length > 0 || worker.isTending) return [];
  return viewsOf(chain).flatMap((view) => follow(scene, machine, view));
}

function follow(scene: Scene, machine: Machine, view: Branch): Scene[] {
  const { head } = scene.worker;
  const { height } = view;
  const hash = hashAt(view, height);
  const knows = head === null || (height >= head.height && hashAt(view, head.height) === head.hash);
  if (head?.hash === hash || (head !== null && height < head.height)) return [];
  let { worker } = scene;
  const isSkipped = head !== null && height > head.height + 1;
  if (!knows && !isSkipped) {
    for (const slot of slotsOf(worker))
      worker = learn(worker, machine, slot, { kind: 'reorganized' });
    worker = withTasks(worker, [{ kind: 'watch_finality' }]);
  } else if (isSkipped) {
    const skipped = { kind: 'blocks_skipped', number: BigInt(height) } as const;
    for (const slot of slotsOf(worker)) worker = learn(worker, machine, slot, skipped);
  }
  const moods = worker.faults < machine.bounds.faults ? MOODS : (['well'] as const);
  const before = { ...scene, worker };
  return moods.map((mood) => withReceipts(before, machine, { view, hash, mood }));
}

const MOODS = ['well', 'silent', 'unreadable'] as const;

interface Look {
  readonly view: Branch;
  readonly hash: `0x${string}`;
  readonly mood: (typeof MOODS)[number];
}

function withReceipts(scene: Scene, machine: Machine, look: Look): Scene {
  const { view, hash, mood } = look;
  let { worker } = scene;
  const apply: Task[] = [];
  for (const slot of slotsOf(worker)) {
    const observation = receiptIn(worker, machine, slot, look);
    if (observation === null) continue;
    const { height } = view;
    worker = observe(worker, machine, slot, { kind: 'receipt_asked' }, height).worker;
    const current = observe(worker, machine, slot, observation, height);
    worker = withTasks(current.worker, toTasks(slot, current.effects));
    if (observation.kind !== 'receipt') continue;
    if (!current.effects.some(({ kind }) => kind === 'read_result')) continue;
    const result = resultOf(scene, worker, machine, { slot, view, observation });
    const read: Observation =
      mood === 'unreadable'
        ? { kind: 'result_unreadable' }
        : { kind: 'result_read', rule: result.rule };
    const after = observe(worker, machine, slot, read, height);
    worker = withTasks(after.worker, toTasks(slot, after.effects));
    if (!after.effects.some(({ kind }) => kind === 'apply_result')) continue;
    const { block, succeeded } = result;
    const least = leastHead(block.at, machine.bounds, result.rule !== null);
    promise(height >= least, 'a result is written before its depth');
    apply.push({ kind: 'apply_result', slot, block, succeeded });
  }
  const faults = worker.faults + (mood === 'well' ? 0 : 1);
  const next = { ...worker, head: { height: view.height, hash }, isTending: true, faults };
  return { ...scene, worker: withTasks(next, apply) };
}

function receiptIn(
  worker: Worker,
  machine: Machine,
  slot: number,
  { view, mood, hash }: Look,
): Observation | null {
  const transaction = openOf(worker, machine, slot);
  if (transaction === null) return null;
  const now = nowAt(view.height, machine.bounds);
  const mined = view.mined[slot] ?? null;
  const minedHash = mined === null || mined.attempt < 0 ? null : receiptAt(slot, view).txHash;
  const isListed = mined?.at === view.height && minedHash !== null;
  const listed = new Set(isListed && minedHash !== null ? [minedHash] : []);
  const everything = machine.bounds.confirmations > 0;
  const hashes = receiptsToAsk(transaction, { now, listed, everything });
  if (hashes.length === 0) return null;
  const early = earlyReceiptAt(transaction, now);
  // Accepts an early receipt if its block is on this branch. Does not ask the second provider.
  if (early !== null && hashAt(view, Number(early.receipt.blockNumber)) === early.receipt.blockHash)
    return { kind: 'receipt', receipt: early.receipt };
  if (mood === 'silent') return { kind: 'receipt_unanswered' };
  if (minedHash === null || !hashes.includes(minedHash)) return { kind: 'no_receipt', isListed };
  assert(hash !== '0x', 'a head has a hash');
  return { kind: 'receipt', receipt: receiptAt(slot, view) };
}

export function receiptAt(slot: number, view: Branch) {
  const mined = present(view.mined[slot] ?? null, 'mined attempt');
  return receiptOf(slot, mined.attempt, mined.at, hashAt(view, mined.at));
}

/** Returns the result of each job as this branch shows it. */
function resultOf(
  { rows }: Scene,
  worker: Worker,
  machine: Machine,
  look: {
    readonly slot: number;
    readonly view: Branch;
    readonly observation: Extract<Observation, { readonly kind: 'receipt' }>;
  },
) {
  const { slot, view } = look;
  const { txHash, blockNumber, blockHash } = look.observation.receipt;
  const at = Number(blockNumber);
  const transaction = present(openOf(worker, machine, slot), 'open transaction');
  const isCall = transaction.attempts[indexOf(txHash)]?.cancels === false;
  const settled = settledOn(view, rows);
  const done = transaction.requests.filter(({ id }) => isCall && settled.has(Number(id)));
  const waits = machine.bounds.waitsForSafe && done.some(({ owed }) => !owed);
  return {
    block: { at, hash: blockHash },
    succeeded: done.map(({ id }) => Number(id)),
    rule: waits ? SAFE_RULE : null,
  };
}

/** Handles transactions that should have been mined by now. Models `handleOverdue`. */
export function tend(scene: Scene, machine: Machine): Scene[] {
  const { worker, chain } = scene;
  if (worker.tasks.length > 0 || !worker.isTending) return [];
  const tending = { ...scene, worker: { ...worker, isTending: false } };
  return viewsOf(chain).map((view) => tendBy(tending, machine, view));
}

function tendBy(scene: Scene, machine: Machine, view: Branch): Scene {
  const { chain } = scene;
  let { worker } = scene;
  const height = present(worker.head, 'head').height;
  const head: Observation = { kind: 'head', number: BigInt(height) };
  for (const slot of slotsOf(worker)) worker = learn(worker, machine, slot, head);
  const now = nowAt(height, machine.bounds);
  worker.held.forEach((held, sender) => {
    const open = openInOrder(held);
    if (!open.some((one) => isDue(one, now))) return;
    const known = Number(open[0]?.nonce ?? 0n);
    const told = nonceOn(view, sender, machine.bounds);
    // If this view shows fewer used nonces than the worker knows of, take the highest count of any
    // node, but no more than the worker knows of.
    const highest = Math.max(...viewsOf(chain).map((one) => nonceOn(one, sender, machine.bounds)));
    const used = told >= known ? told : Math.min(highest, known);
    worker = tendSender(worker, machine, { sender, open, used });
  });
  return { ...scene, worker };
}

function openInOrder(held: Held | null): OpenTransaction[] {
  return Object.values(held?.open ?? {})
    .filter((one): one is OpenTransaction => one.phase !== 'done')
    .sort((a, b) => Number(a.nonce - b.nonce));
}

function tendSender(
  worker: Worker,
  machine: Machine,
  { sender, open, used }: { sender: number; open: readonly OpenTransaction[]; used: number },
): Worker {
  const now = nowAt(worker.head?.height ?? null, machine.bounds);
  const unused = open.filter(({ nonce }) => Number(nonce) >= used);
  const isOverdue = unused.some((one) => !isOnItsWay(one, now));
  let next = worker;
  for (const { id, nonce } of open) {
    const isNext = Number(nonce) === used;
    next = learn(
      next,
      machine,
      Number(id),
      Number(nonce) < used ? { kind: 'nonce_used' } : { kind: 'nonce_unused', isNext, isOverdue },
    );
  }
  const first = unused[0];
  if (!isOverdue || first === undefined || Number(first.nonce) <= used) return next;
  return withTasks(next, [{ kind: 'reopen', sender, from: used }]);
}
