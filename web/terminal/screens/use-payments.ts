import { useCallback, useEffect, useState } from 'react';
import type { Payment } from '../../data/device.ts';
import { paymentsSince } from '../payments.ts';
import type { TillContext } from './till-context.ts';

export interface ShiftPayments {
  /** `null` while loading. */
  readonly payments: readonly Payment[] | null;
  readonly failed: boolean;
  readonly reload: () => void;
}

/** Loads the payments of this shift, and again after a change. */
export function usePayments({ api, settings, view }: TillContext): ShiftPayments {
  const since = settings.shiftSince ?? '';
  const [payments, setPayments] = useState<readonly Payment[] | null>(null);
  const [failed, setFailed] = useState(false);
  const [round, setRound] = useState(0);
  const { reached } = view;
  // Biome is right that these are extra dependencies: they trigger another load.
  useEffect(() => {
    let isCurrent = round >= 0 && reached;
    void paymentsSince(api, since).then((answer) => {
      if (!isCurrent) return;
      if (answer.is === 'done') setPayments(answer.value);
      setFailed(answer.is !== 'done');
    });
    return () => {
      isCurrent = false;
    };
  }, [api, since, round, reached]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  return { payments, failed, reload };
}
