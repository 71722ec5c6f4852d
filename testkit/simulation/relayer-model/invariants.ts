import { promise } from '#testkit/simulation/relayer-model/worker-moves.ts';
import type { Bounds, ChainState, Rows, Worker } from '#testkit/simulation/relayer-model/world.ts';

/**
 * Requires the invariants that rows keep in every state, whichever worker crashed and whatever the
 * chain and its nodes did. The functions below compare rows with the chain or a worker.
 */
export function requireSoundRows(rows: Rows, bounds: Bounds): void {
  requireJobs(rows);
  requireNonces(rows, bounds);
}

/**
 * Requires that each job is queued, has succeeded, or is carried by exactly one open transaction.
 */
function requireJobs({ jobs, transactions }: Rows): void {
  jobs.forEach((job, index) => {
    const carriers = transactions.filter((row) => row?.jobs.includes(index));
    if (job.status === 'queued') {
      promise(
        carriers.every((row) => row?.status !== 'signed'),
        'a queued job is carried by an open transaction',
      );
      return;
    }
    const row = job.slot === null ? null : (transactions[job.slot] ?? null);
    promise(row?.jobs.includes(index) === true, 'a job names a transaction that lacks it');
    const isOpen = job.status !== 'submitted' || row.status === 'signed';
    promise(isOpen, 'a submitted job is carried by a transaction that is not open');
    const open = carriers.filter((one) => one?.status === 'signed');
    promise(open.length <= 1, 'two open transactions carry one job');
  });
}

/** Requires that every transaction in a node's pool is also stored in a row. */
export function requireStored({ pool }: ChainState, { transactions }: Rows): void {
  pool.forEach((bits, slot) => {
    const stored = 2 ** (transactions[slot]?.attempts.length ?? 0);
    promise(bits < stored, 'a node has bytes that no row has');
  });
}

function requireNonces({ transactions }: Rows, { slots }: Bounds): void {
  slots.forEach(({ sender, nonce }, slot) => {
    if (transactions[slot] === null || nonce === 0) return;
    const before = slots.findIndex((one) => one.sender === sender && one.nonce === nonce - 1);
    promise(transactions[before] !== null, 'a nonce has no row before it');
  });
}

/** Requires that the memory of a worker that holds a lease matches the rows. */
export function requireMemory(worker: Worker, rows: Rows, { slots }: Bounds, self: number): void {
  slots.forEach(({ sender }, slot) => {
    const held = worker.held[sender] ?? null;
    const lease = rows.leases[sender];
    if (held === null || lease?.holder !== self || lease.fencingToken !== held.fencingToken) return;
    const row = rows.transactions[slot] ?? null;
    const known = held.open[slot];
    promise(
      (known !== undefined) === (row?.status === 'signed'),
      'memory and rows differ in what is open',
    );
    if (known === undefined || known.phase === 'done' || row === null) return;
    promise(known.attempts.length === row.attempts.length, 'memory and rows differ in bytes');
    const hasWanted = (known.wanted === null) === (row.wanted === null);
    promise(hasWanted, 'memory and rows differ in what a signer owes');
    const carried = known.requests.map(({ id }) => Number(id)).join();
    promise(carried === row.jobs.join(), 'memory and rows differ in jobs');
  });
}
