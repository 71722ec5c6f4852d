import type { ReactNode } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { ShiftReport } from '../data/types/device.ts';
import { formatNumber, percentText } from './numbers.ts';
import { Fact, FactList } from './table.tsx';
import { t } from './text/t.ts';
import { Time } from './time.tsx';
import { Money } from './typed-money.tsx';

/** Also in printed reports and exports, the same in every language. */
const CORRECTION = 'CORRECTION';

type Figures = ShiftReport['figures'][number];

function Sum({ units, currency }: { readonly units: number; readonly currency: string }) {
  return <Money units={BigInt(units)} currency={currency === 'usdc' ? null : currency} />;
}

function Taxes({ figures }: { readonly figures: Figures }): ReactNode {
  const { currency } = figures;
  return figures.taxes.map(({ rate, tax, gross }) => (
    <Fact key={rate} name={t('till.totals.tax', { rate: percentText(formatNumber(rate / 100)) })}>
      <Sum units={tax} currency={currency} />
      {' / '}
      <Sum units={gross} currency={currency} />
    </Fact>
  ));
}

function FigureList({ figures }: { readonly figures: Figures }): ReactNode {
  const { currency, count, sales, tips, discounts, refunds, refunded } = figures;
  return (
    <FactList>
      <Fact name={t('till.totals.payments')}>{count}</Fact>
      <Fact name={t('till.totals.sales')}>
        <Sum units={sales} currency={currency} />
      </Fact>
      <Fact name={t('till.totals.tips')}>
        <Sum units={tips} currency={currency} />
      </Fact>
      {discounts === 0 ? null : (
        <Fact name={t('till.totals.discounts')}>
          <Sum units={discounts} currency={currency} />
        </Fact>
      )}
      <Fact name={t('till.totals.refunds', { refunds })}>
        <Sum units={refunded} currency={currency} />
      </Fact>
      <Fact name={t('till.totals.total')}>
        <strong>
          <Sum units={sales + tips - refunded} currency={currency} />
        </strong>
      </Fact>
      <Taxes figures={figures} />
    </FactList>
  );
}

function CurrencyHeading({ currency }: { readonly currency: string }): ReactNode {
  return <h3>{t('till.totals.priced', { currency: currency.toUpperCase() })}</h3>;
}

function People({ cashiers }: ShiftReport): ReactNode {
  if (cashiers.every(({ cashier }) => cashier === null)) return null;
  return cashiers.map(({ cashier, name, figures }) => (
    <section key={cashier ?? ''} className="stack">
      <h3>{name === null ? t('till.totals.no_cashier') : named(name)}</h3>
      {figures.map((own) => (
        <FigureList key={own.currency} figures={own} />
      ))}
    </section>
  ));
}

function Items({ items }: ShiftReport): ReactNode {
  if (items.length === 0) return null;
  return (
    <FactList>
      {items.map(({ item, name, quantity, currency, gross }) => (
        <Fact
          key={`${item} ${name} ${currency}`}
          name={`${formatNumber(Number(quantity))} × ${named(name)}`}
        >
          <Sum units={gross} currency={currency} />
        </Fact>
      ))}
    </FactList>
  );
}

function Corrections({ corrections }: ShiftReport): ReactNode {
  return corrections.map(({ payment, refund, of, figures }) => (
    <section key={payment ?? refund} className="stack">
      <h3 translate="no">{CORRECTION}</h3>
      <p className="small" translate="no">
        {payment ?? refund} ({of})
      </p>
      {figures.map((own) => (
        <FigureList key={own.currency} figures={own} />
      ))}
    </section>
  ));
}

function Facts({ report }: { readonly report: ShiftReport }): ReactNode {
  const { series, number, covers_from, ended_at, offline, declines } = report;
  const { first_receipt, last_receipt } = report;
  return (
    <FactList>
      <Fact name={t('till.report.series')}>
        <span translate="no">{`${series}-${number}`}</span>
      </Fact>
      <Fact name={t('till.report.from')}>
        <Time at={covers_from} />
      </Fact>
      <Fact name={t('till.report.to')}>
        <Time at={ended_at} />
      </Fact>
      <Fact name={t('till.report.offline')}>{offline}</Fact>
      <Fact name={t('till.totals.declined')}>{declines}</Fact>
      {first_receipt === null ? null : (
        <Fact name={t('till.report.receipts')}>
          <span translate="no">{`${first_receipt} – ${last_receipt}`}</span>
        </Fact>
      )}
    </FactList>
  );
}

interface ReportProps {
  readonly report: ShiftReport;
  /** True if it is printed again. */
  readonly isCopy: boolean;
}

/** Shows the report of a shift that has ended, at the till and in the dashboard. */
export function ShiftReportView({ report, isCopy }: ReportProps): ReactNode {
  return (
    <div className="card stack totals">
      {isCopy ? <p>{t('till.report.copy')}</p> : null}
      <Facts report={report} />
      {report.figures.map((figures) => (
        <section key={figures.currency} className="stack">
          <CurrencyHeading currency={figures.currency} />
          <FigureList figures={figures} />
        </section>
      ))}
      <People {...report} />
      <Items {...report} />
      <Corrections {...report} />
      {report.after_loss ? <p>{t('till.report.after_loss')}</p> : null}
      <p className="soft small">{t('till.report.no_cash')}</p>
    </div>
  );
}
