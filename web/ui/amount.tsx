import { type ReactNode, useState } from 'react';
import { CENT } from '#core/sums.ts';
import type { Price } from './format-price.ts';
import { exactUsdcText, formatAtoms } from './format-usdc.ts';
import { firstPartOf } from './lazy-part.ts';
import { t } from './text/t.ts';

const PriceText = firstPartOf(async () => (await import('./price-text.tsx')).PriceText);

export interface AmountProps {
  readonly atoms: bigint;
  /** The amount in the shop's currency; `null` for a sale in USDC. */
  readonly price?: Price | null;
  /** False if a heading, such as a column's, already names the unit. */
  readonly unit?: boolean;
  /** True inside a link, where the amount must not be a button. */
  readonly still?: boolean;
}

/**
 * Renders an amount of money, in every app: two decimals, and the exact amount on click. For a sale
 * in the shop's currency it shows the price first, then the amount in USDC.
 */
export function Amount({ price = null, ...usdc }: AmountProps): ReactNode {
  if (price === null) return <UsdcAmount {...usdc} />;
  return <PriceText price={price} usdc={<UsdcAmount {...usdc} unit />} />;
}

function UsdcAmount({ atoms, unit = true, still = false }: Omit<AmountProps, 'price'>): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const shown = formatAtoms(atoms);
  const drawn = (
    <>
      {shown}
      {unit ? <span className="amount-unit">{' USDC'}</span> : null}
    </>
  );
  if (atoms % CENT === 0n || still) return <span className="amount">{drawn}</span>;
  return (
    <span className="amount">
      <button
        type="button"
        className="amount-rounded"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        {drawn}
      </button>
      {isOpen ? (
        <span className="amount-exact">{t('ui.exactly', { sum: exactUsdcText(atoms) })}</span>
      ) : null}
    </span>
  );
}
