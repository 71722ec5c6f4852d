/**
 * A pure model of the API (intents, payments, refunds and tokens), without database, chain or time.
 * The model-based test compares the real service with it.
 */

export type ModelStatus = 'requires_payment_method' | 'requires_action' | 'succeeded' | 'canceled';

/** Names of demo passes from sandbox.json. */
export const MODEL_PASSES = [
  'ok',
  'ok_2',
  'confirm',
  'insufficient_funds',
  'no_approval',
  'over_limit',
  'revoked',
  'blocked',
] as const;
export type ModelPass = (typeof MODEL_PASSES)[number];

export interface ModelIntent {
  readonly id: string;
  readonly amount: number;
  status: ModelStatus;
  /** The pass that paid the intent, or whose payer must still confirm the payment. */
  pass: ModelPass | null;
  /** The payment token that is paying, or has paid, the intent. */
  token: ModelToken | null;
  declineCode: string | null;
  cancellationReason: 'requested_by_merchant' | 'expired' | null;
  paymentId: string | null;
  refunded: number;
}

export interface ModelToken {
  readonly secret: string;
  readonly amount: number;
  readonly pass: ModelPass;
}

export interface Model {
  readonly intents: ModelIntent[];
  readonly tokens: ModelToken[];
  readonly orderIds: Set<string>;
  /** Passes whose payer has already paid this merchant, in this run or an earlier one. */
  readonly paidHere: Set<ModelPass>;
  /** Atoms that this run has added to the merchant's balance. */
  balance: number;
}

/** The response that the model expects to a command. */
export type Expected =
  | { readonly kind: 'intent' }
  | { readonly kind: 'refused'; readonly status: number; readonly code: string };

const INTENT: Expected = { kind: 'intent' };
const UNEXPECTED: Expected = {
  kind: 'refused',
  status: 409,
  code: 'payment_intent_unexpected_state',
};

/**
 * Amount in atoms from which the sandbox asks payers to confirm their first payment at a merchant.
 */
const CONFIRM_FROM = 50_000_000;
/** Limit per payment of the pass `over_limit`, in atoms. */
const PER_PAYMENT = 1_000_000;

/** Passes that are always declined, with their decline codes. */
const HOPELESS: Partial<Record<ModelPass, string>> = {
  revoked: 'pass_revoked',
  blocked: 'risk_blocked',
  insufficient_funds: 'insufficient_funds',
  no_approval: 'approval_insufficient',
};

function declineOf(pass: ModelPass, amount: number): string | null {
  if (pass === 'over_limit' && amount > PER_PAYMENT) return 'limit_exceeded';
  return HOPELESS[pass] ?? null;
}

function asksPayer(model: Model, pass: ModelPass, amount: number): boolean {
  return !model.paidHere.has(pass) && (pass === 'confirm' || amount >= CONFIRM_FROM);
}

function decline(intent: ModelIntent, code: string): Expected {
  intent.status = 'requires_payment_method';
  intent.declineCode = code;
  intent.pass = null;
  intent.token = null;
  return INTENT;
}

function settle(model: Model, intent: ModelIntent, pass: ModelPass): Expected {
  intent.status = 'succeeded';
  intent.declineCode = null;
  model.paidHere.add(pass);
  model.balance += intent.amount;
  return INTENT;
}

function present(
  model: Model,
  intent: ModelIntent,
  { pass, code }: { readonly pass: ModelPass; readonly code: string | null },
): Expected {
  if (code !== null) return decline(intent, code);
  intent.pass = pass;
  if (!asksPayer(model, pass, intent.amount)) return settle(model, intent, pass);
  intent.status = 'requires_action';
  return INTENT;
}

export function tap(model: Model, intent: ModelIntent, pass: ModelPass): Expected {
  if (intent.status !== 'requires_payment_method') return UNEXPECTED;
  return present(model, intent, { pass, code: declineOf(pass, intent.amount) });
}

export function confirm(model: Model, intent: ModelIntent, token: ModelToken): Expected {
  if (intent.status !== 'requires_payment_method') return UNEXPECTED;
  if (token.amount !== intent.amount) return decline(intent, 'agent_token_mismatch');
  const holder = model.intents.find((other) => other.token === token && other !== intent);
  if (holder !== undefined) return decline(intent, 'agent_token_used');
  // A token belongs to the payer, so it still pays after a pass was revoked.
  const code = token.pass === 'revoked' ? null : declineOf(token.pass, intent.amount);
  const expected = present(model, intent, { pass: token.pass, code });
  if (intent.pass !== null) intent.token = token;
  return expected;
}

export function answerPayer(model: Model, intent: ModelIntent, approve: boolean): Expected {
  // An app that lost the response to its approval may approve again.
  if (approve && intent.status === 'succeeded') return INTENT;
  if (intent.status !== 'requires_action' || intent.pass === null) return UNEXPECTED;
  return approve ? settle(model, intent, intent.pass) : decline(intent, 'payer_rejected');
}

function end(intent: ModelIntent, reason: 'requested_by_merchant' | 'expired'): Expected {
  intent.status = 'canceled';
  intent.cancellationReason = reason;
  intent.token = null;
  return INTENT;
}

export function cancel(intent: ModelIntent): Expected {
  if (intent.status === 'succeeded') return UNEXPECTED;
  return intent.status === 'canceled' ? INTENT : end(intent, 'requested_by_merchant');
}

export function expire(intent: ModelIntent): Expected {
  if (intent.status === 'succeeded') return UNEXPECTED;
  if (intent.status === 'canceled') return INTENT;
  if (intent.status === 'requires_action') intent.declineCode = 'confirmation_timeout';
  return end(intent, 'expired');
}

/**
 * Refunds a payment. `amount: null` refunds everything that is left.
 * @returns the refunded atoms, or the refusal
 */
export function refund(
  model: Model,
  intent: ModelIntent,
  amount: number | null,
): { readonly kind: 'refund'; readonly amount: number } | (Expected & { kind: 'refused' }) {
  const left = intent.amount - intent.refunded;
  if (left === 0) return { kind: 'refused', status: 409, code: 'payment_already_refunded' };
  const target = amount ?? left;
  if (target > left) return { kind: 'refused', status: 400, code: 'amount_too_large' };
  intent.refunded += target;
  model.balance -= target;
  return { kind: 'refund', amount: target };
}

/** Returns the type of an intent's last event, which follows from its current state. */
export function lastEventOf(intent: ModelIntent): string {
  switch (intent.status) {
    case 'requires_payment_method':
      return intent.declineCode === null
        ? 'payment_intent.created'
        : 'payment_intent.payment_failed';
    case 'requires_action':
      return 'payment_intent.requires_action';
    case 'succeeded':
      return 'payment_intent.succeeded';
    case 'canceled':
      return 'payment_intent.canceled';
  }
}
