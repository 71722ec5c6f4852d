import { type ReactNode, useCallback, useEffect, useState } from 'react';
import type { ShiftReport } from '../../data/types/device.ts';
import { Button } from '../../ui/button.tsx';
import { ShiftReportView } from '../../ui/shift-report.tsx';
import { t } from '../../ui/text/t.ts';
import { Time, ZoneNote } from '../../ui/time.tsx';
import { goTo } from '../page-path.ts';
import { useShiftApi } from './cashiers.tsx';
import type { TillContext } from './till-context.ts';
import { NotLoaded, useLoaded } from './use-loaded.tsx';
import { usePrinterJob } from './use-printer-job.tsx';

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
      <ShiftReportView report={report} isCopy={false} />
      <Button data-name="Print" busy={busy} onClick={() => print(report)}>
        {t('till.print')}
      </Button>
      {problem}
      <Button data-name="Done" onClick={() => change({ ended: null })}>
        {t('till.done')}
      </Button>
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
            <ShiftReportView report={report} isCopy />
          ) : (
            <details>
              <summary>{t('till.report.details')}</summary>
              <ShiftReportView report={report} isCopy />
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
