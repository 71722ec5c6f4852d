import type { Answer, Refusal } from '#core/answer.ts';
import { createAgentToken } from '#payers/create-agent-token.ts';
import { updatePayerLimits } from '#payers/payer-queries.ts';
import { answerConfirmation } from '#payments/answer-confirmation.ts';
import { type CancelRequest, cancelIntent } from '#payments/cancel-intent.ts';
import { createRefund, type RefundRequest } from '#refunds/create-refund.ts';
import { insertBlockedPayer, saveRiskSettings } from '#risk/risk-queries.ts';
import type { RiskSettings } from '#risk/risk-settings.ts';
import { newRequest, type TestStore } from '#testing/store.ts';

/** Requests to a store's use cases. A test states only the fields that it is about. */

/** Cancels an intent of the store's merchant. */
export function cancel(
  store: TestStore,
  intentId: string,
  request: Partial<CancelRequest> = {},
): Promise<Answer | Refusal> {
  const { tenant } = store.merchant;
  const now = store.clock.now();
  const whole = { tenant, intentId, idempotency: null, requestId: 'req_test', now };
  return cancelIntent(store, { ...whole, ...request });
}

/** Approves an intent as its payer, or rejects it. */
export function answerAsPayer(
  { ctx, clock }: Pick<TestStore, 'ctx' | 'clock'>,
  intentId: string,
  { approve = true, now = clock.now() } = {},
): ReturnType<typeof answerConfirmation> {
  return answerConfirmation(ctx, { intentId, mayAnswer: () => true, approve, now });
}

/** Requests a refund of a payment. `amount: null` refunds everything that is left. */
export function refund(
  store: TestStore,
  asked: Pick<RefundRequest['input'], 'paymentId' | 'amount'> & Partial<RefundRequest>,
): Promise<Answer | Refusal> {
  const { paymentId, amount, ...request } = asked;
  return createRefund(store.ctx, {
    tenant: store.merchant.tenant,
    keyHash: null,
    idempotency: newRequest(store),
    requestId: 'req_test',
    now: store.clock.now(),
    input: { paymentId, amount, reason: null, metadata: {}, source: 'api' },
    ...request,
  });
}

/** Creates an agent token of this payer, for the store's merchant. */
export async function mintToken(
  { db, merchant, clock }: Pick<TestStore, 'db' | 'merchant' | 'clock'>,
  payerId: string,
  amount = 2_500_000,
): Promise<{ readonly token: string; readonly id: string }> {
  const { tenant } = merchant;
  const terms = { payerId, tenant, amount, expiresIn: 3_600, now: clock.now() };
  const { row, secret } = await db.transaction((tx) => createAgentToken(tx, terms));
  return { token: secret, id: row.id };
}

/** Sets a payer's own limits, in atoms. Removes those that are not given. */
export async function limitPayer(
  { db }: Pick<TestStore, 'db'>,
  id: string,
  limits: {
    readonly perPayment?: number;
    readonly perDay?: number;
    /** Whether the payer confirms the first payment at each merchant. */
    readonly confirmFirst?: boolean;
  },
): Promise<void> {
  const { perPayment, perDay, confirmFirst = false } = limits;
  const toLimit = (atoms?: number) => (atoms === undefined ? null : BigInt(atoms));
  await db.transaction((tx) =>
    updatePayerLimits(tx, {
      id,
      limit_per_payment: toLimit(perPayment),
      limit_per_day: toLimit(perDay),
      confirm_first_payment: confirmFirst,
    }),
  );
}

/** Sets the risk rules of the merchant, which has no others. */
export async function setRiskRules(
  { db, merchant, clock }: Pick<TestStore, 'db' | 'merchant' | 'clock'>,
  rules: Partial<RiskSettings>,
): Promise<void> {
  const off = { firstPaymentConfirmFrom: null, highAmountConfirmFrom: null, velocityPerHour: null };
  const change = { settings: { ...off, ...rules }, version: 0, now: clock.now() };
  await db.transaction((tx) => saveRiskSettings(tx, merchant.tenant, change));
}

/** Puts a wallet on the list of payers whom the store's merchant blocks. */
export async function blockPayer(
  { db, merchant, clock }: Pick<TestStore, 'db' | 'merchant' | 'clock'>,
  address: string,
): Promise<void> {
  const entry = { address, note: '', now: clock.now() };
  await db.transaction((tx) => insertBlockedPayer(tx, merchant.tenant, entry));
}
