import { type ReactNode, useEffect } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { cellsOf } from '../../../reader/src/printing/escpos.ts';
import { Button } from '../../ui/button.tsx';
import { formatUsdc } from '../../ui/format-usdc.ts';
import { Icon } from '../../ui/icon.tsx';
import { RESULT_NAMES } from '../../ui/result-names.ts';
import { Sum } from '../../ui/sum.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { formatTime, Time } from '../../ui/time.tsx';
import { signal } from '../sounds-and-vibration.ts';
import type { Accepted, Slip } from '../till-phases.ts';
import { keptSettings } from '../till-storage.ts';
import type { TillContext } from './till-context.ts';
import { usePrinterJob } from './use-printer-job.tsx';
import './ask-wallet-to-sign.css';

function linesOf({ code, amount, acceptedAt }: Slip, { merchant, width }: SlipFor): string {
  const fact = (name: string, value: string) =>
    `${name}${' '.repeat(Math.max(1, width - cellsOf(name) - cellsOf(value)))}${value}`;
  const note = `${t('till.offline_sale.accepted_text')} ${t('till.offline_sale.slip_note')}`;
  return [
    merchant,
    '',
    t('till.offline_sale.accepted'),
    '',
    fact(t('till.offline_sale.slip_sum'), formatUsdc(amount)),
    fact(t('till.offline_sale.slip_time'), formatTime(acceptedAt, 'full')),
    fact(t('till.offline_sale.slip_code'), code),
    '',
    ...wrap(note, width),
  ].join('\n');
}

interface SlipFor {
  readonly merchant: string;
  /** The paper's width in printed cells; Japanese letters take two. */
  readonly width: number;
}

/** Wraps a text at spaces. Splits a word that is wider than the paper between letters. */
function wrap(text: string, width: number): readonly string[] {
  const lines = [''];
  for (const piece of text.split(/(?<= )/)) {
    const parts = cellsOf(piece.trimEnd()) > width ? [...piece] : [piece];
    for (const part of parts) {
      const longer = `${lines.at(-1) ?? ''}${part}`;
      if (cellsOf(longer.trimEnd()) <= width) lines[lines.length - 1] = longer;
      else lines.push(part);
    }
  }
  return lines.map((line) => line.trim());
}

/** Prints on the receipt printer if there is one, otherwise with the browser's dialog. */
function PrintSlip({ slip, merchant }: { readonly slip: Slip; readonly merchant: string }) {
  const job = usePrinterJob(t('till.offline_sale.problem.print'));
  const print = async () => {
    const { printer } = keptSettings();
    if (printer === null) return window.print();
    const text = linesOf(slip, { merchant, width: printer.width });
    await job.run(async () => (await import('../receipt-printer.ts')).printText(text, printer));
  };
  return (
    <>
      <Button wide busy={job.busy} onClick={print}>
        {t('till.print')}
      </Button>
      {job.problem}
    </>
  );
}

/** Shows the result of an offline sale. It is not paid, so it has its own color and text. */
export function AcceptedScreen({
  phase,
  runner,
  settings,
  device,
}: TillContext & { readonly phase: Accepted }): ReactNode {
  const { slip, since } = phase;
  const isFresh = since > 0;
  useEffect(() => {
    if (isFresh) signal('wait', settings.sound);
  }, [isFresh, settings.sound]);
  const merchant = device?.merchant_name ?? '';
  return (
    <div className="stack filling">
      <title>{`${t('till.offline_sale.accepted')} · Tapline`}</title>
      <section
        className="outcome is-full-offline"
        role="status"
        data-result={RESULT_NAMES.accepted_offline}
      >
        <Icon name="wait" />
        <h1>{t('till.offline_sale.accepted')}</h1>
        <Sum atoms={slip.amount} />
        <p>{t('till.offline_sale.accepted_text')}</p>
      </section>
      <section className="card stack result-facts">
        <h2>{t('till.offline_sale.slip')}</h2>
        <FactList>
          <Fact name={t('till.offline_sale.slip_merchant')}>
            {merchant === '' ? null : named(merchant)}
          </Fact>
          <Fact name={t('till.offline_sale.slip_time')}>
            <Time at={slip.acceptedAt} />
          </Fact>
          <Fact name={t('till.offline_sale.slip_code')}>
            <bdi className="slip-code" translate="no">
              {slip.code}
            </bdi>
          </Fact>
        </FactList>
        <p className="soft small">{t('till.offline_sale.slip_note')}</p>
      </section>
      <PrintSlip slip={slip} merchant={merchant} />
      <Button
        data-name="New payment"
        kind="primary"
        large
        wide
        autoFocus
        onClick={() => runner.dispatch({ type: 'again' })}
      >
        {t('till.new_payment')}
      </Button>
    </div>
  );
}
