import Type from 'typebox';
import { type PayerCaller, payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { CardSchema } from '#apis/payer/card-schema.ts';
import { ChipSchema } from '#apis/payer/chip-routes.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import {
  AgentTokenSchema,
  PassSchema,
  PayerPaymentSchema,
  PayerRequestSchema,
  PayerSchema,
} from '#apis/payer/payer-schema.ts';
import { renderTokens } from '#apis/payer/render-tokens.ts';
import { answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { objectType, Timestamp } from '#http/schema.ts';
import { selectAgentTokens } from '#payers/agent-token-queries.ts';
import { renderCard } from '#payers/card.ts';
import { selectCards } from '#payers/card-queries.ts';
import { selectChips } from '#payers/chip-queries.ts';
import { erasePayer, type PayerSession } from '#payers/erase-payer.ts';
import { PASS_COPIES } from '#payers/pass-copy-queries.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import { selectPasses } from '#payers/payer-queries.ts';
import { signatureRefusal } from '#payers/payer-sign-in.ts';
import {
  selectPayerSessions,
  selectRequestsOf,
  selectSignedAt,
} from '#payers/personal-data-queries.ts';
import { renderChip } from '#payers/register-chip.ts';
import { renderPass, renderPayer, renderPayerRequest } from '#payers/render.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectPayerPayments } from '#payments/payment-queries.ts';
import { renderPayment } from '#payments/render.ts';

/** Maximum number of rows of each kind in an export. Years of daily use fit in. */
const MAX_ROWS = 10_000;

const PersonalDataSchema = Type.Object(
  {
    object: objectType('personal_data'),
    exported_at: Timestamp,
    payer: PayerSchema,
    passes: Type.Array(PassSchema, { description: 'Passes of the payer.' }),
    cards: Type.Array(CardSchema, { description: 'SUN cards.' }),
    chips: Type.Array(ChipSchema, {
      description: 'Chips that sign payments, with limits and blocks.',
    }),
    agent_tokens: Type.Array(AgentTokenSchema, { description: 'Tokens that agents pay with.' }),
    requests: Type.Array(PayerRequestSchema, {
      description: 'Jobs on the chain: approvals and test money.',
    }),
    sessions: Type.Array(Type.Object({ created: Timestamp, expires_at: Timestamp }), {
      description: "The payer's sessions.",
    }),
    payments: Type.Array(PayerPaymentSchema, { description: "The payer's payments." }),
    payments_left_out: Type.Boolean({
      description: `True if there are more than ${MAX_ROWS} payments: GET /payments has them all.`,
    }),
  },
  { title: 'PayerPersonalData', description: 'All data that is stored about the payer.' },
);

function sessionOf(caller: PayerCaller, now: Date): PayerSession {
  const sessionHash = present(caller.sessionHash, 'session');
  return { payerId: payerOfCaller(caller).id, sessionHash, now };
}

const FRESH = 'Needs a signature of the wallet from the last five minutes.';

function exportRoute(ctx: ApiContext) {
  return payerRoute({
    method: 'POST',
    path: '/me/export',
    operationId: 'exportPayerData',
    moves: 'data',
    asks: 'own',
    summary: 'Download all data about the payer, in one document',
    description: `Credentials and their hashes are omitted. ${FRESH}`,
    responses: { 200: { schema: PersonalDataSchema, description: 'The document.' } },
    errors: ['second_factor_required'],
    handle: async ({ caller, now }) => {
      const { sessionHash } = sessionOf(caller, now);
      const refused = signatureRefusal(await selectSignedAt(ctx.db, sessionHash), now);
      return refused ?? answerWith(200, await collect(ctx, payerOfCaller(caller), now));
    },
  });
}

function eraseRoute(ctx: ApiContext) {
  return payerRoute({
    method: 'POST',
    path: '/me/erase',
    operationId: 'erasePayerData',
    moves: 'access',
    asks: 'own',
    summary: 'Erase passes, tokens, limits, requests and sessions',
    description:
      'Cannot be undone, and ends this session. Payments keep address and amounts, and the ' +
      'wallet stays known for them; a payment in progress is not undone. Allowance and ' +
      `spending policy are on the chain: revoke them with the wallet. ${FRESH}`,
    responses: { 204: { schema: null, description: 'The data was erased.' } },
    errors: ['second_factor_required'],
    handle: async ({ caller, now }) => {
      const refused = await erasePayer(ctx.db, sessionOf(caller, now));
      ctx.wakeups.send(PASS_COPIES);
      return refused ?? { status: 204, body: '' };
    },
  });
}

export function personalDataRoutes(ctx: ApiContext): PayerRoute[] {
  return [exportRoute(ctx), eraseRoute(ctx)];
}

async function collect(ctx: ApiContext, payer: PayerRow, now: Date) {
  const { db } = ctx;
  const [passes, cards, chips, tokens, requests, sessions, payments] = await Promise.all([
    selectPasses(db, payer.id, { limit: MAX_ROWS, after: null }),
    selectCards(db, payer.id, { limit: MAX_ROWS, after: null }),
    selectChips(db, payer.id),
    selectAgentTokens(db, payer.id, { limit: MAX_ROWS, after: null }),
    selectRequestsOf(db, payer.id, MAX_ROWS),
    selectPayerSessions(db, payer.id),
    selectPayerPayments(db, payer.id, { limit: MAX_ROWS, after: null }),
  ]);
  return {
    object: 'personal_data',
    exported_at: now,
    payer: renderPayer(payer),
    passes: passes.map((row) => renderPass(row, payer.livemode)),
    cards: cards.map((row) => renderCard(row, payer.livemode)),
    chips: chips.map(renderChip),
    agent_tokens: await renderTokens(ctx, tokens, now),
    requests: requests.map((row) => renderPayerRequest(row, payer.livemode)),
    sessions,
    payments: payments.slice(0, MAX_ROWS).map(({ payment, merchantName }) => {
      return { ...renderPayment(payment, ctx.pages), merchant_name: merchantName };
    }),
    payments_left_out: payments.length > MAX_ROWS,
  };
}
