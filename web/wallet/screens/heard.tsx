import { useEffect } from 'react';
import { leftWallet } from '../../data/left-wallet.ts';
import type { PayerPayment } from '../../data/payer.ts';
import { formatUsdc } from '../../ui/money.ts';
import { useToast } from '../../ui/toast.tsx';
import { keep, kept } from '../kept.ts';
import { tellOfPass } from '../push.ts';
import { rowsOf, usePayments } from '../queries.ts';

/** As many as can be read in passing; the history marks all of them. */
const MOST = 3;

/** Whether it was paid with something that whoever reads it can copy. */
export function isByStaticPass({ payment_method: method }: PayerPayment): boolean {
  return method.credential === 'nfc_id';
}

/** Newer than what this browser has told of; nothing is news to a browser that is new here. */
function newsIn(rows: readonly PayerPayment[], heardUntil: string | null): PayerPayment[] {
  if (heardUntil === null) return [];
  return rows.filter((row) => row.settled_at > heardUntil && isByStaticPass(row));
}

/** Tells of each payment with a static pass: its owner may not have been there. */
export function Heard(): null {
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
      const sum = formatUsdc(leftWallet(payment));
      toast(`${payment.merchant_name} took ${sum} by a static pass. Not you? Revoke the pass.`);
    }
    if (news.length > 0 && document.visibilityState === 'hidden') void tellOfPass();
  }, [rows, toast]);
  return null;
}
