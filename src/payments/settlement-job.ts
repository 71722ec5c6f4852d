import type { Tx } from '#db/database.ts';
import { toStoredAttempt } from '#payments/intent-rows.ts';
import type { PaymentIntent } from '#payments/payment-intent.ts';
import { chargeOf } from '#payments/tip-limits.ts';
import type { PaymentAuthorization, PaymentRequest } from '#settlement/chain-requests.ts';
import { requestPayments } from '#settlement/chain-requests.ts';

function signatureOf(signed: PaymentAuthorization): PaymentAuthorization {
  const { salt, validAfter, validBefore, signature, bindsOrder } = signed;
  return {
    ...{ salt, validBefore, signature },
    ...(validAfter === undefined ? {} : { validAfter }),
    ...(bindsOrder === false ? { bindsOrder } : {}),
  };
}

/** The merchant number of a payment, and its time limit for settling. */
interface Terms {
  readonly merchantNumber: bigint;
  readonly settleWithinS: number;
}

/** Returns the data of a `processing` intent that the relayer needs to settle it. */
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

/** Creates the settlement job of an intent for the relayer. */
export async function requestSettlement(
  tx: Tx,
  intent: PaymentIntent & { readonly status: 'processing' },
  terms: Terms,
  now: Date,
): Promise<void> {
  await requestPayments(tx, [settlementOf(intent, terms)], now);
}
