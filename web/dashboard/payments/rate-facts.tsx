import type { ReactNode } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { rateWords } from '../../ui/price-text.tsx';
import type { Quoted } from '../../ui/quoted-price.ts';
import { Fact } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';

export interface RateFactsProps {
  /** `null` for a sale in USDC. */
  readonly quoted: (Quoted & { readonly quoted_at: string; readonly source: string }) | null;
}

export function RateFacts({ quoted }: RateFactsProps): ReactNode {
  if (quoted === null) return null;
  const { quoted_at: at, source } = quoted;
  return (
    <>
      <Fact name={t('dashboard.rate.name')}>{named(rateWords(quoted))}</Fact>
      <Fact name={t('dashboard.rate.quoted.name')}>
        <Time at={at} />
      </Fact>
      <Fact name={t('dashboard.rate.source.name')}>{named(source)}</Fact>
    </>
  );
}
