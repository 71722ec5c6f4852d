import { askCell, type CellAddress, type CellSettings } from '#cells/peers.ts';
import { StartError } from '#core/start-error.ts';

/**
 * Each cell says itself which one it is: two of one number would bring money and people to the
 * wrong one.
 * @returns those that do not say it: they are away, or have another secret.
 * @throws StartError
 */
export async function checkPeers(cells: CellSettings): Promise<readonly CellAddress[]> {
  const answers = await Promise.all(
    cells.others.map(async (address) => ({
      address,
      said: await askCell(cells, address, { path: '/self', body: {} }),
    })),
  );
  return answers.flatMap(({ address, said }) => {
    if (typeof said !== 'object' || said === null || !('cell' in said)) return address;
    if (said.cell === address.cell) return [];
    throw new StartError(
      said.cell === cells.own
        ? `CELL=${cells.own}, but ${address.url} is cell ${cells.own} already`
        : `CELL_ADDRESSES: ${address.url} is cell ${said.cell}, not ${address.cell}`,
    );
  });
}
