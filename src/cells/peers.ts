import { FIRST_CELL } from '#core/cell.ts';

/** Another cell of the network. */
export interface CellAddress {
  readonly cell: number;
  /** The address of its processes, without a trailing slash. */
  readonly url: string;
}

/** The network's cells, as this one knows them (docs/scale.md). */
export interface CellSettings {
  readonly own: number;
  /** Empty in a network of one cell. */
  readonly others: readonly CellAddress[];
  /** The secret that cells share. The empty string in a network of one cell. */
  readonly secret: string;
}

/** A network of one cell. */
export const ALONE: CellSettings = { own: FIRST_CELL, others: [], secret: '' };

/** Path prefix of the routes that cells call on each other. */
export const CELLS_ROOT = '/api/cells/v1';

/** A tap waits for it; after longer, the customer would take the card away. */
const TIMEOUT_MS = 2_000;

/** Calls another cell. @returns its answer, or `null` if it was unreachable, or refused. */
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

/** Calls every other cell at once. @returns the answers of those that responded. */
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
