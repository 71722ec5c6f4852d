import { Fragment, type ReactNode } from 'react';
import { Amount } from '../../ui/amount.tsx';
import { Money } from '../../ui/typed-money.tsx';
import { useShopDays } from '../account/time-zone.ts';
import { useRead } from '../use-merchant.ts';
import { dayBefore } from './day-bounds.ts';

/**
 * Shows what the shop got from this day until now: in each currency of its prices, and all of it in
 * USDC.
 * @param of The part to show.
 */
export function SalesOf({
  from,
  atoms,
  of = 'all',
}: {
  readonly from: string;
  readonly atoms: bigint;
  readonly of?: 'all' | 'tips';
}): ReactNode {
  const to = dayBefore(0, useShopDays());
  const { data } = useRead('GET /accounts/{account}/{mode}/totals', { query: { from, to } });
  const prices = (data?.total.presentment ?? []).map(({ currency, sales, tips }) => {
    return { currency, units: BigInt(tips) + (of === 'all' ? BigInt(sales) : 0n) };
  });
  return (
    <>
      {prices.slice(0, -1).map((price) => (
        <Fragment key={price.currency}>
          <Money {...price} />{' '}
        </Fragment>
      ))}
      <Amount atoms={atoms} price={prices.at(-1) ?? null} />
    </>
  );
}
