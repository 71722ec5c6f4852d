import Type from 'typebox';
import { deviceRoute } from '#apis/device/device-route.ts';
import { answerWith, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { selectFiscal, updateSigned } from '#fiscal/fiscal-queries.ts';
import { selectTillReceipts, selectTillSubject, signRequest } from '#fiscal/signature-request.ts';
import { nullable, objectType, text } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { MAX_BODY_BYTES } from '#webhooks/http-exchange.ts';

/**
 * Maximum number of receipts per response. A till signs them one after the other, and then requests
 * more.
 */
const MOST_AT_ONCE = 20;

const receiptFields = {
  object: objectType('fiscal_receipt'),
  receipt_number: Type.String({ description: 'The number of the receipt.' }),
};

const ToSignSchema = Type.Object(
  {
    ...receiptFields,
    url: Type.String({ format: 'uri', description: 'The signer’s address.' }),
    request: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'The body to send, unchanged. Its `id` is the same at every retry.',
    }),
  },
  { title: 'FiscalReceipt', description: 'A receipt that waits for a signature.' },
);

const ToSignList = Type.Object(
  {
    object: objectType('list'),
    data: Type.Array(ToSignSchema, { description: `The oldest first, at most ${MOST_AT_ONCE}.` }),
  },
  { title: 'FiscalReceiptList', description: 'The receipts that this till sends to the signer.' },
);

const Signature = text(MAX_BODY_BYTES, 'The signature, as the signer gave it.', 1);
const SignerText = nullable(text(MAX_BODY_BYTES, 'What the receipt should say; `null`: nothing.'));
const SignedBody = Type.Object({
  signature: Signature,
  text: Type.Optional(SignerText),
});
const SignedSchema = Type.Object(
  { ...receiptFields, signature: Signature, text: SignerText },
  { title: 'SignedReceipt', description: 'The receipt with the first signature it got.' },
);

const EXAMPLE = {
  object: 'fiscal_receipt',
  receipt_number: 'K7XQM-1042',
  url: 'https://signer.shop.example/receipts',
  request: { id: 'fis_5f0c9a1be77d41c2a0d3e9f84b6c7d10', receipt_number: 'K7XQM-1042' },
};
const SIGNED = { signature: 'q3J0c2lnbmF0dXJl', text: 'Signed as number 12' };

export function listFiscalRoute({ db }: ApiContext) {
  return deviceRoute({
    method: 'GET',
    path: '/fiscal_receipts',
    operationId: 'listDeviceFiscalReceipts',
    moves: 'nothing',
    summary: 'The receipts that this till sends to the fiscal signer',
    description:
      'Empty unless the account’s `fiscal_signer` is called by terminals. They are receipts of ' +
      'this till’s payments, and of their refunds. `POST` each `request` to its `url`, and hand ' +
      'in the answer. A receipt is listed until it is signed.',
    responses: {
      200: {
        schema: ToSignList,
        description: 'The receipts.',
        example: { object: 'list', data: [EXAMPLE] },
      },
    },
    handle: async ({ caller }) => {
      const rows = await selectTillReceipts(db, caller.terminalId, MOST_AT_ONCE);
      const data = await Promise.all(
        rows.map(async (row) => ({
          object: 'fiscal_receipt',
          receipt_number: row.receipt_number,
          url: row.url,
          request: await signRequest(db, row),
        })),
      );
      return answerWith(200, { object: 'list', data });
    },
  });
}

/** The same limit applies to answers to tills and to the service. */
function checkSize(signed: { readonly signature: string; readonly text: string | null }) {
  if (Buffer.byteLength(JSON.stringify(signed)) <= MAX_BODY_BYTES) return null;
  return refuse('parameter_invalid', "The signer's response is longer than 16 KiB.", 'signature');
}

export function signFiscalRoute({ db }: ApiContext) {
  return deviceRoute<undefined, typeof SignedBody>({
    method: 'POST',
    path: '/fiscal_receipts/{number}',
    operationId: 'signDeviceFiscalReceipt',
    moves: 'data',
    summary: 'Hand in the fiscal signer’s answer',
    description:
      'The first signature is kept: a later one changes nothing, and the response is the first ' +
      'one. A receipt of another till is 404.',
    // Only the first signature is kept, so a repeated request needs no stored response.
    idempotency: 'ignored',
    params: { number: 'text' },
    body: SignedBody,
    bodyExample: SIGNED,
    multiline: ['text'],
    responses: {
      200: {
        schema: SignedSchema,
        description: 'The signed receipt.',
        example: { object: 'fiscal_receipt', receipt_number: 'K7XQM-1042', ...SIGNED },
      },
    },
    errors: ['resource_missing'],
    handle: async ({ caller, params, body, now }) => {
      const signed = { signature: body.signature, text: body.text ?? null };
      const tooLong: Refusal | null = checkSize(signed);
      if (tooLong !== null) return tooLong;
      const number = params.number ?? '';
      const subjectId = await selectTillSubject(db, caller.terminalId, number);
      if (subjectId === null) return resourceMissing('fiscal_receipt');
      await updateSigned(db, subjectId, { ...signed, now });
      const kept = (await selectFiscal(db, [subjectId])).get(subjectId);
      return answerWith(200, { object: 'fiscal_receipt', receipt_number: number, ...kept });
    },
  });
}
