import { systemClock } from '#core/clock.ts';
import { silentLog } from '#observability/log.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { SigningKey } from '#settlement/remote-signer.ts';
import type { RelayerWorld } from '#testing/relayer-world.ts';
import { carryOut } from '#watch/pause-contract.ts';
import { lookOnce, openMemory, type WatchDeps } from '#watch/watchtower.ts';

/** A simulated theft. In each block, a thief acts and then a watchtower polls. */
export interface Theft {
  readonly world: RelayerWorld;
  readonly chains: readonly [Chain, Chain];
  readonly watchKey: SigningKey;
  /** Atoms; as in {@link WatchDeps}. */
  readonly pauseFrom: bigint;
  readonly rounds: number;
}

/** Deletes what the watchtower found and did in earlier thefts. */
async function emptyWatchTables({ database }: RelayerWorld): Promise<void> {
  for (const table of ['watch_steps', 'watch_findings', 'watch_cursors']) {
    await database.db.query(`delete from ${table}`);
  }
}

async function isStopped(world: RelayerWorld): Promise<boolean> {
  const open = await world.count('select count(*) from watch_steps where done_at is null');
  const done = await world.count('select count(*) from watch_steps where done_at is not null');
  return open === 0 && done > 0;
}

/**
 * Runs the theft.
 * @returns the number of blocks that the watchtower needed to stop it; `null` if it did not
 */
export async function watchTheft(
  { world, chains, watchKey, pauseFrom, rounds }: Theft,
  act: () => Promise<void>,
): Promise<number | null> {
  const { db } = world.database;
  await emptyWatchTables(world);
  await world.network.mine(3);
  const memory = openMemory(db.watch);
  const deps: WatchDeps = { chains, db, clock: systemClock, log: silentLog, pauseFrom, watchKey };
  const first = (await chains[0].newest()).number;
  memory.nextBlock = first;
  for (let round = 0; round < rounds; round++) {
    // Ignores a refusal: the paused contract refuses further thefts, but the block must be mined.
    await act().catch(async (refused: unknown) => {
      if (round === 0) throw refused;
      await world.network.mine();
    });
    await lookOnce(deps, memory);
    const { number } = await chains[0].newest();
    await carryOut(deps, deps.chains, watchKey);
    if (await isStopped(world)) return Number(number - first) - 1;
  }
  return null;
}
