import { FIRST_CELL } from '#core/cell-digit.ts';
import { plainFetch } from '#outgoing/plain-fetch.ts';

export interface CellAddress {
  readonly cell: number;
  /** Root URL of the cell, without a trailing slash. */
  readonly url: string;
}

/** This cell and the other cells of its network (docs/scale.md). */
export interface CellSettings {
  readonly own: number;
  /** Empty if this is the network's only cell. */
  readonly others: readonly CellAddress[];
  /** The secret that all cells share; empty if this is the network's only cell. */
  readonly secret: string;
}

/** A network of one cell. */
export const ALONE: CellSettings = { own: FIRST_CELL, others: [], secret: '' };

/** Path prefix of the routes that cells call on each other. */
export const CELLS_ROOT = '/api/cells/v1';

/**
 * Time limit of a request: a tap waits for the answer, and customers do not hold their card still
 * for longer.
 */
const TIMEOUT_MS = 2_000;

/** Calls another cell. @returns its answer, or `null` if it is unreachable or refuses. */
export async function askCell(
  { secret }: CellSettings,
  { url }: CellAddress,
  question: { readonly path: string; readonly body: unknown },
): Promise<unknown> {
  try {
    const response = await plainFetch(`${url}${CELLS_ROOT}${question.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(question.body),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/** Calls all other cells concurrently. @returns the answers of the cells that respond. */
export async function askOthers(
  cells: CellSettings,
  question: { readonly path: string; readonly body: unknown },
): Promise<{ readonly cell: number; readonly said: unknown }[]> {
  const answers = await Promise.all(
    cells.others.map(async (address) => ({
      cell: address.cell,
      said: await askCell(cells, address, question),
    })),
  );
  return answers.filter(({ said }) => said !== null);
}
