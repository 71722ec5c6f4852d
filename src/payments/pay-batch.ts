import { type CredentialEnds, readCredentialEnds } from '#accounts/credential-ends.ts';
import { checkMayTakePayments } from '#accounts/may-take-payments.ts';
import { type Answer, answerWith, isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { type Atoms, add, ZERO } from '#core/money.ts';
import { tenantKey } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { DatabaseWatch } from '#db/watch.ts';
import { type Done, decideKeyed, type KnownKeys } from '#idempotency/decide.ts';
import { insertKeys, type StoredKey, takeKeys } from '#idempotency/key-queries.ts';
import { updateAgentTokenIntents } from '#payers/agent-token-queries.ts';
import {
  lockPayers,
  noteStaticTaps,
  type PayerRow,
  type StaticTap,
} from '#payers/payer-queries.ts';
import { serviceUnavailable } from '#payments/ask-chain.ts';
import {
  type Assessment,
  assessPayment,
  type Checked,
  type PaymentFacts,
  readActivities,
} from '#payments/assess.ts';
import type { Attempt } from '#payments/attempt.ts';
import {
  checkCredential,
  type Found,
  lockCredentials,
  toCredential,
} from '#payments/credential.ts';
import { type CheckShare, readShares } from '#payments/hour-share.ts';
import { lockIntents } from '#payments/intent-queries.ts';
import { countPayLinkAnswers } from '#payments/pay-link-queries.ts';
import type { PayRequest, PayTerms } from '#payments/pay-request.ts';
import {
  byAccountClock,
  type IntentCommand,
  type PaymentIntent,
  type Step,
  transition,
} from '#payments/payment-intent.ts';
import { credentialKey } from '#payments/presented.ts';
import { renderIntent } from '#payments/render.ts';
import { type Change, confirmationDeadline, saveSteps } from '#payments/save.ts';
import { settlementOf } from '#payments/settlement-of.ts';
import { type Judged, judge, writeUsedUp } from '#payments/single-use.ts';
import { chargeOf, checkTip } from '#payments/tip.ts';
import { readUnknownDecline, type UnknownDecline } from '#payments/unknown-credential.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';
import type { Readiness } from '#settlement/readiness.ts';
import { requestPayments } from '#settlement/requests.ts';

/** A payment, and the chain's answer about it where we could ask. */
export interface PayItem {
  readonly request: PayRequest;
  /** null: not asked, because the credential or the intent did not exist when we looked ahead. */
  readonly preflight: Checked | null;
}

/** The result of one. */
export interface Paid {
  readonly answer: Answer | Refusal;
  /** The intent as it was left; null when nothing was decided on it (a replay, a refusal). */
  readonly intent: PaymentIntent | null;
}

/**
 * What the decisions of a batch rest on, read under its locks. Each decision changes it, so that
 * every later one sees it as if it had been committed.
 */
interface Ground {
  readonly watch: DatabaseWatch;
  readonly keys: KnownKeys;
  /** Whether the callers' API keys and device keys have ended meanwhile. */
  readonly ends: CredentialEnds;
  /** As locked. */
  readonly intents: ReadonlyMap<string, PaymentIntent>;
  readonly credentials: Map<string, Found>;
  readonly ofUnknown: UnknownDecline;
  /** Those of them that the batch uses up. */
  readonly usedUp: Map<string, Found>;
  readonly terms: BatchTerms;
  readonly shareLeft: CheckShare;
  readonly payers: ReadonlyMap<string, PayerRow>;
  readonly facts: readonly (Pick<PaymentFacts, 'settings' | 'activity'> | null)[];
  readonly changes: Map<string, { before: PaymentIntent; steps: Step[] }>;
  readonly underWay: { payerId: string; intent: UnderWay }[];
}

/** Settings, and what is known of the networks. */
type BatchTerms = PayTerms & { readonly readiness: Readiness };

type UnderWay = PaymentIntent & { readonly status: 'processing' | 'requires_action' };

function credentialOf(ground: Pick<Ground, 'credentials'>, request: PayRequest): Found | null {
  return ground.credentials.get(credentialKey(request.presented)) ?? null;
}

/** The intent as the batch has left it so far, if it belongs to the caller. */
function intentOf(ground: Pick<Ground, 'intents' | 'changes'>, request: PayRequest) {
  const { intentId, standing, terminalId } = request;
  const intent = ground.changes.get(intentId)?.steps.at(-1)?.intent ?? ground.intents.get(intentId);
  if (intent === undefined || tenantKey(intent.tenant) !== tenantKey(standing.tenant)) return null;
  return terminalId === undefined || intent.terminalId === terminalId ? intent : null;
}

/** Intents, then credentials, then payers, each in the order of ids: every payment locks so. */
async function readGround(tx: Tx, items: readonly PayItem[], terms: BatchTerms): Promise<Ground> {
  const requests = items.map(({ request }) => request);
  const idempotent = requests.flatMap(({ idempotency }) => idempotency ?? []);
  const now = new Date(Math.max(...requests.map((request) => request.now.getTime())));
  const [keys, ends, locked] = await Promise.all([
    takeKeys(tx, idempotent, now),
    readCredentialEnds(
      tx,
      requests.map(({ standing }) => standing),
    ),
    lockIntents(tx, [...new Set(requests.map(({ intentId }) => intentId))]),
  ]);
  const intents = new Map(locked.map((intent) => [intent.id, intent]));
  const presented = requests.map((request) => request.presented);
  const credentials = await lockCredentials(tx, presented);
  const ofUnknown = await readUnknownDecline(tx, presented, { found: credentials, now });
  const payerIds = [...new Set([...credentials.values()].map((found) => found.payerId))];
  const payers = new Map((await lockPayers(tx, payerIds)).map((payer) => [payer.id, payer]));
  const rest = { ofUnknown, changes: new Map(), underWay: [], usedUp: new Map(), terms };
  const candidates = requests.map((request) => {
    const intent = intentOf({ intents, ...rest }, request);
    const payer = payers.get(credentialOf({ credentials }, request)?.payerId ?? '');
    return intent === null || payer === undefined ? null : { intent, payer, tip: request.tip };
  });
  const known = candidates.flatMap((candidate) => candidate ?? []);
  const activities = await readActivities(tx, known, now);
  const asked = [
    ...requests.map(({ standing: { tenant } }) => ({ tenant, atoms: ZERO })),
    ...known.map(({ intent: { tenant, amount }, tip }) => {
      return { tenant, atoms: add(amount, tip ?? ZERO) };
    }),
  ];
  const shareLeft = await readShares(tx, terms.readiness, asked);
  let next = 0;
  const facts = candidates.map((candidate) =>
    candidate === null ? null : present(activities[next++], 'facts of a payment'),
  );
  return { watch: tx.watch, keys, ends, intents, credentials, payers, facts, shareLeft, ...rest };
}

/** What the batch itself has under way counts like what was under way before. */
function withBatch(
  activity: PaymentFacts['activity'],
  ground: Ground,
  paying: { readonly payerId: string; readonly intent: PaymentIntent },
): PaymentFacts['activity'] {
  const mine = ground.underWay.filter(({ payerId }) => payerId === paying.payerId);
  const here = mine.filter(
    ({ intent }) => intent.tenant.accountId === paying.intent.tenant.accountId,
  ).length;
  const atoms = mine.reduce((sum, { intent }) => sum + chargeOf(intent), 0n);
  return {
    ...activity,
    under_way: activity.under_way + atoms,
    under_way_here: activity.under_way_here + here,
  };
}

/** The account's share of the hour, with what the batch itself has under way. */
function checkShare(ground: Ground, { tenant, amount }: PaymentIntent, tip: Atoms): Refusal | null {
  const mine = ground.underWay.filter(
    ({ intent }) =>
      intent.status === 'processing' && tenantKey(intent.tenant) === tenantKey(tenant),
  );
  return ground.shareLeft(tenant, add(amount, tip, ...mine.map(({ intent }) => chargeOf(intent))));
}

/** What the assessment makes of the intent. */
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

function command(
  ground: Ground,
  considered: {
    readonly item: PayItem;
    readonly index: number;
    readonly intent: PaymentIntent;
    readonly judged: Judged | null;
  },
): IntentCommand | Refusal {
  const { item, intent, judged } = considered;
  const { request, preflight } = item;
  const { presented, now } = request;
  const tip = request.tip ?? ZERO;
  const found = credentialOf(ground, request);
  if (presented.type === 'visiting' && presented.visit.refusal !== null) {
    return { type: 'decline', ...presented.visit.refusal };
  }
  if (found === null || judged === null)
    return { type: 'decline', decline: ground.ofUnknown(presented, intent.tenant.livemode) };
  // It appeared after we looked ahead: the chain has not been asked about it.
  if (preflight === null) return serviceUnavailable();
  const payer = present(ground.payers.get(found.payerId), 'payer of a credential');
  const { settings, activity } = present(ground.facts[considered.index], 'facts of a payment');
  const assessment = assessPayment({
    intent,
    amount: add(intent.amount, tip),
    payer,
    credentialProblem: checkCredential(found, intent, payer.livemode, now) ?? judged.decline,
    card: cardTermsOf(found),
    doubtedAt: found.type === 'smart_tap' ? (found.phone?.doubtedAt ?? null) : null,
    copied: toCredential(found).type === 'nfc_id' ? ground.terms.staticPass : null,
    preflight,
    settings,
    activity: withBatch(activity, ground, { payerId: payer.id, intent }),
    isSigned: found.type === 'authorization',
    chip: found.type === 'authorization' ? found.chip : null,
  });
  const full = assessment.kind === 'decline' ? null : checkShare(ground, intent, tip);
  if (full !== null) return full;
  const attempt: Attempt = {
    payerId: payer.id,
    payerAddress: payer.address,
    credential: toCredential(found),
    tip,
    reasonCode: null,
    ...(request.traceparent == null ? {} : { traceparent: request.traceparent }),
  };
  return toCommand(assessment, attempt, now);
}

/** What the credential itself may pay at once, and whether its payer is asked. */
function cardTermsOf(found: Found): PaymentFacts['card'] {
  if (found.type === 'nfc_sun') return found.card;
  if (found.type !== 'visiting') return null;
  const { limit, doubtedAt } = found.holder;
  return { per_payment_limit: limit, asks_since: doubtedAt };
}

/** Remembers a decision, so that the rest of the batch sees it. */
function note(
  ground: Ground,
  request: PayRequest,
  saved: { readonly before: PaymentIntent; readonly steps: readonly Step[] },
): void {
  const { before, steps } = saved;
  const change = ground.changes.get(before.id);
  if (change === undefined) ground.changes.set(before.id, { before, steps: [...steps] });
  else change.steps.push(...steps);
  const after = present(steps.at(-1), 'step of a payment').intent;
  if (after.status !== 'processing' && after.status !== 'requires_action') return;
  ground.underWay.push({ payerId: after.attempt.payerId, intent: after });
  const found = credentialOf(ground, request);
  const key = credentialKey(request.presented);
  if (found?.type === 'agent_token') ground.credentials.set(key, { ...found, usedBy: after });
}

function judgeIn(ground: Ground, request: PayRequest): Judged | null {
  const found = credentialOf(ground, request);
  if (found === null) return null;
  const { cardKey } = ground.terms;
  return judge(found, request.presented, { cardKey, now: request.now });
}

/** The attempt gets its answer: the rest of the batch sees what it has used up. */
function useUp(ground: Ground, request: PayRequest, judged: Judged | null): void {
  if (judged === null || judged.after === credentialOf(ground, request)) return;
  const key = credentialKey(request.presented);
  ground.credentials.set(key, judged.after);
  ground.usedUp.set(key, judged.after);
}

/** By the account's clock; never before the intent was picked up, whatever nodes' clocks say. */
function tapTime(intent: PaymentIntent, now: Date): Date {
  const at = byAccountClock(intent, now);
  return intent.pickedUpAt !== null && intent.pickedUpAt > at ? intent.pickedUpAt : at;
}

function decide(ground: Ground, item: PayItem, index: number): PaymentIntent | Refusal {
  const { request } = item;
  const { standing } = request;
  const forbidden =
    ground.ends(standing) ??
    checkLedger(ground.watch, standing.tenant.livemode) ??
    checkMayTakePayments(standing);
  if (forbidden !== null) return forbidden;
  const current = intentOf(ground, request);
  if (current === null) return resourceMissing('payment intent');
  // Its tap was lost with the database: the next tap is told how it ended.
  const isRebuilt = current.status === 'succeeded' && current.attempt.credential.type === 'unknown';
  const judged = judgeIn(ground, request);
  if (isRebuilt) {
    useUp(ground, request, judged);
    return current;
  }
  const wrongTip = checkTip(current, request.tip);
  if (wrongTip !== null) return wrongTip;
  const { now, presented } = request;
  const isTap =
    presented.type === 'authorization'
      ? presented.signed.by === 'chip'
      : presented.type !== 'agent_token';
  const tappedAt = current.tappedAt ?? (isTap ? tapTime(current, now) : null);
  const intent = { ...current, tappedAt };
  // Asks the state machine first, so an intent that cannot be paid says so whatever is tapped.
  const payable = transition(intent, { type: 'decline', decline: 'pass_unknown' }, now);
  if (isRefusal(payable)) return payable;
  const decided = command(ground, { item, index, intent, judged });
  if (isRefusal(decided)) return decided;
  const steps = transition(intent, decided, now);
  if (isRefusal(steps)) return steps;
  useUp(ground, request, judged);
  note(ground, request, { before: current, steps });
  return present(steps.at(-1), 'step of a payment').intent;
}

interface Settling extends Done {
  readonly intent: PaymentIntent;
}

function toDone(intent: PaymentIntent): Settling {
  const answer = answerWith(200, renderIntent(intent));
  return { answer, resource: intent.id, goesOn: intent.status === 'processing', intent };
}

/** Decides one after the other. */
function decideAll(ground: Ground, items: readonly PayItem[]) {
  const requests = items.map(({ request }) => request);
  const { decided, stored } = decideKeyed(ground.keys, requests, (_, index) => {
    const result = decide(ground, present(items[index], 'item'), index);
    return isRefusal(result) ? result : toDone(result);
  });
  const paid = decided.map(({ answer, done }): Paid => ({ answer, intent: done?.intent ?? null }));
  return { paid, stored };
}

/**
 * What payers hear of beside their history. Those who are asked are rung for that, and a tap of
 * somebody else's code is nobody's.
 */
function staticTaps(
  ground: Ground,
  items: readonly PayItem[],
  paid: readonly Paid[],
): readonly StaticTap[] {
  return paid.flatMap(({ intent }, index): StaticTap[] => {
    const found = credentialOf(ground, present(items[index], 'item').request);
    if (intent === null || found?.type !== 'nfc_id') return [];
    const tap = { passId: found.pass.id, payerId: found.payerId };
    if (intent.status === 'processing') return [{ ...tap, decline: null }];
    const isDeclined = intent.status === 'requires_payment_method';
    const decline = isDeclined ? (intent.lastPaymentError?.decline_code ?? null) : null;
    return decline === null ? [] : [{ ...tap, decline }];
  });
}

async function writePaid(
  tx: Tx,
  items: readonly PayItem[],
  batch: {
    readonly paid: readonly Paid[];
    readonly stored: readonly StoredKey[];
    readonly ground: Ground;
  },
): Promise<number> {
  const { paid, stored, ground } = batch;
  const { settleWithinS } = ground.terms;
  const now = new Date(Math.max(...items.map(({ request }) => request.now.getTime())));
  const settlements = paid.flatMap(({ intent }, index) => {
    if (intent?.status !== 'processing') return [];
    const { intentId } = present(items[index], 'item').request;
    const locked = ground.intents.get(intentId);
    const merchantNumber = present(locked?.merchantNumber, 'merchant number');
    return [settlementOf(intent, { merchantNumber, settleWithinS })];
  });
  const uses = [...ground.credentials.values()].flatMap((found) =>
    found.type === 'agent_token' && found.usedBy !== null && ground.changes.has(found.usedBy.id)
      ? [{ id: found.token.id, paymentIntentId: found.usedBy.id }]
      : [],
  );
  if (uses.length > 0) await updateAgentTokenIntents(tx, uses);
  await writeUsedUp(tx, ground.usedUp.values(), now);
  const answered = items.flatMap(({ request: { presented, intentId } }, index) =>
    presented.type === 'authorization' && !isRefusal(present(paid[index], 'outcome').answer)
      ? [{ intentId, address: presented.signed.payer.address }]
      : [],
  );
  if (answered.length > 0) await countPayLinkAnswers(tx, answered);
  const taps = staticTaps(ground, items, paid);
  if (taps.length > 0) await noteStaticTaps(tx, taps, now);
  const [, , deliveries] = await Promise.all([
    requestPayments(tx, settlements, now),
    insertKeys(tx, stored),
    // Last: it takes the accounts' order, which is held until the commit.
    saveSteps(tx, [...ground.changes.values()] satisfies Change[], now),
  ]);
  return deliveries;
}

/**
 * Pays several intents in one transaction: keys, intents, events, deliveries and settlement
 * requests of all of them commit together. Each gets the answer it would have got alone, in order.
 */
export async function payBatch(
  tx: Tx,
  items: readonly PayItem[],
  terms: BatchTerms,
): Promise<{ readonly paid: readonly Paid[]; readonly deliveries: number }> {
  const ground = await readGround(tx, items, terms);
  const { paid, stored } = decideAll(ground, items);
  return { paid, deliveries: await writePaid(tx, items, { paid, stored, ground }) };
}
