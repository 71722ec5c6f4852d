import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { valueInCurrency } from '../value-in-currency.ts';
import { useHere } from '../wallet-context.tsx';
import { ratesQuery } from '../wallet-reads.ts';

export interface BalanceValueProps {
  readonly atoms: bigint;
  readonly currency: string;
}

/** Shows what the balance is worth in the reader's currency, if the service has a rate. */
export function BalanceValue({ atoms, currency }: BalanceValueProps): ReactNode {
  const rates = useQuery(ratesQuery(useHere()));
  const value = valueInCurrency(atoms, { currency, rates: rates.data });
  return <p className="soft balance-value">{value}</p>;
}
