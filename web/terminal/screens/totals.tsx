import { type ReactNode, useCallback, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { Totals } from '../../data/device-api.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatNumber, percentText } from '../../ui/numbers.ts';
import { Fact, FactList, Facts } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Time, ZoneNote } from '../../ui/time.tsx';
import { Money } from '../../ui/typed-money.tsx';
import { goTo, replacePlace } from '../page-path.ts';
import { useHeldCarts } from './cart-aside.tsx';
import { OwnPin } from './cashiers.tsx';
import { SalesLeft } from './lazy-parts.ts';
import { ShiftsScreen } from './shifts.tsx';
import type { TillContext } from './till-context.ts';
import { NotLoaded, useLoaded } from './use-loaded.tsx';
import './totals.css';

type Figures = Totals['total'];

function PricedSums({ figures }: { readonly figures: Figures }): ReactNode {
  return figures.presentment.map(({ currency, sales, tips, refunded }) => {
    const price = (units: number) => <Money units={BigInt(units)} currency={currency} />;
    return (
      <section key={currency} className="stack">
        <h3>{t('till.totals.priced', { currency: currency.toUpperCase() })}</h3>
        <FactList>
          <Fact name={t('till.totals.sales')}>{price(sales)}</Fact>
          <Fact name={t('till.totals.tips')}>{price(tips)}</Fact>
          <Fact name={t('till.totals.refunded')}>{price(refunded)}</Fact>
          <Fact name={t('till.totals.total')}>
            <strong>{price(sales + tips - refunded)}</strong>
          </Fact>
        </FactList>
      </section>
    );
  });
}

function Sums({ figures }: { readonly figures: Figures }): ReactNode {
  const { payments, sales, tips, refunds, refunded, declines } = figures;
  const sum = BigInt(sales) + BigInt(tips) - BigInt(refunded);
  return (
    <Facts
      facts={[
        [t('till.totals.payments'), <span key="count">{payments}</span>],
        [t('till.totals.declined'), <span key="declines">{declines}</span>],
        [t('till.totals.sales'), <Amount key="sales" atoms={BigInt(sales)} />],
        [t('till.totals.tips'), <Amount key="tips" atoms={BigInt(tips)} />],
        [t('till.totals.refunds', { refunds }), <Amount key="refunds" atoms={BigInt(refunded)} />],
        [t('till.totals.total'), <strong key="net">{<Amount atoms={sum} />}</strong>],
      ]}
    />
  );
}

/** Shows a sum in the unit of its sale: minor units of a currency, or atoms. */
function UnitSum(sum: { readonly units: number; readonly currency: string | null }): ReactNode {
  if (sum.currency === null) return <Amount atoms={BigInt(sum.units)} />;
  return <Money units={BigInt(sum.units)} currency={sum.currency} />;
}

function Ending({ taxes, discounts, payouts }: Totals): ReactNode {
  if (taxes.length === 0 && discounts.length === 0 && payouts.count === 0) return null;
  return (
    <section className="card stack totals">
      <h2>{t('till.totals.taxes')}</h2>
      <FactList>
        {taxes.map(({ currency, rate, tax, gross }) => (
          <Fact
            key={`${currency} ${rate}`}
            name={t('till.totals.tax', { rate: percentText(formatNumber(rate / 100)) })}
          >
            <UnitSum units={tax} currency={currency} />
            {' / '}
            <UnitSum units={gross} currency={currency} />
          </Fact>
        ))}
        {discounts.map(({ currency, amount }) => (
          <Fact key={currency} name={t('till.totals.discounts')}>
            <UnitSum units={amount} currency={currency} />
          </Fact>
        ))}
        {payouts.count === 0 ? null : (
          <Fact name={t('till.totals.payouts', { payouts: payouts.count })}>
            <Amount atoms={BigInt(payouts.amount)} />
          </Fact>
        )}
      </FactList>
    </section>
  );
}

/** Shows the totals by cashier, but only if payments name cashiers. */
function Cashiers({ cashiers }: Pick<Totals, 'cashiers'>): ReactNode {
  if (cashiers.every(({ cashier }) => cashier === null)) return null;
  return cashiers.map(({ cashier, ...figures }) => (
    <section key={figures.cashier_id ?? cashier ?? ''} className="card stack totals">
      <h2>{cashier === null ? t('till.totals.no_cashier') : named(cashier)}</h2>
      <Sums figures={figures} />
      <PricedSums figures={figures} />
    </section>
  ));
}

/** Shows the open shift or, with the part `shifts`, the reports of those that have ended. */
export function TotalsScreen(context: TillContext & { readonly part: string | null }): ReactNode {
  return context.part === 'shifts' ? <ShiftsScreen {...context} /> : <OpenShift {...context} />;
}

function OpenShift(context: TillContext): ReactNode {
  const { api, device, settings, view } = context;
  const since = settings.shiftSince ?? '';
  const load = useCallback(() => api.totals(since), [api, since]);
  const { value: totals, failed, reload } = useLoaded(load, view.reached);
  const [ending, setEnding] = useState(false);
  const until = new Date(Date.now() + view.clockOffsetMs).toISOString();
  return (
    <div className="stack">
      <title>{t('till.totals.page')}</title>
      <h1>{t('till.totals.heading')}</h1>
      <p className="soft">
        {rich(
          'till.totals.span',
          {
            from: () => <Time at={settings.shiftSince ?? until} />,
            to: () => <Time at={until} />,
          },
          { merchant: device?.merchant_name ?? '', terminal: device?.label ?? '' },
        )}
      </p>
      <ZoneNote />
      {failed ? <NotLoaded words={t('till.totals.problem')} onRetry={reload} /> : null}
      {totals === null && !failed ? <p role="status">{t('till.totals.loading')}</p> : null}
      {totals === null ? null : (
        <>
          <div className="card stack totals">
            <Sums figures={totals.total} />
            <PricedSums figures={totals.total} />
          </div>
          <Cashiers cashiers={totals.cashiers} />
          <Ending {...totals} />
        </>
      )}
      <Button kind="primary" onClick={() => window.print()} disabled={totals === null}>
        {t('till.print')}
      </Button>
      {settings.ending == null ? (
        <Button data-name="End shift" onClick={() => setEnding(true)}>
          {t('till.end_shift.button')}
        </Button>
      ) : (
        <p role="status">{t('till.end_shift.waits')}</p>
      )}
      <Button data-name="Earlier shifts" onClick={() => goTo('totals/shifts')}>
        {t('till.report.earlier_button')}
      </Button>
      {ending ? <EndDialog {...context} onClose={() => setEnding(false)} /> : null}
    </div>
  );
}

/** Asks for the signed-in cashier's PIN, if there is one and the service can check it. */
function EndDialog(props: TillContext & { readonly onClose: () => void }): ReactNode {
  const { settings, change, view, onClose } = props;
  const { person } = settings;
  const held = useHeldCarts(props);
  const end = () => {
    change({ person: null, ending: crypto.randomUUID() });
    onClose();
    if (!view.reached) replacePlace('');
  };
  return (
    <Dialog title={t('till.end_shift.heading')} onClose={onClose}>
      <p>{t(view.reached ? 'till.end_shift.text' : 'till.end_shift.offline_text')}</p>
      {props.offline.view.sales.length === 0 ? null : <SalesLeft {...props} />}
      {held.length === 0 ? null : (
        <p>{t('till.held.at_end', { names: held.map(({ name }) => name).join(', ') })}</p>
      )}
      {person === null || !view.reached ? (
        <Button data-name="End shift" kind="primary" onClick={end}>
          {t('till.end_shift.button')}
        </Button>
      ) : (
        <OwnPin
          person={person}
          data-name="End shift"
          button={t('till.end_shift.button')}
          onIn={end}
        />
      )}
      <Button onClick={onClose}>{t('till.end_shift.keep_button')}</Button>
    </Dialog>
  );
}
