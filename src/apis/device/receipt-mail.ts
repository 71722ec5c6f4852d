import Type from 'typebox';
import { selectShopAt } from '#accounts/locations.ts';
import { terminalInactive } from '#accounts/recheck-credentials.ts';
import { deviceRoute } from '#apis/device/device-route.ts';
import { answerWith, isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import { readEmail } from '#core/name-rules.ts';
import type { Tx } from '#db/database.ts';
import { idOf, objectType, oneOf, text } from '#http/schema.ts';
import { LANGUAGES, type Language } from '#i18n/languages.ts';
import { writerFor } from '#i18n/text.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectPayment } from '#payments/payment-queries.ts';
import { countReceiptMail, RECEIPT_MAILS } from '#payments/receipt-queries.ts';
import { receiptUrl } from '#payments/receipt-url.ts';
import { type Allowance, takeAttempt } from '#people/attempt-limits.ts';
import { queueMail } from '#people/mail-outbox.ts';
import type { DeviceCaller } from '#terminals/authenticate-terminal.ts';

/** Mails per terminal and hour: enough for a busy till, too few for spam from a stolen one. */
const PER_TERMINAL: Allowance = { attempts: 30, windowMs: HOUR_MS };

/**
 * Returns the mail. Its text is fixed and does not contain the shop's name, so that a till cannot
 * be used to send messages.
 */
function mailOf(language: Language, url: string) {
  const { text } = writerFor(language);
  return {
    subject: text('mail.receipt.subject'),
    text: `${text('mail.receipt.text')}\n\n${url}\n\n${text('mail.receipt.why')}\n`,
    buttons: [{ url, name: text('mail.receipt.button') }],
    language,
  };
}

const ReceiptMailBody = Type.Object({
  email: text(254, 'Where the receipt is sent. Deleted once the mail is sent or given up.', 3),
  language: Type.Optional(
    oneOf(LANGUAGES, 'The language of the mail. Default: the shop’s, or else English.'),
  ),
});

const ReceiptMailSchema = Type.Object(
  {
    object: objectType('receipt_mail'),
    payment: idOf('pay_', 'payment'),
    remaining: Type.Integer({
      minimum: 0,
      maximum: RECEIPT_MAILS,
      description: 'How many more times the receipt of this payment can be mailed.',
    }),
  },
  {
    title: 'ReceiptMail',
    description: 'A receipt that is queued for mailing, without its address.',
  },
);

const EXAMPLE = { object: 'receipt_mail', payment: 'pay_000004OmWoCGFZbaeklcjR', remaining: 2 };

interface ReceiptRequest {
  readonly caller: DeviceCaller;
  readonly paymentId: string;
  readonly to: string;
  readonly language: Language | undefined;
  readonly now: Date;
}

/**
 * Counts the mail and queues it, in one transaction. @returns how many more mails this receipt
 * allows.
 */
async function mailReceipt(
  { pages: receipts, keys: { people: mailKey } }: ApiContext,
  tx: Tx,
  { caller, paymentId, to, language: wished, now }: ReceiptRequest,
): Promise<number | Refusal> {
  const payment = await selectPayment(tx, caller.tenant, paymentId);
  if (payment === null) return resourceMissing('payment');
  const url = receiptUrl(payment, receipts);
  const sent = await countReceiptMail(tx, paymentId);
  if (sent === null) {
    // Not 429, because that would imply that a retry can succeed: this limit never resets.
    return refuse(
      'unexpected_state',
      'This receipt was already emailed three times and cannot be emailed again.',
    );
  }
  const at = { accountId: caller.tenant.accountId, terminalId: caller.terminalId };
  const language = wished ?? (await selectShopAt(tx, at)).language ?? 'en';
  await queueMail(tx, mailKey, { to, ...mailOf(language, url), now });
  return RECEIPT_MAILS - sent;
}

export function receiptMailRoute(ctx: ApiContext) {
  return deviceRoute<undefined, typeof ReceiptMailBody>({
    method: 'POST',
    path: '/payments/{id}/receipt_mail',
    operationId: 'mailDeviceReceipt',
    moves: 'data',
    summary: 'Mail the receipt of a payment to its customer',
    description:
      'The mail holds the address of the receipt and a fixed text. At most three mails per ' +
      'payment: a fourth is 409 `unexpected_state`. At most 30 an hour per terminal: then 429. ' +
      'The address is encrypted until the mail is sent, and then deleted. A repeated request ' +
      'sends another mail.',
    // The request is not stored, because the stored fingerprint would contain a hash of the
    // address.
    idempotency: 'ignored',
    params: { id: 'payment' },
    body: ReceiptMailBody,
    bodyExample: { email: 'customer@example.com' },
    responses: {
      202: { schema: ReceiptMailSchema, description: 'The mail is queued.', example: EXAMPLE },
    },
    errors: ['resource_missing', 'terminal_inactive', 'unexpected_state', 'rate_limit_exceeded'],
    handle: async ({ caller, params, body, now }) => {
      if (!caller.active) return terminalInactive();
      const to = readEmail(body.email);
      if (isRefusal(to)) return to;
      const bucket = `receipt-mail ${caller.terminalId}`;
      const tooMany = await takeAttempt(ctx.db, bucket, { allowance: PER_TERMINAL, now });
      if (tooMany !== null) return tooMany;
      const paymentId = params.id ?? '';
      const remaining = await ctx.db.transaction((tx) =>
        mailReceipt(ctx, tx, { caller, paymentId, to, language: body.language, now }),
      );
      if (isRefusal(remaining)) return remaining;
      return answerWith(202, { object: 'receipt_mail', payment: paymentId, remaining });
    },
  });
}
