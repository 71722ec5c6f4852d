import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import type { DeviceApi, Payment } from '../../data/device-api.ts';
import { receiptPath } from '../../data/receipt-path.ts';
import { refusalText } from '../../data/refusal-text.ts';
import { fromRoot } from '../../data/root-path.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
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
function MailForm({ api, payment }: ReceiptProps): ReactNode {
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
        {t('till.receipt.email_button')}
      </Button>
    </form>
  );
}

/**
 * Prints on this computer's receipt printer if there is one, otherwise with the browser's dialog.
 */
function PrintButton({ path }: { readonly path: string }): ReactNode {
  const { printer } = keptSettings();
  const job = usePrinterJob(t('till.receipt.problem.printer'));
  if (printer === null) {
    return (
      <a
        className={buttonClass({ kind: 'primary', wide: true })}
        href={`${path}#print`}
        target="_blank"
        rel="noreferrer"
      >
        {t('till.print')}
      </a>
    );
  }
  const print = async () => {
    await job.run(async () => (await import('../receipt-printer.ts')).printReceipt(path, printer));
  };
  return (
    <>
      <Button kind="primary" wide busy={job.busy} onClick={print}>
        {t('till.print')}
      </Button>
      {job.problem}
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
          <MailForm api={api} payment={payment} />
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

/** Reserves the receipt's space until the payment is loaded, so that buttons do not move. */
export function ReceiptOfPaid({
  api,
  payment,
}: {
  readonly api: DeviceApi;
  readonly payment: Payment | null;
}): ReactNode {
  if (payment !== null) return <ReceiptButton api={api} payment={payment} />;
  return (
    <Button wide disabled>
      {t('till.receipt.open_button')}
    </Button>
  );
}
