import { type ReactNode, useState } from 'react';
import { formatAtoms, roundAtoms } from './money.ts';
import { t } from './text/t.ts';

export interface AmountProps {
  readonly atoms: bigint;
  /** Without the unit where a heading says it, as in a column. */
  readonly unit?: boolean;
  /** All digits: in the parts of a sum, which are added up. */
  readonly exact?: boolean;
  /** Where it cannot be pressed, as in a link: the digits stand elsewhere. */
  readonly still?: boolean;
}

/** The one way in which money is drawn: two decimals, and the exact sum one press away. */
export function Amount({
  atoms,
  unit = true,
  exact = false,
  still = false,
}: AmountProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const digits = formatAtoms(atoms);
  const shown = exact ? digits : roundAtoms(atoms);
  const drawn = (
    <>
      {shown}
      {unit ? <span className="amount-unit">{' USDC'}</span> : null}
    </>
  );
  if (shown === digits || still) return <span className="amount">{drawn}</span>;
  return (
    <span className="amount">
      <button
        type="button"
        className="amount-rounded"
        title={t('ui.exactly', { sum: digits })}
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        {drawn}
      </button>
      {isOpen ? <span className="amount-exact">{t('ui.exactly', { sum: digits })}</span> : null}
    </span>
  );
}
