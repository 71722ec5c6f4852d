import { FIRST_CELL } from '#core/cell.ts';

/** A cell beside this one. */
export interface CellAddress {
  readonly cell: number;
  /** Where its processes are reached, without a slash at the end. */
  readonly url: string;
}

/** The network's cells, as this one knows them (docs/scale.md). */
export interface CellSettings {
  readonly own: number;
  /** Empty: this one is alone. */
  readonly others: readonly CellAddress[];
  /** What cells show each other. '' where there is one alone. */
  readonly secret: string;
}

/** A network of one cell. */
export const ALONE: CellSettings = { own: FIRST_CELL, others: [], secret: '' };

/** The paths that cells ask each other by. */
export const CELLS_ROOT = '/api/cells/v1';

/** A tap waits for it: longer, and the customer would take the card away. */
const TIMEOUT_MS = 2_000;

/** Asks another cell. @returns its answer, or null: it could not be reached, or refused. */
export async function askCell(
  { secret }: CellSettings,
  { url }: CellAddress,
  question: { readonly path: string; readonly body: unknown },
): Promise<unknown> {
  try {
    const response = await fetch(`${url}${CELLS_ROOT}${question.path}`, {
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

/** Asks every other cell at once. @returns the answers of those that gave one. */
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
