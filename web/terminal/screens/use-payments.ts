import { useCallback, useEffect, useState } from 'react';
import type { Payment } from '../../data/device.ts';
import { paymentsSince } from '../payments.ts';
import type { TillContext } from './shift.tsx';

export interface ShiftPayments {
  /** null while they are being loaded. */
  readonly payments: readonly Payment[] | null;
  readonly failed: boolean;
  readonly reload: () => void;
}

/** The payments of this shift, and again after something has changed. */
export function usePayments({ api, settings, view }: TillContext): ShiftPayments {
  const since = settings.shiftSince ?? '';
  const [payments, setPayments] = useState<readonly Payment[] | null>(null);
  const [failed, setFailed] = useState(false);
  const [round, setRound] = useState(0);
  const { reached } = view;
  // biome's hint is right: another round, or the connection's return, is a reason to ask again.
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
