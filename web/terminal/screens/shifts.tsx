import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { ShiftReport } from '../../data/types/device.ts';
import { Button } from '../../ui/button.tsx';
import { formatNumber, percentText } from '../../ui/numbers.ts';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time, ZoneNote } from '../../ui/time.tsx';
import { Money } from '../../ui/typed-money.tsx';
import { goTo } from '../page-path.ts';
import { useShiftApi } from './cashiers.tsx';
import type { TillContext } from './till-context.ts';
import { NotLoaded, useLoaded } from './use-loaded.tsx';
import { usePrinterJob } from './use-printer-job.tsx';

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
  readonly isCopy: boolean;
}

function Report({ report, isCopy }: ReportProps): ReactNode {
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

/** Prints on this computer's receipt printer if there is one, or else with the browser's dialog. */
function usePrint(context: TillContext, onPage: (report: ShiftReport) => void) {
  const { printer } = context.settings;
  const api = useShiftApi();
  const job = usePrinterJob(t('till.receipt.problem.printer'));
  const print = (report: ShiftReport) => {
    if (printer === null) return onPage(report);
    void job.run(async () => {
      const text = await api.text(report.id, printer.width);
      await (await import('../receipt-printer.ts')).printText(text, printer);
    });
  };
  return { ...job, print };
}

/** The report of the shift that has just ended, above the start of the next one. */
export function EndedReport(context: TillContext & { readonly shift: string }): ReactNode {
  const { shift, view, change } = context;
  const api = useShiftApi();
  const load = useCallback(() => api.report(shift), [api, shift]);
  const { value: report, failed, reload } = useLoaded(load, view.reached);
  const { print, busy, problem } = usePrint(context, () => window.print());
  if (report === null) {
    return failed ? <NotLoaded words={t('till.report.problem')} onRetry={reload} /> : null;
  }
  return (
    <section className="stack">
      <h2>{t('till.report.heading', { number: report.number })}</h2>
      <Report report={report} isCopy={false} />
      <Button data-name="Print" busy={busy} onClick={() => print(report)}>
        {t('till.print')}
      </Button>
      {problem}
      <Button onClick={() => change({ ended: null })}>{t('till.done')}</Button>
    </section>
  );
}

/** The reports of this till, newest first. */
export function ShiftsScreen(context: TillContext): ReactNode {
  const { view } = context;
  const api = useShiftApi();
  const load = useCallback(() => api.reports(null), [api]);
  const { value, failed, reload } = useLoaded(load, view.reached);
  const [more, setMore] = useState<readonly ShiftReport[]>([]);
  const [next, setNext] = useState<string | null>(null);
  const [printed, setPrinted] = useState<ShiftReport | null>(null);
  const { print, busy, problem } = usePrint(context, setPrinted);
  useEffect(() => setNext(value?.next_cursor ?? null), [value]);
  useEffect(() => {
    if (printed !== null) window.print();
  }, [printed]);
  const loadMore = async () => {
    const answer = await api.reports(next);
    if (answer.is !== 'done') return;
    setMore([...more, ...answer.value.data]);
    setNext(answer.value.next_cursor);
  };
  const reports = [...(value?.data ?? []), ...more];
  return (
    <div className="stack">
      <title>{t('till.report.earlier_page')}</title>
      <h1>{t('till.report.earlier')}</h1>
      <ZoneNote />
      {failed ? <NotLoaded words={t('till.report.problem')} onRetry={reload} /> : null}
      {value === null && !failed ? <p role="status">{t('till.totals.loading')}</p> : null}
      {value !== null && reports.length === 0 ? <p>{t('till.report.none')}</p> : null}
      {problem}
      {reports.map((report) => (
        <section
          key={report.id}
          className={printed === null || printed.id === report.id ? 'stack' : 'stack unprinted'}
        >
          <h2>{t('till.report.heading', { number: report.number })}</h2>
          <p className="soft">
            <Time at={report.ended_at} />
          </p>
          {printed?.id === report.id ? (
            <Report report={report} isCopy />
          ) : (
            <details>
              <summary>{t('till.report.details')}</summary>
              <Report report={report} isCopy />
            </details>
          )}
          <Button data-name="Print" busy={busy} onClick={() => print(report)}>
            {t('till.print')}
          </Button>
        </section>
      ))}
      {next === null ? null : <Button onClick={loadMore}>{t('till.report.more_button')}</Button>}
      <Button onClick={() => goTo('totals')}>{t('till.report.back_button')}</Button>
    </div>
  );
}
