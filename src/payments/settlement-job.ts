import type { Tx } from '#db/database.ts';
import { type PaymentIntent, toStoredAttempt } from '#payments/intent-rows.ts';
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
    livemode: intent.livemode,
    settleWithinS,
    subjectId: intent.id,
    number: intent.settlement_number,
    payload: {
      merchantNumber: merchantNumber.toString(),
      payer: intent.attempt.payerAddress,
      amount: chargeOf(intent).toString(),
      orderId: intent.order_id,
      ...('signature' in credential ? { authorization: signatureOf(credential) } : {}),
      attempt: toStoredAttempt(intent.attempt),
    },
  };
}

export async function requestSettlement(
  tx: Tx,
  intent: PaymentIntent & { readonly status: 'processing' },
  terms: Terms,
  now: Date,
): Promise<void> {
  await requestPayments(tx, [settlementOf(intent, terms)], now);
}
