import { chainMoves } from '#testkit/simulation/relayer-model/chain-moves.ts';
import { carryOut, earlyAnswers } from '#testkit/simulation/relayer-model/effect-moves.ts';
import { poll, tend } from '#testkit/simulation/relayer-model/follower-moves.ts';
import {
  flush,
  type Machine,
  promise,
  type Scene,
  takeUp,
} from '#testkit/simulation/relayer-model/worker-moves.ts';
import type { Bounds, ChainState, Rows, Worker } from '#testkit/simulation/relayer-model/world.ts';

/**
 * Number of blocks within which everything must settle once faults have stopped. It leaves time to
 * raise fees and mine cancellations.
 */
const BLOCKS = 30;
/** Maximum number of tasks in one turn: more than a new head can cause. */
const TASKS = 40;

interface Situation {
  readonly chain: ChainState;
  readonly rows: Rows;
  readonly workers: readonly Worker[];
}

/**
 * Continues without faults: nodes respond correctly, each block includes what it can, and no worker
 * crashes. Then every job must get its result, unless no nonce is left for it.
 */
export function requireProgress(start: Situation, step: Machine['step'], bounds: Bounds): void {
  let { chain, rows } = start;
  let { workers } = start;
  for (let block = 0; block < BLOCKS; block++) {
    workers = workers.map((worker, self) => {
      const scene = calmTurn({ chain, rows, worker }, { step, bounds, self });
      ({ chain, rows } = scene);
      return scene.worker;
    });
    if (isSettled(rows, chain, bounds)) return;
    chain = calmBlock(chain, bounds);
  }
  promise(false, 'calm does not settle everything');
}

function isSettled({ jobs, transactions }: Rows, chain: ChainState, { slots }: Bounds): boolean {
  // True if no nonce is left. Someone else's transaction may have used one.
  const isFull = slots.every(
    (_, slot) => transactions[slot] !== null || chain.mined[slot] !== null,
  );
  const isOpen = transactions.some((row) => row?.status === 'signed');
  return !isOpen && jobs.every(({ status }) => status === 'succeeded' || isFull);
}

/** Mines a block with as many transactions as possible, each in its newest attempt. */
function calmBlock(chain: ChainState, bounds: Bounds): ChainState {
  const quiet = { ...bounds, reorganizations: 0, evictions: 0, isStolen: false };
  return chainMoves(chain, quiet).at(-1) ?? chain;
}

function calmTurn(start: Scene, machine: Machine): Scene {
  const calm = { ...machine, bounds: { ...machine.bounds, faults: 0, crashes: 0 } };
  let scene = start;
  for (let turn = 0; turn < TASKS; turn++) {
    const next = calmMove(scene, calm);
    if (next === null) return scene;
    scene = next;
  }
  return scene;
}

function calmMove(scene: Scene, machine: Machine): Scene | null {
  const done = carryOut(scene, machine);
  // Takes the last possible result, because in that one a remote signer returns its signed bytes.
  if (done.length > 0) return done.at(-1) ?? null;
  return (
    earlyAnswers(scene, machine).at(-1) ??
    takeUp(scene, machine)[0] ??
    tend(scene, machine)[0] ??
    poll(scene, machine)[0] ??
    flush(scene, machine)[0] ??
    null
  );
}
