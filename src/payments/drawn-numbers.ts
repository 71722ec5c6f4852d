import { perProcess } from '#core/per-process.ts';
import type { Database, Tx } from '#db/database.ts';
import type { ApiContext } from '#payments/api-context.ts';
import {
  areStale,
  createSettlementNumbers,
  type DrawnNumber,
  type SettlementNumbers,
} from '#settlement/numbers.ts';

/** The numbers that a process may assign to new intents. */
export const numbersOf = perProcess(({ db }: ApiContext) => createSettlementNumbers(db));

/**
 * Thrown if a recovery has raised the settlement numbers since these were drawn. Nothing was
 * written, so the transaction is repeated with new numbers.
 */
class StaleNumbers extends Error {
  override name = 'StaleNumbers';
}

/** Tries per transaction. A recovery raises the numbers once, so the second try succeeds. */
const MAX_TRIES = 3;

/** Throws if the transaction must no longer use its numbers. Call it after locking the order. */
export async function requireFresh(tx: Tx, drawn: readonly DrawnNumber[]): Promise<void> {
  if (await areStale(tx, drawn)) {
    throw new StaleNumbers('settlement numbers were raised after these were drawn');
  }
}

/** The work of a transaction, and which of the drawn numbers it used. */
export interface WithNumbers<T> {
  /** The network of each number. */
  readonly modes: readonly boolean[];
  run(tx: Tx, drawn: readonly DrawnNumber[]): Promise<T>;
  /** True if the number with this index was assigned; the others are given back. */
  isUsed(result: T, index: number): boolean;
}

/** Runs a transaction that assigns settlement numbers. */
export async function withNumbers<T>(
  db: Database,
  numbers: SettlementNumbers,
  { modes, run, isUsed }: WithNumbers<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const drawn = await numbers.take(modes);
    try {
      const result = await db.transaction((tx) => run(tx, drawn));
      numbers.putBack(drawn.filter((_, index) => !isUsed(result, index)));
      return result;
    } catch (error) {
      if (!(error instanceof StaleNumbers) || tries === MAX_TRIES) throw error;
      numbers.drop();
    }
  }
}
