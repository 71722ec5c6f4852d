import type { Tx } from '#db/database.ts';
import { toStoredAttempt } from '#payments/intent-rows.ts';
import type { PaymentIntent } from '#payments/payment-intent.ts';
import { chargeOf } from '#payments/tip.ts';
import type { PaymentAuthorization, PaymentRequest } from '#settlement/requests.ts';
import { requestPayments } from '#settlement/requests.ts';

function signatureOf(signed: PaymentAuthorization): PaymentAuthorization {
  const { salt, validBefore, signature, bindsOrder } = signed;
  return { salt, validBefore, signature, ...(bindsOrder === false ? { bindsOrder } : {}) };
}

/** Whom a payment goes to, and until when it may settle. */
interface Terms {
  readonly merchantNumber: bigint;
  readonly settleWithinS: number;
}

/** What the relayer needs to know of a `processing` intent. */
export function settlementOf(
  intent: PaymentIntent & { readonly status: 'processing' },
  terms: Terms,
): PaymentRequest {
  const { merchantNumber, settleWithinS } = terms;
  const { credential } = intent.attempt;
  return {
    livemode: intent.tenant.livemode,
    settleWithinS,
    subjectId: intent.id,
    number: intent.settlementNumber,
    payload: {
      merchantNumber: merchantNumber.toString(),
      payer: intent.attempt.payerAddress,
      amount: chargeOf(intent).toString(),
      orderId: intent.orderId,
      ...('signature' in credential ? { authorization: signatureOf(credential) } : {}),
      attempt: toStoredAttempt(intent.attempt),
    },
  };
}

/** Asks the relayer to settle the intent. */
export async function requestSettlement(
  tx: Tx,
  intent: PaymentIntent & { readonly status: 'processing' },
  terms: Terms,
  now: Date,
): Promise<void> {
  await requestPayments(tx, [settlementOf(intent, terms)], now);
}
