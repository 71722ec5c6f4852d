// A complete sale with the published package, in any runtime with fetch and WebCrypto.

/** Creates, taps, waits, pays, lists, refunds, and verifies a webhook. @returns what it saw. */
export async function journey(
  { Tapline, usdc, InvalidRequestError },
  { sign, verify },
  { baseUrl, apiKey, terminal },
) {
  const tapline = new Tapline(apiKey, { baseUrl });
  const created = await tapline.paymentIntents.create({ amount: usdc('2.50'), terminal });
  const waiting = tapline.paymentIntents.waitFor(created.id, { timeout: 30_000 });
  await tapline.testHelpers.tap(terminal, { payment_intent: created.id });
  const paid = await waiting;
  const payments = [];
  for await (const payment of tapline.payments.list({ payment_intent: created.id })) {
    payments.push(payment.id);
  }
  const refund = await tapline.refunds.create({ payment: paid.payment });
  const refunded = await tapline.refunds.waitFor(refund.id, { timeout: 30_000 });
  const refusal = await tapline.refunds.create({ payment: paid.payment }).catch((error) => error);
  const event = (await tapline.events.list({ type: 'payment.succeeded', limit: 1 }).page).data[0];
  const body = JSON.stringify(event);
  const headers = new Headers({ 'Service-Signature': await sign(body, 'whsec_x') });
  return {
    intent: paid.status,
    onePayment: payments.length === 1 && payments[0] === paid.payment,
    refund: refunded.status,
    refusal: refusal instanceof InvalidRequestError ? refusal.code : String(refusal),
    event: (await verify(body, headers, 'whsec_x')).type,
  };
}
