import { networkOf } from '#core/mode.ts';
import type { Wakeups } from '#db/wakeups.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';

/** Wakes everything that waits for a change of this intent. Call it after the commit. */
export function announce(wakeups: Wakeups, intent: PaymentIntent): void {
  if (intent.status === 'processing') {
    wakeups.send('chain-requests', networkOf(intent.livemode));
  }
  wakeups.send('intent', intent.id);
  if (intent.declined_payer_id !== null) wakeups.send('payer', intent.declined_payer_id);
  if (intent.status === 'processing' && intent.attempt.credential.type === 'nfc_id') {
    wakeups.send('push');
  }
  if (intent.status === 'canceled' && intent.attempt !== null) {
    wakeups.send('payer', intent.attempt.payerId);
  }
  if (intent.status !== 'requires_action') return;
  wakeups.send('payer', intent.attempt.payerId);
  wakeups.send('push');
}
