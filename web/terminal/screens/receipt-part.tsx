import { type ReactNode, useEffect, useState } from 'react';
import type { DeviceApi, Payment } from '../../data/device.ts';
import { receiptPath } from '../../data/receipt-path.ts';
import { fromRoot } from '../../data/root.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Qr } from './lazy.ts';

/** The customer's receipt: to scan with a phone, or on paper. */
function ReceiptDialog({
  payment,
  onClose,
}: {
  readonly payment: Payment;
  readonly onClose: () => void;
}): ReactNode {
  const path = receiptPath(payment.receipt_url);
  return (
    <Dialog title="Receipt" onClose={onClose}>
      {payment.receipt_number === null ? null : <p>Number {payment.receipt_number}</p>}
      {path === null ? (
        <p>There is no receipt of this payment.</p>
      ) : (
        <>
          <Qr value={fromRoot(path).href} label="The receipt, for the customer's phone" />
          <p className="soft small">
            The customer scans it. On paper it fits rolls of 80 and 58 mm.
          </p>
          <a
            className={buttonClass({ kind: 'primary', wide: true })}
            href={`${path}#print`}
            target="_blank"
            rel="noreferrer"
          >
            Print
          </a>
        </>
      )}
      <Button onClick={onClose}>Close</Button>
    </Dialog>
  );
}

export function ReceiptButton({ payment }: { readonly payment: Payment }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button wide onClick={() => setIsOpen(true)}>
        Receipt
      </Button>
      {isOpen ? <ReceiptDialog payment={payment} onClose={() => setIsOpen(false)} /> : null}
    </>
  );
}

/** The same right after a payment, of which the till knows the id only. */
export function ReceiptOfPaid({
  api,
  paymentId,
}: {
  readonly api: DeviceApi;
  readonly paymentId: string;
}): ReactNode {
  const [payment, setPayment] = useState<Payment | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void api.payments(null).then((answer) => {
      const found = answer.is === 'done' ? answer.value.data : [];
      if (isCurrent) setPayment(found.find(({ id }) => id === paymentId) ?? null);
    });
    return () => {
      isCurrent = false;
    };
  }, [api, paymentId]);
  if (payment !== null) return <ReceiptButton payment={payment} />;
  // Its place is kept: nothing moves under a finger.
  return (
    <Button wide disabled>
      Receipt
    </Button>
  );
}
