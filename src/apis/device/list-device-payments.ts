import Type from 'typebox';
import { deviceRoute } from '#apis/device/device-route.ts';
import { asksForSale, findSale } from '#apis/device/find-sale.ts';
import { MAX_MINOR_UNITS } from '#apis/merchant/line-schema.ts';
import { OrderId, PaymentSchema } from '#apis/merchant/payment-schema.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { answerPage, readPage } from '#http/cursors.ts';
import { Amount, listOf, pageParameters, text } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { Payment } from '#payments/payment.ts';
import { selectPaymentPage } from '#payments/payment-queries.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import { renderPayment } from '#payments/render.ts';

/** The sale as a till sees it: without the wallet that paid. */
const FoundPaymentSchema = Type.Object(
  { ...PaymentSchema.properties, payer: Type.Optional(PaymentSchema.properties.payer) },
  {
    title: 'DevicePayment',
    description: 'A settled payment. A payment that was looked up has no `payer`.',
  },
);

const DevicePaymentsQuery = Type.Object({
  ...pageParameters,
  receipt: Type.Optional(
    text(300, 'A receipt’s number, or the address in its QR code; refund receipts work too.', 1),
  ),
  order_id: Type.Optional(OrderId),
  amount: Type.Optional({
    ...Amount,
    description:
      'The amount that was paid, with the tip, in atoms, or rounded to whole cents. Needed with ' +
      'order_id, and with the receipt number of another terminal; there it may be the amount on ' +
      'a refund’s receipt.',
  }),
  presentment_amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_MINOR_UNITS,
      description: 'The same in minor units of the currency of the sale. Instead of `amount`.',
    }),
  ),
});

function listWithoutPayer(payments: readonly Payment[], receipts: ReceiptPages) {
  const data = payments.map((payment) => {
    const { payer: _, ...shown } = renderPayment(payment, receipts);
    return shown;
  });
  return { object: 'list', data, has_more: false, next_cursor: null };
}

export function listDevicePaymentsRoute(ctx: ApiContext) {
  return deviceRoute<typeof DevicePaymentsQuery>({
    method: 'GET',
    path: '/payments',
    operationId: 'listDevicePayments',
    moves: 'nothing',
    summary:
      "List this terminal's payments, newest first, or find a sale of any till of the merchant",
    description:
      'With `receipt`, or with `order_id` and `amount`: the sale that a customer has the receipt ' +
      'of, without its payer, or an empty list. The number of another terminal’s receipt needs ' +
      '`amount` as well. The eleventh look-up that finds nothing within an hour is refused.',
    query: DevicePaymentsQuery,
    responses: { 200: { schema: listOf(FoundPaymentSchema), description: 'One page.' } },
    errors: ['cursor_invalid', 'parameter_missing', 'rate_limit_exceeded'],
    handle: async ({ caller: { tenant, terminalId }, query, now }) => {
      if (asksForSale(query)) {
        const payments = await findSale(ctx, { tenant, terminalId, query, now });
        return isRefusal(payments)
          ? payments
          : answerWith(200, listWithoutPayer(payments, ctx.pages));
      }
      const list = `payments of ${terminalId}`;
      const pagination = { list, tenant, query, cursorKey: ctx.keys.cursor };
      const page = readPage(pagination, query);
      if (isRefusal(page)) return page;
      const filters = { terminal_id: terminalId };
      const payments = await selectPaymentPage(ctx.db, { tenant, filters }, page);
      return answerPage(pagination, page, payments, (one) => renderPayment(one, ctx.pages));
    },
  });
}
