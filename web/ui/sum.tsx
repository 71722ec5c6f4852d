import './outcome.css';
import type { ReactNode } from 'react';
import { Amount } from './amount.tsx';
import { roundAtoms } from './money.ts';

/** `9,999.99` is the longest amount that a small phone shows at full size. */
const LONGEST = 8;

/** A payment's amount, as large as its digits allow. */
export function Sum({ atoms }: { readonly atoms: bigint }): ReactNode {
  const isLong = roundAtoms(atoms).length > LONGEST;
  return (
    <p className={isLong ? 'sum sum-long' : 'sum'}>
      <Amount atoms={atoms} />
    </p>
  );
}
