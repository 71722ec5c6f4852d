import { present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import { selectPayment } from '#payments/payment-queries.ts';
import { REFUND_FAILURES } from '#refunds/refund.ts';
import type { Ended, Written } from '#refunds/refund-end.ts';
import { book, release, updateEnded } from '#refunds/refund-queries.ts';

/** Books or releases the reserved amount, ends the refund. */
export async function writeEnd(tx: Tx, refund: Ended): Promise<Written> {
  if (refund.status === 'succeeded') await book(tx, refund.paymentId, refund.amount);
  else await release(tx, refund.paymentId, refund.amount);
  const message = refund.status === 'failed' ? REFUND_FAILURES[refund.failure] : null;
  await updateEnded(tx, refund, message);
  const payment = await selectPayment(tx, refund.tenant, refund.paymentId);
  return { refund, payment: present(payment, 'payment') };
}
