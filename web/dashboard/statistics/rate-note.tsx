import type { ReactNode } from 'react';
import { rateWords } from '../../ui/price-text.tsx';
import type { Quoted } from '../../ui/quoted-price.ts';
import { t } from '../../ui/text/t.ts';

/** The rate of the day, apart from the overview because a shop in USDC has none. */
export function RateNote({ quoted }: { readonly quoted: Quoted }): ReactNode {
  return <span>{t('dashboard.today.rate', { rate: rateWords(quoted) })}</span>;
}
