import type { PayerDeps } from '#apis/payer/deps.ts';
import { renderTokens } from '#apis/payer/render-tokens.ts';
import { selectAgentTokens } from '#payers/agent-token-queries.ts';
import { renderCard } from '#payers/card.ts';
import { selectCards } from '#payers/card-queries.ts';
import { type PayerRow, selectPasses } from '#payers/payer-queries.ts';
import { selectPayerSessions, selectRequestsOf } from '#payers/personal-data-queries.ts';
import { renderPass, renderPayer, renderPayerRequest } from '#payers/render.ts';
import { selectPayerPayments } from '#payments/payment-queries.ts';
import { renderPayment } from '#payments/render.ts';

/** Of one kind in one export: years of daily use, and still one document. */
export const MAX_ROWS = 10_000;

export async function collect(deps: PayerDeps, payer: PayerRow, now: Date) {
  const { db } = deps;
  const [passes, cards, tokens, requests, sessions, payments] = await Promise.all([
    selectPasses(db, payer.id, { limit: MAX_ROWS, after: null }),
    selectCards(db, payer.id, { limit: MAX_ROWS, after: null }),
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
    agent_tokens: await renderTokens(deps, tokens, now),
    requests: requests.map((row) => renderPayerRequest(row, payer.livemode)),
    sessions,
    payments: payments.slice(0, MAX_ROWS).map(({ payment, merchantName }) => {
      return { ...renderPayment(payment), merchant_name: merchantName };
    }),
    payments_left_out: payments.length > MAX_ROWS,
  };
}
