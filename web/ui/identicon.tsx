import './identicon.css';
import type { ReactNode } from 'react';

/** Number of squares from the edge to the middle. The other half mirrors them. */
const HALF = 3;
const ROWS = 5;
const TONES = 6;

/** Returns the filled squares of the left half, and their tone. */
export function identiconOf(address: string): { readonly tone: number; readonly on: number[] } {
  const digits = [...address.slice(2)].map((digit) => Number.parseInt(digit, 16) || 0);
  const on = Array.from({ length: HALF * ROWS }, (_, at) => at).filter((at) => {
    // Two distant digits determine each square, so that addresses with the same start look
    // different.
    return ((digits[at] ?? 0) + (digits[at + 20] ?? 0)) % 2 === 0;
  });
  const tone = digits.reduce((sum, digit) => sum + digit, 0) % TONES;
  return { tone, on };
}

/** Shows a picture generated from an address, by which people recognize a customer at a glance. */
export function Identicon({ address }: { readonly address: string }): ReactNode {
  const { tone, on } = identiconOf(address);
  const squares = on.flatMap((at) => {
    const [column, row] = [at % HALF, Math.floor(at / HALF)];
    const mirrored = 2 * HALF - 2 - column;
    return mirrored === column
      ? [[column, row]]
      : [
          [column, row],
          [mirrored, row],
        ];
  });
  return (
    <svg className={`identicon identicon-${tone}`} viewBox="-1 -1 7 7" aria-hidden="true">
      {squares.map(([column, row]) => (
        <rect key={`${column} ${row}`} x={column} y={row} width="1" height="1" />
      ))}
    </svg>
  );
}
