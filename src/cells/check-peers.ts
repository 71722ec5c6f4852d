import { askCell, type CellSettings } from '#cells/peers.ts';
import { StartError } from '#core/start-error.ts';

/**
 * Each cell says itself which one it is: two of one number would bring money and people to the
 * wrong one. A cell that is away says nothing, and nobody waits for it.
 * @throws StartError
 */
export async function checkPeers(cells: CellSettings): Promise<void> {
  for (const address of cells.others) {
    const said = await askCell(cells, address, { path: '/self', body: {} });
    if (typeof said !== 'object' || said === null || !('cell' in said)) continue;
    if (said.cell === address.cell) continue;
    throw new StartError(
      said.cell === cells.own
        ? `CELL=${cells.own}, but ${address.url} is cell ${cells.own} already`
        : `CELL_ADDRESSES: ${address.url} is cell ${said.cell}, not ${address.cell}`,
    );
  }
}
