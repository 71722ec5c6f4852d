import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { askCell, type CellAddress, type CellSettings } from '#cells/ask-other-cells.ts';
import { isOwnAddress } from '#core/private-address.ts';
import { StartError } from '#core/start-error.ts';

/**
 * Requires https, because requests between cells carry their shared secret. Plain http is allowed
 * only outside production (`readConfig` refuses it there), to this machine and private networks. A
 * name that cannot be resolved passes, because no request reaches it.
 * @throws StartError
 */
async function requireClosedWay({ url }: CellAddress): Promise<void> {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return;
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host) === 0 ? await lookup(host, { all: true }).catch(() => []) : [];
  const addresses = isIP(host) === 0 ? found.map(({ address }) => address) : [host];
  const outside = addresses.find((address) => !isOwnAddress(address));
  if (outside === undefined) return;
  throw new StartError(
    `CELL_ADDRESSES: ${url} resolves to ${outside}, which would receive CELL_SECRET unencrypted: ` +
      'use https (http is allowed only in private networks, and not in production)',
  );
}

/**
 * Asks each cell for its number, because two cells with the same number would misroute money and
 * people.
 * @returns the cells that do not respond, because they are unreachable or have another secret.
 * @throws StartError
 */
export async function checkPeers(cells: CellSettings): Promise<readonly CellAddress[]> {
  await Promise.all(cells.others.map(requireClosedWay));
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
