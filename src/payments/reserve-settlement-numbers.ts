import { perProcess } from '#core/once-per-process.ts';
import type { Database, Tx } from '#db/database.ts';
import type { ApiContext } from '#payments/api-context.ts';
import {
  areStale,
  createSettlementNumbers,
  type DrawnNumber,
  type SettlementNumbers,
} from '#settlement/settlement-numbers.ts';

/** The settlement numbers that this process has reserved for new intents. */
export const numbersOf = perProcess(({ db }: ApiContext) => createSettlementNumbers(db));

/**
 * Thrown if a recovery has raised the settlement numbers after these were drawn. Nothing was
 * written, so the transaction is repeated with new numbers.
 */
class StaleNumbers extends Error {
  override name = 'StaleNumbers';
}

/** Tries per transaction. A recovery raises the numbers once, so a second try succeeds. */
const MAX_TRIES = 3;

/**
 * Throws if a recovery has made these numbers invalid. Call it after locking the account's order.
 */
export async function requireFresh(tx: Tx, drawn: readonly DrawnNumber[]): Promise<void> {
  if (await areStale(tx, drawn)) {
    throw new StaleNumbers('settlement numbers were raised after these were drawn');
  }
}

export interface WithNumbers<T> {
  /** The network of each number. */
  readonly modes: readonly boolean[];
  run(tx: Tx, drawn: readonly DrawnNumber[]): Promise<T>;
  /** True if the number at this index was assigned to an intent; the others are given back. */
  isUsed(result: T, index: number): boolean;
}

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
