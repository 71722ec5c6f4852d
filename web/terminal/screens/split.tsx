import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/field.tsx';
import { formatMoney } from '../../ui/format-price.ts';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Money } from '../../ui/typed-money.tsx';
import { equalParts, MOST_PARTS, remaining, type Split } from '../split-bill.ts';
import type { TillContext } from './till-context.ts';

const COUNTS = Array.from({ length: MOST_PARTS - 1 }, (_, i) => i + 2);

export interface SplitDialogProps {
  readonly total: bigint;
  /** The currency whose minor units the total counts; `null` for atoms of USDC. */
  readonly currency: string | null;
  readonly onClose: () => void;
  readonly onSplit: (split: Split) => void;
}

export function SplitDialog({ total, currency, onClose, onSplit }: SplitDialogProps): ReactNode {
  const [count, setCount] = useState(2);
  const parts = equalParts(total, count, currency);
  const start = (chosen: readonly bigint[]) =>
    onSplit({ group: crypto.randomUUID(), currency, total, paid: 0n, parts: chosen, paidParts: 0 });
  return (
    <Dialog title={t('till.split.heading')} onClose={onClose}>
      <p>{rich('till.split.bill', { sum: () => <Money units={total} currency={currency} /> })}</p>
      <Select
        label={t('till.split.people')}
        value={count}
        onChange={(event) => setCount(Number(event.target.value))}
      >
        {COUNTS.map((people) => (
          <option key={people}>{people}</option>
        ))}
      </Select>
      <Button kind="primary" onClick={() => start(parts)}>
        {t('till.split.equal_button', { sum: formatMoney(parts[0] ?? total, currency) })}
      </Button>
      <Button onClick={() => start([])}>{t('till.split.amount_button')}</Button>
      <Button kind="quiet" onClick={onClose}>
        {t('till.split.keep_button')}
      </Button>
    </Dialog>
  );
}

export function SplitBanner({ view, runner }: TillContext): ReactNode {
  const { split } = view.till;
  if (split === null) return null;
  const part = split.paidParts + 1;
  const { currency } = split;
  const whole = { total: () => <Money units={split.total} currency={currency} /> };
  const left = () => <Money units={remaining(split)} currency={currency} />;
  const tags = { ...whole, left };
  const all = split.paidParts + split.parts.length;
  return (
    <Notice tone="info">
      <p>
        {split.parts.length > 0
          ? rich('till.split.part_of', tags, { part, all })
          : rich('till.split.part', tags, { part })}
      </p>
      <Button onClick={() => runner.dispatch({ type: 'split', split: null })}>
        {t('till.split.end_button')}
      </Button>
    </Notice>
  );
}
