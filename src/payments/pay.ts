import { checkMayTakePayments, type MerchantStanding } from '#accounts/merchant-caller.ts';
import { type Answer, answerRefusal, answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { failpoint } from '#core/failpoints.ts';
import { networkOf } from '#core/mode.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/refusal.ts';
import { Abandon, type Sql, type Tx } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { selectKey } from '#idempotency/queries.ts';
import { freesKey, type IdempotentRequest } from '#idempotency/request.ts';
import { claim, complete, decideReplay, waitFor } from '#idempotency/run-once.ts';
import { updateAgentTokenIntent } from '#payers/agent-token-queries.ts';
import { lockPayer, selectPayer } from '#payers/queries.ts';
import {
  type Assessment,
  assessPayment,
  type PreflightResult,
  readActivity,
} from '#payments/assess.ts';
import { type AwaitDeps, answerWhenSettled } from '#payments/await-settlement.ts';
import {
  checkCredential,
  findCredential,
  lockCredential,
  type Presented,
  toCredential,
} from '#payments/credential.ts';
import {
  type Attempt,
  asOf,
  type IntentCommand,
  type PaymentIntent,
  transition,
} from '#payments/payment-intent.ts';
import { lockIntent, selectIntent } from '#payments/queries.ts';
import { renderIntent } from '#payments/render.ts';
import { confirmationDeadline, saveSteps } from '#payments/save.ts';
import { type Hex, requestOnChain } from '#settlement/requests.ts';

/** Asks the chain whether a payment would settle now. A network call: never in a transaction. */
export type Preflight = (payment: {
  readonly livemode: boolean;
  readonly payer: Hex;
  readonly merchantNumber: bigint;
  readonly amount: bigint;
  readonly orderId: string;
}) => Promise<PreflightResult>;

export interface PayDeps extends AwaitDeps {
  readonly wakeups: Wakeups;
  readonly preflight: Preflight;
}

/** A tap, or a confirm with an agent token. */
export interface PayRequest {
  readonly standing: MerchantStanding;
  readonly intentId: string;
  /** Only this terminal's intents, when a terminal pays. */
  readonly terminalId?: string;
  readonly presented: Presented;
  readonly idempotency: IdempotentRequest | null;
  readonly requestId: string;
  readonly now: Date;
  readonly gone?: AbortSignal;
}

/** What the transaction came to. */
interface Committed {
  readonly answer: Answer | Refusal;
  /** The intent as it was left; null when nothing was decided on it (a replay, a refusal). */
  readonly intent: PaymentIntent | null;
  readonly deliveries: number;
}

function ownIntent(request: PayRequest, intent: PaymentIntent | null): PaymentIntent | null {
  const { terminalId } = request;
  if (intent === null || terminalId === undefined) return intent;
  return intent.terminalId === terminalId ? intent : null;
}

/** The stored answer of a key that is there already: a replay needs no chain. */
export async function findReplay(
  sql: Sql,
  idempotency: IdempotentRequest | null,
  now: Date,
): Promise<Answer | Refusal | null> {
  if (idempotency === null) return null;
  const row = await selectKey(sql, idempotency.tenant, { ...idempotency, now });
  return row === undefined ? null : decideReplay(row, idempotency.fingerprint);
}

/**
 * What the chain says, asked before the transaction; null where it need not be asked, because the
 * credential is unknown or the intent has come to its end.
 */
async function askChain(deps: PayDeps, request: PayRequest): Promise<PreflightResult | null> {
  const { tenant, merchantNumber } = request.standing;
  const [intent, found] = await Promise.all([
    selectIntent(deps.db, tenant, request.intentId),
    findCredential(deps.db, request.presented),
  ]);
  if (intent === null || found === null || merchantNumber === null) return null;
  const { status } = asOf(intent, request.now);
  if (status === 'succeeded' || status === 'canceled') return null;
  const payer = present(await selectPayer(deps.db, found.payerId), 'payer of a credential');
  if (payer.livemode !== tenant.livemode) return { ok: true };
  return deps.preflight({
    livemode: tenant.livemode,
    payer: payer.address,
    merchantNumber,
    amount: intent.amount,
    orderId: intent.orderId,
  });
}

function serviceUnavailable(): Refusal {
  return refuse(
    'service_unavailable',
    'The chain cannot be reached at the moment. Nothing was charged: try again.',
  );
}

const UNKNOWN_CREDENTIAL = {
  nfc_id: 'pass_unknown',
  agent_token: 'agent_token_unknown',
} as const;

function toCommand(assessment: Assessment, attempt: Attempt, now: Date): IntentCommand {
  switch (assessment.kind) {
    case 'settle':
      return { type: 'settle', attempt };
    case 'ask_payer': {
      const asked = { ...attempt, reasonCode: assessment.rule };
      return { type: 'ask_payer', attempt: asked, confirmBy: confirmationDeadline(now) };
    }
    case 'decline': {
      const { decline, rule } = assessment;
      return { type: 'decline', decline, ...(rule === undefined ? {} : { rule }) };
    }
  }
}

/** Locks credential and payer, then decides. The intent is locked already. */
async function decide(
  tx: Tx,
  request: PayRequest,
  of: { readonly intent: PaymentIntent; readonly preflight: PreflightResult | null },
): Promise<IntentCommand | Refusal> {
  const { presented, now } = request;
  const { intent, preflight } = of;
  const found = await lockCredential(tx, presented);
  if (found === null) return { type: 'decline', decline: UNKNOWN_CREDENTIAL[presented.type] };
  // Known only since we looked ahead: the chain has not been asked for it.
  if (preflight === null || preflight === 'unavailable') return serviceUnavailable();
  const payer = present(await lockPayer(tx, found.payerId), 'payer of a credential');
  const assessment = assessPayment({
    intent,
    payer,
    credentialProblem: checkCredential(found, intent, payer.livemode, now),
    preflight,
    ...(await readActivity(tx, { intent, payer, now })),
  });
  if (found.type === 'agent_token' && assessment.kind !== 'decline') {
    await updateAgentTokenIntent(tx, found.token.id, intent.id);
  }
  const attempt: Attempt = {
    payerId: payer.id,
    payerAddress: payer.address,
    credential: toCredential(found),
    reasonCode: null,
  };
  return toCommand(assessment, attempt, now);
}

/** Leaves the settlement of a `processing` intent to the relayer. */
export async function requestSettlement(
  tx: Tx,
  intent: PaymentIntent & { readonly status: 'processing' },
  of: { readonly merchantNumber: bigint; readonly now: Date },
): Promise<void> {
  await requestOnChain(tx, {
    livemode: intent.tenant.livemode,
    kind: 'payment',
    subjectId: intent.id,
    payload: {
      merchantNumber: of.merchantNumber.toString(),
      payer: intent.attempt.payerAddress,
      amount: intent.amount.toString(),
      orderId: intent.orderId,
    },
    now: of.now,
  });
}

/** Intent, then credential, then payer, then the account's order: every payment locks so. */
async function pay(
  tx: Tx,
  request: PayRequest,
  preflight: PreflightResult | null,
): Promise<{ readonly intent: PaymentIntent; readonly deliveries: number } | Refusal> {
  const { standing, now } = request;
  const forbidden = checkMayTakePayments(standing);
  if (forbidden !== null) return forbidden;
  const locked = ownIntent(request, await lockIntent(tx, standing.tenant, request.intentId));
  if (locked === null) return resourceMissing('payment intent');
  const tapped = request.presented.type === 'nfc_id' ? (locked.tappedAt ?? now) : locked.tappedAt;
  const intent = { ...locked, tappedAt: tapped };
  // Asks the state machine first, so that an intent that cannot be paid says so, whoever taps.
  const payable = transition(intent, { type: 'decline', decline: 'pass_unknown' }, now);
  if (isRefusal(payable)) return payable;
  const command = await decide(tx, request, { intent, preflight });
  if (isRefusal(command)) return command;
  const steps = transition(intent, command, now);
  if (isRefusal(steps)) return steps;
  const deliveries = await saveSteps(tx, [{ before: locked, steps }], now);
  const after = present(steps.at(-1), 'step of a payment').intent;
  if (after.status === 'processing') {
    const merchantNumber = present(standing.merchantNumber, 'merchant number');
    await requestSettlement(tx, after, { merchantNumber, now });
  }
  return { intent: after, deliveries };
}

/** Key, intent, events, deliveries and settlement request of one payment, in one transaction. */
async function payOnce(
  tx: Tx,
  request: PayRequest,
  preflight: PreflightResult | null,
): Promise<Committed | Abandon<Committed>> {
  const { idempotency, now } = request;
  const state = idempotency === null ? 'claimed' : await claim(tx, idempotency, now);
  if (state !== 'claimed') return { answer: state, intent: null, deliveries: 0 };
  const paid = await pay(tx, request, preflight);
  if (isRefusal(paid)) {
    if (idempotency === null || freesKey(paid.code)) {
      return new Abandon<Committed>({ answer: paid, intent: null, deliveries: 0 });
    }
    const answer = answerRefusal(paid, request.requestId);
    await complete(tx, idempotency, answer, null);
    return { answer, intent: null, deliveries: 0 };
  }
  const answer = answerWith(200, renderIntent(paid.intent));
  if (idempotency !== null) {
    if (paid.intent.status === 'processing') await waitFor(tx, idempotency, paid.intent.id);
    else await complete(tx, idempotency, answer, paid.intent.id);
  }
  return { answer, ...paid };
}

/** Tells whoever waits that an intent has moved. After the commit. */
export function announce(wakeups: Wakeups, intent: PaymentIntent, deliveries: number): void {
  if (intent.status === 'processing') {
    wakeups.send('chain-requests', networkOf(intent.tenant.livemode));
  }
  if (deliveries > 0) wakeups.send('deliveries');
  wakeups.send('intent', intent.id);
  if (intent.status === 'requires_action') wakeups.send('payer', intent.attempt.payerId);
}

/**
 * Pays an intent with a pass that was tapped or an agent token. Answers with the intent:
 * succeeded, processing (the chain is slow), requires_action (its payer is asked), or
 * requires_payment_method with `last_payment_error` (declined, nothing charged).
 */
export async function payIntent(deps: PayDeps, request: PayRequest): Promise<Answer | Refusal> {
  const replay = await findReplay(deps.db, request.idempotency, request.now);
  if (replay !== null) return replay;
  const preflight = await askChain(deps, request);
  if (preflight === 'unavailable') return serviceUnavailable();
  const committed = await deps.db.transaction<Committed>((tx) => payOnce(tx, request, preflight));
  const { answer, intent, deliveries } = committed;
  if (intent === null) return answer;
  failpoint('payments.request_committed');
  announce(deps.wakeups, intent, deliveries);
  return intent.status === 'processing' ? answerWhenSettled(deps, { ...request }) : answer;
}

export type PayIntent = (request: PayRequest) => Promise<Answer | Refusal>;
