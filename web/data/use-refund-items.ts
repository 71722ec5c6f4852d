import { useState } from 'react';
import { t } from '../ui/text/t.ts';
import type { RefundableLines } from './refund-lines.ts';

/**
 * Holds the chosen items of a refund while a dialog shows the lines of the sale.
 * @param lines `null` while they are unknown, and for a sale without lines.
 */
export function useRefundItems(lines: RefundableLines | null) {
  // Keeps what was left when the lines were opened, so that a request that is repeated is the same.
  const [opened, setOpened] = useState<RefundableLines | null>(null);
  const [chosen, setChosen] = useState<readonly bigint[]>([]);
  const isEmpty = chosen.every((quantity) => quantity === 0n);
  const part = isEmpty ? null : (opened?.partOf(chosen) ?? null);
  const turn = () => {
    setOpened(opened === null ? lines : null);
    setChosen([]);
  };
  const problem = isEmpty ? t('ui.refund_items.empty') : t('ui.refund_items.worthless');
  return { lines, opened, turn, chosen, setChosen, part, problem };
}
