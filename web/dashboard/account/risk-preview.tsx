import { type ReactNode, useEffect, useState } from 'react';
import type { PreviewRiskSettingsResponse } from '../../data/types/dashboard.ts';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { useRead } from '../use-merchant.ts';

/** Pause after the last key, because a preview per digit would not help. */
const TYPED_MS = 400;

export interface RulesDraft {
  readonly first_payment_confirm_from: number | null;
  readonly high_amount_confirm_from: number | null;
  readonly velocity_per_hour: number | null;
}

/** Returns the value once it has stayed the same for a while. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPED_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** Shows the effect that the typed rules would have had in the past week. */
export function RiskPreview({ draft }: { readonly draft: RulesDraft }): ReactNode {
  const settled = JSON.parse(useSettled(JSON.stringify(draft))) as RulesDraft;
  const query = useRead(
    'GET /accounts/{account}/{mode}/risk_settings/preview',
    {
      query: {
        first_payment_confirm_from: settled.first_payment_confirm_from ?? undefined,
        high_amount_confirm_from: settled.high_amount_confirm_from ?? undefined,
        velocity_per_hour: settled.velocity_per_hour ?? undefined,
      },
    },
    { keepsBefore: true },
  );
  return (
    <Notice tone="info" role="status">
      <strong>{t('dashboard.risk_preview.heading')}</strong>
      <p>{query.data === undefined ? t('dashboard.risk_preview.checking') : wordsOf(query.data)}</p>
    </Notice>
  );
}

function wordsOf(preview: PreviewRiskSettingsResponse): string {
  const { payments, stopped, asked, truncated } = preview;
  if (payments === 0) return t('dashboard.risk_preview.none');
  const values = { which: truncated ? 'newest' : 'all', count: payments };
  if (stopped + asked === 0) return t('dashboard.risk_preview.none_stopped', values);
  return t('dashboard.risk_preview.stopped', { ...values, stopped, asked });
}
