import { type ReactNode, useEffect, useState } from 'react';
import type { PreviewRiskSettingsResponse } from '../../data/types/dashboard.ts';
import { Notice } from '../../ui/notice.tsx';
import { useRead } from '../merchant.ts';

/** Typing is over: a preview for each digit would be no help. */
const TYPED_MS = 400;

export interface RulesDraft {
  readonly first_payment_confirm_from: number | null;
  readonly high_amount_confirm_from: number | null;
  readonly velocity_per_hour: number | null;
}

/** The value once it has stood for a while. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPED_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** What the rules, as they are typed, would have done last week. */
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
      <strong>Last week under these rules</strong>
      <p>{query.data === undefined ? 'Checking last week…' : wordsOf(query.data)}</p>
    </Notice>
  );
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}

function wordsOf(preview: PreviewRiskSettingsResponse): string {
  const { payments, stopped, asked, truncated } = preview;
  if (payments === 0) return 'There was no payment in the last seven days to try them on.';
  const all = truncated
    ? `the newest ${count(payments)} payments of the last seven days`
    : `the ${count(payments)} payments of the last seven days`;
  if (stopped + asked === 0) return `None of ${all} would have been stopped or confirmed.`;
  return (
    `Of ${all}, ${count(stopped)} would have been stopped, and for ${count(asked)} the customer ` +
    'would have been asked to confirm.'
  );
}
