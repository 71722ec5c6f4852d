import type { CellAddress, CellSettings } from '#cells/ask-other-cells.ts';
import { cellOfDigit, FIRST_CELL, HIGHEST_CELL } from '#core/cell-digit.ts';
import { StartError } from '#core/start-error.ts';

const CELL_SETTINGS = ['CELL', 'CELL_ADDRESSES', 'CELL_SECRET'] as const;

const ADDRESS = /^(?<cell>[0-9])=(?<url>https?:\/\/[^\s,=]+?)\/?$/;
const SECRET = /^[\x21-\x7e]{32,}$/;

function toAddress(text: string): CellAddress {
  const { cell, url } = ADDRESS.exec(text.trim())?.groups ?? {};
  if (cell !== undefined && url !== undefined && URL.canParse(url)) {
    return { cell: Number(cell), url };
  }
  throw new StartError(
    `CELL_ADDRESSES: "${text.trim()}" must be <cell>=<address>: 1=https://one.example`,
  );
}

function ownCell(text: string | null): number {
  const cell = text === null ? FIRST_CELL : cellOfDigit(text);
  if (cell !== null) return cell;
  throw new StartError(`CELL=${text} must be an integer from 0 to ${HIGHEST_CELL}`);
}

/** @throws StartError */
export function cellSettings(
  read: (name: (typeof CELL_SETTINGS)[number]) => string | null,
): CellSettings {
  const own = ownCell(read('CELL'));
  const text = read('CELL_ADDRESSES');
  const secret = read('CELL_SECRET') ?? '';
  const others = text === null ? [] : text.split(',').map(toAddress);
  const cells = others.map(({ cell }) => cell);
  if (cells.includes(own)) {
    throw new StartError(`CELL_ADDRESSES names cell ${own}, which is this cell: remove it`);
  }
  if (new Set(cells).size < cells.length) {
    throw new StartError('CELL_ADDRESSES lists a cell twice');
  }
  if (others.length > 0 && !SECRET.test(secret)) {
    throw new StartError(
      'CELL_ADDRESSES needs CELL_SECRET: 32 or more printable characters without spaces, the ' +
        'same in every cell',
    );
  }
  return { own, others, secret };
}
