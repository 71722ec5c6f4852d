import { type FormEvent, type ReactNode, useCallback, useEffect, useState } from 'react';
import { writeRequest } from '../../data/offline-request.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { sumWords } from '../../ui/paid-total.ts';
import { Total } from '../../ui/sale-total.tsx';
import { t } from '../../ui/text/t.ts';
import { problemWords } from '../offline/bounce-words.ts';
import { requestTotal } from '../offline/offline-total.ts';
import { hasCamera } from '../reader/camera.ts';
import { readText } from '../reader/read-credential.ts';
import type { Asking } from '../till-phases.ts';
import { CancelPaymentButton } from './cancel-payment-button.tsx';
import { Qr, ScanDialog } from './lazy-parts.ts';
import type { TillContext } from './till-context.ts';
import './ask-wallet-to-sign.css';
import { ChipState, HoldCard } from './wait-for-tap.tsx';

type AskingProps = TillContext & { readonly phase: Asking };

function AnswerForm({ onAnswer }: { readonly onAnswer: (text: string) => Promise<void> }) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [scanning, setScanning] = useState(false);
  const take = async (answer: string) => {
    if (busy || answer.trim() === '') return;
    setBusy(true);
    try {
      await onAnswer(answer);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void take(text);
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      {hasCamera() ? (
        <Button kind="primary" wide large onClick={() => setScanning(true)}>
          {t('till.offline_sale.scan_button')}
        </Button>
      ) : null}
      <TextField
        data-name="Answer"
        label={t('till.offline_sale.answer')}
        hint={t('till.offline_sale.answer_hint')}
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        dir="ltr"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" wide busy={busy}>
        {t('till.offline_sale.accept_button')}
      </Button>
      {scanning ? (
        <ScanDialog
          title={t('till.offline_sale.scan_heading')}
          isOwn={(code) => readText(code).is === 'answer'}
          onClose={() => setScanning(false)}
          onCode={(code) => {
            setScanning(false);
            setText(code);
            void take(code);
          }}
        />
      ) : null}
    </form>
  );
}

function Request({
  request,
  text,
}: Pick<Asking, 'request'> & { readonly text: string }): ReactNode {
  const due = requestTotal(request);
  return (
    <>
      <div className="due">
        <Total {...due} />
      </div>
      <figure className="pay-qr asking-code">
        <Qr
          data-name="Request"
          value={text}
          label={t('till.offline_sale.code', { sum: sumWords(due.total) })}
        />
        <figcaption className="soft small">{t('till.offline_sale.code_text')}</figcaption>
      </figure>
    </>
  );
}

export function AskingScreen(props: AskingProps): ReactNode {
  const { phase, runner, offline, readers } = props;
  const { request } = phase;
  const [problem, setProblem] = useState<string | null>(null);
  const { till: offlineTill } = offline;
  const onAnswer = useCallback(
    async (text: string) => {
      const till = await offlineTill();
      const accepted = (await till?.accept(phase, text).catch(() => null)) ?? 'full';
      if (typeof accepted === 'string' || 'is' in accepted) {
        // A pass or a code was typed, which only the service can check.
        const isPass = accepted === 'other_text' && readText(text).is === 'pass';
        return setProblem(isPass ? t('till.offline_sale.problem.pass') : problemWords(accepted));
      }
      runner.dispatch({ type: 'accepted', request: phase.request, slip: accepted });
    },
    [offlineTill, phase, runner],
  );
  const { canceling, onCancel } = useCancel(props, setProblem);
  const { unread } = readers;
  useEffect(() => {
    if (unread !== null) setProblem(null);
  }, [unread]);
  useAlreadyStored(props);
  const text = writeRequest(request);
  const words = problem ?? offlineWords(readers);
  return (
    <div className="stack asking">
      <title>{t('till.offline_sale.page')}</title>
      <h1 className="unseen">{t('till.offline_sale.heading')}</h1>
      {words === null ? null : (
        <Notice tone="warn" role="alert">
          <p>{words}</p>
        </Notice>
      )}
      <ChipState readers={readers} />
      <Request request={request} text={text} />
      <p className="soft small">{t('till.offline_sale.card_text')}</p>
      <HoldCard readers={readers} />
      <AnswerForm onAnswer={onAnswer} />
      {request.price === undefined ? null : <AskInUsdc {...props} onProblem={setProblem} />}
      <CopyField data-name="Request" label={t('till.offline_sale.request')} value={text} />
      <CancelPaymentButton busy={canceling} onClick={onCancel} />
    </div>
  );
}

/** Lets a wallet that cannot read prices pay the same sum in USDC. */
function AskInUsdc({
  phase,
  runner,
  offline,
  onProblem,
}: AskingProps & { readonly onProblem: (words: string) => void }): ReactNode {
  const { request, lines, price = null } = phase;
  const ask = async () => {
    try {
      const till = await offline.till();
      const slip = (await till?.giveUp(request)) ?? null;
      if (slip !== null) return runner.dispatch({ type: 'accepted', request, slip });
      const sale = await till?.prepare({ amount: request.amount, currency: null, lines });
      if (sale == null) return;
      if ('is' in sale) return onProblem(problemWords(sale));
      runner.dispatch({ type: 'cancel' });
      runner.dispatch({ type: 'charge_offline', sale: { ...sale, price } });
    } catch {
      onProblem(t('till.offline_sale.problem.unknown'));
    }
  };
  return (
    <>
      <p className="soft small">{t('till.offline_sale.usdc_text')}</p>
      <Button wide onClick={ask}>
        {t('till.offline_sale.usdc_button')}
      </Button>
    </>
  );
}

/**
 * Cancels the request, except if the storage cannot be read: an answer may then already be stored.
 */
function useCancel(
  { phase, runner, offline }: AskingProps,
  onProblem: (words: string) => void,
): { readonly canceling: boolean; readonly onCancel: () => Promise<void> } {
  const { request } = phase;
  const [canceling, setCanceling] = useState(false);
  const onCancel = async () => {
    setCanceling(true);
    try {
      // An answer may have been stored first. The sale is then made and must not be charged again.
      const slip = (await (await offline.till())?.giveUp(request)) ?? null;
      runner.dispatch(slip === null ? { type: 'cancel' } : { type: 'accepted', request, slip });
    } catch {
      onProblem(t('till.offline_sale.problem.unknown'));
    } finally {
      setCanceling(false);
    }
  };
  return { canceling, onCancel };
}

/** Returns the text for an item that was held to a reader but cannot pay offline. */
function offlineWords({ unread, signing }: TillContext['readers']): string | null {
  if (unread === null || signing) return null;
  if (unread.is === 'not_signed' && unread.message !== null) return unread.message;
  if (unread.is === 'left_early') return t('till.read.left_early');
  return t('till.offline_sale.problem.pass');
}

/** Ends a sale that was stored just before the page was closed. */
function useAlreadyStored({ phase, offline, runner }: AskingProps): void {
  const { till: offlineTill } = offline;
  const { sales } = offline.view;
  // The effect reads `sales` only so that a change of them triggers another check.
  useEffect(() => {
    let isCurrent = sales.length > 0;
    void offlineTill().then((till) => {
      const slip = till?.slipOf(phase.request) ?? null;
      if (isCurrent && slip !== null) {
        runner.dispatch({ type: 'accepted', request: phase.request, slip });
      }
    });
    return () => {
      isCurrent = false;
    };
  }, [offlineTill, sales, phase, runner]);
}
