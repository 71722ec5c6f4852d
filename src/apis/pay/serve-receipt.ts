import type { FastifyReply, FastifyRequest } from 'fastify';
import { selectLookOfReceipt } from '#apis/pay/brand-queries.ts';
import { fillPage, fromPage } from '#apis/pay/fill-built-page.ts';
import { slipOf } from '#apis/pay/receipt-contents.ts';
import { readReceipt } from '#apis/pay/receipt-data-route.ts';
import { noReceiptPage, receiptPage } from '#apis/pay/receipt-html.ts';
import {
  noReceiptText,
  receiptText,
  TEXT_WIDTHS,
  type TextWidth,
} from '#apis/pay/receipt-plain-text.ts';
import type { Slip } from '#apis/pay/receipt-slip.ts';
import { readRefundSlip } from '#apis/pay/refund-receipt.ts';
import { answerRefusal, type Refusal, refuse } from '#core/answer.ts';
import { withBrand } from '#core/brand-styles.ts';
import { statusOf } from '#core/error-codes.ts';
import { newId } from '#core/ids.ts';
import { plainPage, sendPage } from '#http/plain-page.ts';
import { addressKey, memoryRateLimiter } from '#http/rate-limit.ts';
import type { PageFor } from '#i18n/languages.ts';
import { type Writer, writerFor } from '#i18n/text.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { findReceipt, findRefundReceipt } from '#payments/receipt-url.ts';

/**
 * Rate limit per IP address. It is generous, because a shop's customers share one address on its
 * Wi-Fi.
 */
const LIMIT = { requests: 240, seconds: 60 };
/** Rate limit for PDFs and bitmaps, each of which takes about 100 ms of one core. */
const PDF_LIMIT = { requests: 30, seconds: 60 };

function tooManyPage({ language, html }: Writer): string {
  const text = `<p>${html('receipt.too_many.text')}</p>`;
  return plainPage(html('receipt.too_many.heading'), text, language);
}

type Form = 'html' | 'pdf' | 'txt' | 'pbm' | 'json';

interface Wanted {
  readonly token: string;
  readonly form: Form;
}

function wantedOf(path: string): Wanted {
  const [, token = path, form] = /^(.*)\.(pdf|txt|pbm|json)$/.exec(path) ?? [];
  return { token, form: (form as Form | undefined) ?? 'html' };
}

/**
 * Returns the requested width in columns, 48 by default; `null` if printers do not have that width.
 */
function widthOf(query: unknown): TextWidth | null {
  const { width = '48' } = query as { readonly width?: unknown };
  return TEXT_WIDTHS.find((known) => String(known) === width) ?? null;
}

function sendRefusal(reply: FastifyReply, refusal: Refusal, docsUrl: string): FastifyReply {
  const request = { requestId: newId('request', new Date()), docsUrl };
  const { status, body } = answerRefusal(refusal, request);
  return reply.code(status).type('application/json; charset=utf-8').send(body);
}

const WRONG_WIDTH = refuse('parameter_invalid', 'width must be 32 or 48.', 'width');
const NO_PDF = refuse(
  'resource_missing',
  'The PDF fonts lack some characters in this receipt. Use the page or .txt instead.',
  'token',
);
const NO_DRAWING = refuse(
  'resource_missing',
  'The fonts lack some characters in this receipt. Use the page or .txt instead.',
  'token',
);
const MISSING = refuse('resource_missing', 'Receipt not found.', 'token');

interface MissingPage {
  readonly html: string;
  readonly writer: Writer;
  readonly webUrl: string;
  readonly width: TextWidth;
}

function sendMissing(
  reply: FastifyReply,
  form: Form,
  { html, writer, webUrl, width }: MissingPage,
): FastifyReply {
  if (form === 'json' || form === 'pdf' || form === 'pbm') {
    return sendRefusal(reply, MISSING, webUrl);
  }
  reply.code(statusOf(MISSING.code));
  if (form === 'txt')
    return reply.type('text/plain; charset=utf-8').send(noReceiptText(width, writer));
  return reply.type('text/html; charset=utf-8').send(fillPage(html, noReceiptPage(writer)));
}

interface Receipt {
  readonly slip: Slip;
  /** URL of a node that browsers may call; `null` if there is none. */
  readonly node: string | null;
}

async function find(ctx: ApiContext, token: string, writer: Writer): Promise<Receipt | null> {
  const receipt = await readReceipt(ctx, token);
  if (receipt !== null) return { slip: slipOf(receipt, writer), node: receipt.proof.rpc_url };
  const refund = await readRefundSlip(ctx, token, writer);
  return refund && { slip: refund, node: null };
}

/**
 * Returns the style and language that the merchant has chosen; `null` if there is no such receipt.
 */
async function lookOf({ db, pages: receipts, keys: { id: idKey } }: ApiContext, token: string) {
  const payment = findReceipt(idKey, token);
  if (payment !== null) return selectLookOfReceipt(db, payment);
  const refund = findRefundReceipt(receipts.idKey, token);
  if (refund === null) return null;
  return selectLookOfReceipt(db, {
    livemode: refund.livemode,
    refundId: refund.id,
  });
}

interface Shown {
  readonly slip: Slip;
  readonly url: string;
  readonly webUrl: string;
}

/** The fonts and the library are loaded with the first PDF, not when the service starts. */
async function sendPdf(reply: FastifyReply, { slip, url, webUrl }: Shown): Promise<FastifyReply> {
  const { hasPdf, receiptPdf } = await import('#apis/pay/receipt-pdf.ts');
  if (!hasPdf(slip)) return sendRefusal(reply, NO_PDF, webUrl);
  return reply.type('application/pdf').send(await receiptPdf(slip, url));
}

/** Sends the lines of the text as a bitmap, for printers without the fonts for them. */
async function sendDrawing(reply: FastifyReply, text: string, { width, webUrl }: Drawing) {
  const { canDraw, receiptDrawing } = await import('#apis/pay/receipt-drawing.ts');
  if (!canDraw(text)) return sendRefusal(reply, NO_DRAWING, webUrl);
  return reply.type('image/x-portable-bitmap').send(receiptDrawing(text, width));
}

interface Drawing {
  readonly width: TextWidth;
  readonly webUrl: string;
}

/**
 * Serves receipts as pages, as `.pdf`, as `.txt` and `.pbm` for printers and as `.json` for
 * programs. `html` is the built page with its styles and script.
 */
export function createReceiptGate(ctx: ApiContext) {
  const limiter = memoryRateLimiter(LIMIT);
  const pdfLimiter = memoryRateLimiter(PDF_LIMIT);
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    pageFor: PageFor,
  ): Promise<FastifyReply> => {
    const { '*': path = '' } = request.params as { readonly '*'?: string };
    const { token, form } = wantedOf(path);
    const isDrawn = form === 'pdf' || form === 'pbm';
    const rate = (isDrawn ? pdfLimiter : limiter).take(addressKey(request.ip));
    if (!rate.allowed) {
      const page = tooManyPage(writerFor(pageFor(null).language));
      return sendPage(reply.header('Retry-After', rate.retryAfterSeconds), 429, page);
    }
    // Not cached: a refund changes the receipt, and no copy may stay on a shared device.
    reply.header('Cache-Control', 'no-store').header('X-Robots-Tag', 'noindex, nofollow');
    const look = await lookOf(ctx, token);
    const { html, language } = pageFor(look?.language ?? null);
    const writer = writerFor(language);
    const receipt = await find(ctx, token, writer);
    const webUrl = ctx.pages.webUrl();
    const width = widthOf(request.query);
    if (receipt === null) {
      return sendMissing(reply, form, { html, writer, webUrl, width: width ?? 48 });
    }
    const { slip } = receipt;
    const url = `${webUrl}/receipts/${token}`;
    switch (form) {
      case 'pdf':
        return sendPdf(reply, { slip, url, webUrl });
      case 'json':
        return reply.type('application/json; charset=utf-8').send(JSON.stringify(slip.document));
      case 'txt':
      case 'pbm': {
        if (width === null) return sendRefusal(reply, WRONG_WIDTH, webUrl);
        const text = receiptText(slip, url, width);
        if (form === 'pbm') return sendDrawing(reply, text, { width, webUrl });
        return reply.type('text/plain; charset=utf-8').send(text);
      }
      case 'html': {
        const { hasPdf } = await import('#apis/pay/receipt-pdf.ts');
        const pdf = hasPdf(slip) ? `${token}.pdf?lang=${language}` : null;
        const page = receiptPage(slip, { url, node: fromPage(receipt.node, webUrl), pdf });
        const branded = withBrand(html, look?.style ?? null);
        return reply.type('text/html; charset=utf-8').send(fillPage(branded, page));
      }
    }
  };
}
