import { useEffect } from 'react';
import type { Pass, PayerPayment } from '../../data/payer-api.ts';
import { paidTotal, sumWords } from '../../ui/paid-total.ts';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { notifyOfPass } from '../ring-by-push.ts';
import { rowsOf, usePasses, usePayments } from '../wallet-reads.ts';
import { keep, kept } from '../wallet-storage.ts';

/** Maximum number of toasts. The history marks all of these payments. */
const MOST = 3;

/** True if the payment used a credential that any reader can copy. */
export function isByStaticPass({ payment_method: method }: PayerPayment): boolean {
  return method.credential === 'nfc_id';
}

/** Returns the payments that this browser has not reported yet; in a new browser, none. */
function newsIn(rows: readonly PayerPayment[], heardUntil: string | null): PayerPayment[] {
  if (heardUntil === null) return [];
  return rows.filter((row) => row.settled_at > heardUntil && isByStaticPass(row));
}

/** Returns each pass's newest refusal that this browser has not reported yet. */
function refusalsIn(rows: readonly Pass[], heardUntil: string | null): Pass[] {
  if (heardUntil === null) return [];
  return rows.filter(({ last_declined: last }) => last !== null && last.declined_at > heardUntil);
}

/** Reports each refused tap of a static pass, which may be an attempt with a copy. */
function useRefusedTaps(): void {
  const rows = rowsOf(usePasses());
  const toast = useToast();
  useEffect(() => {
    if (rows === null) return;
    const heardUntil = kept('refusedUntil');
    const news = refusalsIn(rows, heardUntil);
    const times = rows.flatMap(({ last_declined: last }) => last?.declined_at ?? []);
    const until = [heardUntil ?? new Date(0).toISOString(), ...times].sort().at(-1) ?? null;
    if (until !== heardUntil) keep('refusedUntil', until);
    for (const { label } of news.slice(0, MOST)) {
      toast(
        label === '' ? t('wallet.news.refused_unnamed') : t('wallet.news.refused', { name: label }),
      );
    }
    if (news.length > 0 && document.visibilityState === 'hidden') void notifyOfPass();
  }, [rows, toast]);
}

/** Reports each payment with a static pass, because another person may have used it. */
export function StaticPassToasts(): null {
  useRefusedTaps();
  const rows = rowsOf(usePayments());
  const toast = useToast();
  useEffect(() => {
    const newest = rows?.[0]?.settled_at;
    if (rows === null) return;
    const heardUntil = kept('heardUntil');
    const news = newsIn(rows, heardUntil);
    const until = newest ?? new Date(0).toISOString();
    if (heardUntil === null || until > heardUntil) keep('heardUntil', until);
    for (const payment of news.slice(0, MOST)) {
      const sum = sumWords(paidTotal(payment).total);
      toast(t('wallet.news.charged', { merchant: payment.merchant_name, sum }));
    }
    if (news.length > 0 && document.visibilityState === 'hidden') void notifyOfPass();
  }, [rows, toast]);
  return null;
}
