import { type CredentialEnds, readCredentialEnds } from '#accounts/recheck-credentials.ts';
import type { Refusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { tenantOf } from '#core/mode.ts';
import { type Atoms, add, ZERO } from '#core/money.ts';
import { tenantKey } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { DatabaseWatch } from '#db/detect-replaced-database.ts';
import { takeKeys } from '#idempotency/key-queries.ts';
import type { KnownKeys } from '#idempotency/run-once-per-key.ts';
import { lockPayers, type PayerRow } from '#payers/payer-queries.ts';
import { type Checked, type PaymentFacts, readActivities } from '#payments/assess-payment.ts';
import { type CheckShare, readShares } from '#payments/check-hourly-share.ts';
import {
  type CredentialState,
  credentialKey,
  kindOf,
  lockCredentials,
} from '#payments/credential.ts';
import { lockIntents } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import type { PayRequest, PayTerms } from '#payments/pay-request.ts';
import type { Step } from '#payments/payment-intent.ts';
import { chargeOf } from '#payments/tip-limits.ts';
import { readUnknownDecline, type UnknownDecline } from '#payments/unknown-credential.ts';
import type { Readiness } from '#settlement/network-readiness.ts';

/** A payment, and whether the chain would accept it. */
export interface PayItem {
  readonly request: PayRequest;
  /**
   * `null` if the chain was not queried, because the credential or the intent did not exist when
   * they were read before locking.
   */
  readonly preflight: Checked | null;
}

/**
 * The state on which a batch's decisions depend, read while holding its locks. Each decision
 * updates this state, so that the next one sees it as if committed.
 */
export interface PayContext {
  readonly watch: DatabaseWatch;
  readonly keys: KnownKeys;
  /** Returns the refusal of a caller whose API key or device key has ended meanwhile. */
  readonly ends: CredentialEnds;
  /** The intents, as locked. */
  readonly intents: ReadonlyMap<string, PaymentIntent>;
  readonly credentials: Map<string, CredentialState>;
  readonly ofUnknown: UnknownDecline;
  readonly consumed: Map<string, CredentialState>;
  readonly terms: BatchTerms;
  readonly shareLeft: CheckShare;
  readonly payers: ReadonlyMap<string, PayerRow>;
  readonly facts: readonly (Pick<PaymentFacts, 'settings' | 'activity'> | null)[];
  readonly changes: Map<string, { before: PaymentIntent; steps: Step[] }>;
  readonly underWay: { payerId: string; intent: UnderWay }[];
}

export type BatchTerms = PayTerms & { readonly readiness: Readiness };

type UnderWay = PaymentIntent & { readonly status: 'processing' | 'requires_action' };

export function credentialOf(
  context: Pick<PayContext, 'credentials'>,
  request: PayRequest,
): CredentialState | null {
  return context.credentials.get(credentialKey(request.presented)) ?? null;
}

/** Returns the intent's current state in the batch; `null` if the caller may not see the intent. */
export function intentOf(context: Pick<PayContext, 'intents' | 'changes'>, request: PayRequest) {
  const { intentId, merchant, terminalId } = request;
  const intent =
    context.changes.get(intentId)?.steps.at(-1)?.intent ?? context.intents.get(intentId);
  if (intent === undefined || tenantKey(tenantOf(intent)) !== tenantKey(merchant.tenant))
    return null;
  return terminalId === undefined || intent.terminal_id === terminalId ? intent : null;
}

/** Locks intents, then credentials, then payers, each in a fixed order, like every payment. */
export async function readContext(
  tx: Tx,
  items: readonly PayItem[],
  terms: BatchTerms,
): Promise<PayContext> {
  const requests = items.map(({ request }) => request);
  const idempotent = requests.flatMap(({ idempotency }) => idempotency ?? []);
  const now = new Date(Math.max(...requests.map((request) => request.now.getTime())));
  const [keys, ends, locked] = await Promise.all([
    takeKeys(tx, idempotent, now),
    readCredentialEnds(
      tx,
      requests.map(({ merchant }) => merchant),
    ),
    lockIntents(tx, [...new Set(requests.map(({ intentId }) => intentId))]),
  ]);
  const intents = new Map(locked.map((intent) => [intent.id, intent]));
  const presented = requests.map((request) => request.presented);
  const credentials = await lockCredentials(tx, presented);
  const ofUnknown = await readUnknownDecline(tx, presented, { found: credentials, now });
  const payerIds = [...new Set([...credentials.values()].map((state) => state.payerId))];
  const payers = new Map((await lockPayers(tx, payerIds)).map((payer) => [payer.id, payer]));
  const rest = { ofUnknown, changes: new Map(), underWay: [], consumed: new Map(), terms };
  const candidates = requests.map((request) => {
    const intent = intentOf({ intents, ...rest }, request);
    const payer = payers.get(credentialOf({ credentials }, request)?.payerId ?? '');
    return intent === null || payer === undefined ? null : { intent, payer, tip: request.tip };
  });
  const known = candidates.flatMap((candidate) => candidate ?? []);
  const activities = await readActivities(tx, known, now);
  const inputs = [
    ...requests.map(({ merchant: { tenant } }) => ({ tenant, atoms: ZERO })),
    ...known.map(({ intent, tip }) => {
      return { tenant: tenantOf(intent), atoms: add(intent.amount, tip ?? ZERO) };
    }),
  ];
  const shareLeft = await readShares(tx, terms.readiness, inputs);
  let next = 0;
  const facts = candidates.map((candidate) =>
    candidate === null ? null : present(activities[next++], 'facts of a payment'),
  );
  return { watch: tx.watch, keys, ends, intents, credentials, payers, facts, shareLeft, ...rest };
}

/** Adds the batch's own payments to the payer's payments in progress. */
export function withBatch(
  activity: PaymentFacts['activity'],
  context: PayContext,
  paying: { readonly payerId: string; readonly intent: PaymentIntent },
): PaymentFacts['activity'] {
  const mine = context.underWay.filter(({ payerId }) => payerId === paying.payerId);
  const here = mine.filter(({ intent }) => intent.account_id === paying.intent.account_id).length;
  const atoms = mine.reduce((sum, { intent }) => sum + chargeOf(intent), 0n);
  return {
    ...activity,
    under_way: activity.under_way + atoms,
    under_way_here: activity.under_way_here + here,
  };
}

/**
 * Refuses if the payment, with the batch's earlier payments, exceeds the account's hourly share.
 */
export function checkShare(context: PayContext, sale: PaymentIntent, tip: Atoms): Refusal | null {
  const tenant = tenantOf(sale);
  const mine = context.underWay.filter(
    ({ intent }) =>
      intent.status === 'processing' && tenantKey(tenantOf(intent)) === tenantKey(tenant),
  );
  const charges = mine.map(({ intent }) => chargeOf(intent));
  return context.shareLeft(tenant, add(sale.amount, tip, ...charges));
}

/** Stores what this attempt consumed, for later payments of the batch and for the commit. */
export function consume(
  context: PayContext,
  request: PayRequest,
  after: CredentialState | null,
): void {
  if (after === null || after === credentialOf(context, request)) return;
  const key = credentialKey(request.presented);
  context.credentials.set(key, after);
  context.consumed.set(key, after);
}

/** Stores the decision, for later payments of the batch and for the commit. */
export function record(
  context: PayContext,
  request: PayRequest,
  saved: { readonly before: PaymentIntent; readonly steps: readonly Step[] },
): void {
  const { before, steps } = saved;
  const change = context.changes.get(before.id);
  if (change === undefined) context.changes.set(before.id, { before, steps: [...steps] });
  else change.steps.push(...steps);
  const after = present(steps.at(-1), 'step of a payment').intent;
  if (after.status !== 'processing' && after.status !== 'requires_action') return;
  context.underWay.push({ payerId: after.attempt.payerId, intent: after });
  const state = credentialOf(context, request);
  const paying = state === null ? undefined : kindOf(state).paying?.(state, after);
  if (paying !== undefined) consume(context, request, paying);
}
