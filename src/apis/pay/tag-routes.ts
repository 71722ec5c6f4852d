import { getAddress } from 'viem';
import { awaitTagPayment, findTag, findTagPayment, referenceOf } from '#apis/pay/find-tag.ts';
import { AUTHORIZATION_ERRORS } from '#apis/pay/pay-schema.ts';
import { answerPayer, renderLink } from '#apis/pay/render-link.ts';
import {
  TagAuthorizationBody,
  TagOutcomeSchema,
  TagQuery,
  TagSchema,
  TagVisitBody,
  TagVisitSchema,
} from '#apis/pay/tag-schema.ts';
import { answerWith, isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import { defineRoute } from '#http/route.ts';
import type { Visitor } from '#http/visitor.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { authorizeLink } from '#payments/authorize-link.ts';
import type { PayLink } from '#payments/pay-link.ts';
import { openLink } from '#payments/pay-terms.ts';
import type { TaggedTerminal } from '#terminals/provisioning-queries.ts';
import { isVisit, openVisit } from '#terminals/tag-chip.ts';

const TAG = 'Tags';

export function tagMissing(): Refusal {
  return refuse('resource_missing', 'There is no such tag, or its address was replaced.', 'token');
}

/**
 * Renders the payment at a tag, without the fields that identify the order. Only a customer whose
 * tap of a chip tag proves presence at the counter gets those.
 */
async function renderPayment(
  ctx: ApiContext,
  link: PayLink,
  query: { readonly from?: string; readonly tip_amount?: number },
  isHere: boolean,
) {
  const opened = await openLink(ctx, link, {
    address: query.from === undefined ? null : getAddress(query.from),
    tipAmount: query.tip_amount,
  });
  if (isRefusal(opened)) return opened;
  const {
    object: _,
    order_id: _order,
    number: _number,
    ...shown
  } = renderLink(opened.link, opened.terms, query.from);
  const { order_id, description } = link.intent;
  const sold = isHere ? { order_id, description } : { order_id: null, description: null };
  return { object: 'tag_payment', reference: referenceOf(ctx, link), ...shown, ...sold };
}

function renderTag(terminal: TaggedTerminal, payment: unknown) {
  return {
    object: 'tag',
    merchant: { name: terminal.merchant_name },
    network: networkOf(terminal.livemode),
    payment,
  };
}

function readRoute(ctx: ApiContext) {
  return defineRoute<Visitor, typeof TagQuery>({
    method: 'GET',
    path: '/tags/{token}',
    operationId: 'retrieveTag',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the payment that the terminal of a tag requests',
    description:
      'The token is the last part of a terminal’s `tag_url`. With `wait` this is a long poll: ' +
      'the response is sent as soon as the terminal requests a payment. `payment` selects a ' +
      'payment that was shown before, whatever its result.',
    scope: null,
    idempotency: 'ignored',
    params: { token: 'text' },
    query: TagQuery,
    responses: { 200: { schema: TagSchema, description: 'The tag.' } },
    errors: ['resource_missing', 'service_unavailable'],
    handle: async ({ params, query, now, whenGone }) => {
      const terminal = await findTag(ctx, params.token ?? '');
      if (terminal === null) return tagMissing();
      const address = query.from === undefined ? null : getAddress(query.from);
      const link =
        query.payment === undefined
          ? await awaitTagPayment(ctx, terminal, {
              address,
              waitMs: (query.wait ?? 0) * 1000,
              gone: whenGone(),
            })
          : await findTagPayment(ctx, terminal, { reference: query.payment, address });
      if (isRefusal(link)) return link;
      if (link === null) return answerWith(200, renderTag(terminal, null));
      const { visit } = query;
      const isHere =
        visit !== undefined &&
        terminal.chip !== null &&
        isVisit(ctx.keys.id, terminal.chip, visit, now);
      const payment = await renderPayment(ctx, link, query, isHere);
      return isRefusal(payment) ? payment : answerWith(200, renderTag(terminal, payment));
    },
  });
}

function authorizationRoute(ctx: ApiContext) {
  return defineRoute<Visitor, undefined, typeof TagAuthorizationBody>({
    method: 'POST',
    path: '/tags/{token}/authorization',
    operationId: 'authorizeTagPayment',
    moves: 'money',
    tag: TAG,
    summary: 'Pay the payment that the terminal of a tag requests, with a wallet’s signature',
    description:
      'As with a pay link. A wallet that cannot pay is declined and leaves no trace: the ' +
      'payment stays open for others. Only the response to a signature has the receipt.',
    scope: null,
    idempotency: 'ignored',
    params: { token: 'text' },
    body: TagAuthorizationBody,
    responses: { 200: { schema: TagOutcomeSchema, description: 'The result of the payment.' } },
    errors: AUTHORIZATION_ERRORS,
    handle: async ({ caller, params, body, requestId, now, whenGone }) => {
      const terminal = await findTag(ctx, params.token ?? '');
      if (terminal === null) return tagMissing();
      const { payment: reference, from, signature, tip_amount: tipAmount } = body;
      const address = getAddress(from);
      const link = await findTagPayment(ctx, terminal, { reference, address });
      if (isRefusal(link)) return link;
      const { address: ip } = caller;
      const by = { from, signature, tipAmount, address: ip };
      const signed = { ...by, requestId, now, gone: whenGone() };
      const answer = await authorizeLink(ctx, link, signed);
      if (isRefusal(answer)) return answer;
      // The response has only these fields, because others would reveal the order.
      return answerPayer(
        link,
        { answer, receipts: ctx.pages },
        ({ status, cancellation_reason, last_payment_error }) => ({
          object: 'tag_outcome',
          reference: referenceOf(ctx, link),
          status,
          cancellation_reason,
          last_payment_error,
        }),
      );
    },
  });
}

function visitRoute(ctx: ApiContext) {
  return defineRoute<Visitor, undefined, typeof TagVisitBody>({
    method: 'POST',
    path: '/tags/{token}/visits',
    operationId: 'openTagVisit',
    moves: 'data',
    tag: TAG,
    summary: 'Prove that the customer is at a tag with a chip',
    description:
      'The chip (NTAG 424 DNA) adds a message to the address at each tap. It is valid once, and ' +
      'for the next ten minutes the tag also shows the sale.',
    scope: null,
    idempotency: 'ignored',
    params: { token: 'text' },
    body: TagVisitBody,
    bodyExample: { picc_data: 'EF963FF7828658A599F3041510671E88', cmac: '94EED9EE65337086' },
    responses: {
      200: { schema: TagVisitSchema, description: 'True if the message was accepted.' },
    },
    errors: ['resource_missing'],
    handle: async ({ params, body, now }) => {
      const terminal = await findTag(ctx, params.token ?? '');
      if (terminal === null) return tagMissing();
      const message = {
        piccData: Buffer.from(body.picc_data, 'hex'),
        mac: Buffer.from(body.cmac, 'hex'),
      };
      const opened = await openVisit(ctx.db, ctx.keys.id, {
        terminalId: terminal.id,
        message,
        now,
      });
      return answerWith(200, {
        object: 'tag_visit',
        visit: opened?.visit ?? null,
        expires_at: opened?.expiresAt.toISOString() ?? null,
      });
    },
  });
}

/**
 * Returns the routes with which customers pay at a counter, through the URL on its tag (behavior.md
 * 19).
 */
export function tagRoutes(ctx: ApiContext) {
  return [readRoute(ctx), visitRoute(ctx), authorizationRoute(ctx)];
}
