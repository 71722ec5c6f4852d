import type { ReactNode } from 'react';
import { formatAtoms } from './money.ts';

export interface AmountProps {
  readonly atoms: bigint;
  /** Without the unit where a heading says it, as in a column. */
  readonly unit?: boolean;
}

/** The one way in which money is drawn. */
export function Amount({ atoms, unit = true }: AmountProps): ReactNode {
  return (
    <span className="amount">
      {formatAtoms(atoms)}
      {unit ? <span className="amount-unit">{' USDC'}</span> : null}
    </span>
  );
}
