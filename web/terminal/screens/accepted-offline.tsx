import { type ReactNode, useEffect } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { cellsOf } from '../../../reader/src/printing/escpos.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { sumWords } from '../../ui/paid-total.ts';
import { RESULT_NAMES } from '../../ui/result-names.ts';
import { Total } from '../../ui/sale-total.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { formatTime, Time } from '../../ui/time.tsx';
import { bounceWords } from '../offline/bounce-words.ts';
import type { HeldSale } from '../offline/held-sales.ts';
import { slipTotal } from '../offline/offline-total.ts';
import { signal } from '../sounds-and-vibration.ts';
import type { Accepted, Slip } from '../till-phases.ts';
import { keptSettings } from '../till-storage.ts';
import type { TillContext } from './till-context.ts';
import { usePrinterJob } from './use-printer-job.tsx';
import './ask-wallet-to-sign.css';

function linesOf(slip: Slip, { merchant, width }: SlipFor): string {
  const fact = (name: string, value: string) =>
    `${name}${' '.repeat(Math.max(1, width - cellsOf(name) - cellsOf(value)))}${value}`;
  const note = `${t('till.offline_sale.accepted_text')} ${t('till.offline_sale.slip_note')}`;
  return [
    merchant,
    '',
    t('till.offline_sale.accepted'),
    '',
    fact(t('ui.total'), sumWords(slipTotal(slip).total)),
    fact(t('till.offline_sale.slip_time'), formatTime(slip.acceptedAt, 'full')),
    fact(t('till.offline_sale.slip_code'), slip.code),
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

interface Look {
  readonly look: 'good' | 'bad' | 'offline';
  readonly name: string;
  readonly title: string;
  readonly words: string;
}

/** Returns how the result shows the state of a sale. */
function lookOf(sale: HeldSale | undefined): Look {
  const paid = { look: 'good', name: RESULT_NAMES.paid, title: t('till.outcome.paid') } as const;
  switch (sale?.state.is) {
    case 'succeeded':
      return { ...paid, words: t('till.offline_sale.paid_text') };
    case 'paid_online':
      return { ...paid, words: t('till.offline_sale.list.paid_online') };
    case 'bounced':
      return {
        ...{ look: 'bad', name: RESULT_NAMES.refused },
        ...{ title: t('till.offline_sale.list.bounced'), words: bounceWords(sale.state.reason) },
      };
    default:
      return {
        ...{ look: 'offline', name: RESULT_NAMES.accepted_offline },
        title: t('till.offline_sale.accepted'),
        words: t('till.offline_sale.accepted_text'),
      };
  }
}

const SOUNDS = { good: 'good', bad: 'bad', offline: 'wait' } as const;

/**
 * Shows the result of an offline sale: accepted, with its own color and text, until the service
 * has forwarded it, then paid or bounced.
 */
export function AcceptedScreen({
  phase,
  runner,
  settings,
  device,
  offline,
}: TillContext & { readonly phase: Accepted }): ReactNode {
  const { slip, since } = phase;
  const isFresh = since > 0;
  const sale = offline.view.sales.find(({ nonce }) => nonce === slip.nonce);
  const { look, name, title, words } = lookOf(sale);
  useEffect(() => {
    if (isFresh) signal(SOUNDS[look], settings.sound);
  }, [isFresh, look, settings.sound]);
  const merchant = device?.merchant_name ?? '';
  return (
    <div className="stack filling">
      <title>{`${title} · Tapline`}</title>
      <section
        className={`outcome is-full-${look}`}
        role={look === 'bad' ? 'alert' : 'status'}
        data-result={name}
      >
        <Icon name={SOUNDS[look]} />
        <h1>{title}</h1>
        <Total {...slipTotal(slip)} />
        <p>{words}</p>
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
        {look === 'good' ? null : <p className="soft small">{t('till.offline_sale.slip_note')}</p>}
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
