import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import type { DeviceApi, Payment } from '../../data/device-api.ts';
import { receiptPath } from '../../data/receipt-path.ts';
import { refusalText } from '../../data/refusal-text.ts';
import { fromRoot } from '../../data/root-path.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { keptSettings } from '../till-storage.ts';
import { Qr } from './lazy-parts.ts';
import { usePrinterJob } from './use-printer-job.tsx';

interface ReceiptProps {
  readonly api: DeviceApi;
  readonly payment: Payment;
}

/** Emails the receipt once. Does not store the address, and clears the field afterwards. */
function MailForm({ api, payment, button }: ReceiptProps & { readonly button: string }): ReactNode {
  const [email, setEmail] = useState('');
  const [busy, setBusy] = useState(false);
  const [sent, setSent] = useState<{ readonly is: 'sent' | 'problem'; words: string } | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || email.trim() === '') return;
    setBusy(true);
    const answer = await api.mailReceipt(payment.id, email.trim());
    setBusy(false);
    if (answer.is === 'done') {
      setEmail('');
      setSent({ is: 'sent', words: t('till.receipt.email_sent') });
    } else {
      const words =
        answer.is === 'refused' ? refusalText(answer.error) : t('till.receipt.problem.offline');
      setSent({ is: 'problem', words });
    }
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <TextField
        data-name="Email"
        label={t('till.receipt.email')}
        type="email"
        autoComplete="off"
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        hint={t('till.receipt.email_hint')}
      />
      {sent === null ? null : (
        <Notice tone={sent.is === 'sent' ? 'good' : 'bad'} role="status">
          <p>{sent.words}</p>
        </Notice>
      )}
      <Button type="submit" wide busy={busy}>
        {button}
      </Button>
    </form>
  );
}

/** Prints on this computer's receipt printer if there is one, or else with the browser's dialog. */
function usePrint(path: string | null) {
  const { run, ...job } = usePrinterJob(t('till.receipt.problem.printer'));
  const print = () => {
    const { printer } = keptSettings();
    if (path === null) return;
    if (printer === null)
      return void window.open(fromRoot(`${path}#print`), '_blank', 'noreferrer');
    void run(async () => (await import('../receipt-printer.ts')).printReceipt(path, printer));
  };
  return { ...job, print };
}

function PrintButton({ path }: { readonly path: string }): ReactNode {
  const { busy, problem, print } = usePrint(path);
  return (
    <>
      <Button data-name="Print" kind="primary" wide busy={busy} onClick={print}>
        {t('till.print')}
      </Button>
      {problem}
    </>
  );
}

function ReceiptDialog({
  api,
  payment,
  onClose,
}: ReceiptProps & { readonly onClose: () => void }): ReactNode {
  const path = receiptPath(payment.receipt_url);
  return (
    <Dialog title={t('till.receipt.heading')} onClose={onClose}>
      {payment.receipt_number === null ? null : (
        <p>{t('till.receipt.number', { number: payment.receipt_number })}</p>
      )}
      {path === null ? (
        <p>{t('till.receipt.none')}</p>
      ) : (
        <>
          <Qr value={fromRoot(path).href} label={t('till.receipt.code')} />
          <p className="soft small">{t('till.receipt.code_text')}</p>
          <PrintButton path={path} />
          <MailForm api={api} payment={payment} button={t('till.receipt.email_button')} />
        </>
      )}
      <Button onClick={onClose}>{t('till.done')}</Button>
    </Dialog>
  );
}

export function ReceiptButton({ api, payment }: ReceiptProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button wide onClick={() => setIsOpen(true)}>
        {t('till.receipt.open_button')}
      </Button>
      {isOpen ? (
        <ReceiptDialog api={api} payment={payment} onClose={() => setIsOpen(false)} />
      ) : null}
    </>
  );
}

/**
 * Loads the payment that was just made, of which the till only has the id. `null` until it is
 * loaded.
 */
export function usePaid(api: DeviceApi, paymentId: string | null): Payment | null {
  const [payment, setPayment] = useState<Payment | null>(null);
  useEffect(() => {
    if (paymentId === null) return;
    let isCurrent = true;
    void api.payments(null).then((answer) => {
      const payments = answer.is === 'done' ? answer.value.data : [];
      if (isCurrent) setPayment(payments.find(({ id }) => id === paymentId) ?? null);
    });
    return () => {
      isCurrent = false;
    };
  }, [api, paymentId]);
  return payment;
}

interface ChoiceDialogProps extends ReceiptProps {
  readonly choice: 'email' | 'code';
  readonly path: string;
  readonly onClose: () => void;
}

function ChoiceDialog({ api, payment, choice, path, onClose }: ChoiceDialogProps): ReactNode {
  return (
    <Dialog title={t('till.receipt.heading')} onClose={onClose}>
      {choice === 'email' ? (
        <MailForm api={api} payment={payment} button={t('till.receipt.send_button')} />
      ) : (
        <>
          <Qr value={fromRoot(path).href} label={t('till.receipt.code')} />
          <p className="soft small">{t('till.receipt.scan_text')}</p>
        </>
      )}
      <Button data-name="Done" onClick={onClose}>
        {t('till.done')}
      </Button>
    </Dialog>
  );
}

/**
 * The choices of a receipt on the result itself. They are disabled until the payment is loaded, so
 * that buttons do not move.
 */
export function ReceiptChoices({
  api,
  payment,
}: {
  readonly api: DeviceApi;
  readonly payment: Payment | null;
}): ReactNode {
  const [open, setOpen] = useState<'email' | 'code' | null>(null);
  const [isDeclined, setIsDeclined] = useState(false);
  const path = payment === null ? null : receiptPath(payment.receipt_url);
  const { busy, problem, print } = usePrint(path);
  const disabled = path === null;
  if (isDeclined) return <p className="soft receipt-choices">{t('till.receipt.declined')}</p>;
  return (
    <div className="receipt-choices">
      <Button data-name="Print" disabled={disabled} busy={busy} onClick={print}>
        {t('till.print')}
      </Button>
      <Button data-name="Email" disabled={disabled} onClick={() => setOpen('email')}>
        {t('till.receipt.email_choice')}
      </Button>
      <Button data-name="Code" disabled={disabled} onClick={() => setOpen('code')}>
        {t('till.receipt.code_button')}
      </Button>
      <Button data-name="No receipt" onClick={() => setIsDeclined(true)}>
        {t('till.receipt.declined')}
      </Button>
      {problem}
      {open === null || payment === null || path === null ? null : (
        <ChoiceDialog {...{ api, payment, path }} choice={open} onClose={() => setOpen(null)} />
      )}
    </div>
  );
}
