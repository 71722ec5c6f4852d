import type { Payment } from '../../data/types/dashboard.ts';
import { t } from '../../ui/text/t.ts';

/** Names the first thing that was sold and the number of others. */
export function soldText({ line_items: lines }: Payment): string | null {
  const [first, ...others] = lines ?? [];
  if (first === undefined) return null;
  const name = `${first.quantity} × ${first.name}`;
  return others.length === 0
    ? name
    : t('dashboard.payment.sold.more', { name, count: others.length });
}
