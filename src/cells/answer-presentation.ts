import {
  type HomeAnswer,
  hashOfTapped,
  homeOf,
  type Presentation,
  readHomeAnswer,
} from '#cells/presentation-schema.ts';
import { deleteOldVisits, selectVisit, upsertVisit } from '#cells/visit-queries.ts';
import { isRefusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { RotatingKey } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import type { Tx } from '#db/database.ts';
import { lockPayers, type PayerRow } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import {
  type CredentialState,
  credentialKey,
  kindOf,
  lockCredentials,
  type Presented,
  readTapped,
  verify,
  writeConsumed,
} from '#payments/credential.ts';
import type { Decline } from '#payments/decline-codes.ts';
import { readUnknownDecline } from '#payments/unknown-credential.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';

/**
 * Retention of an answer: as long as an idempotency key, because a tap repeated within that time
 * counts as the same tap.
 */
const KEPT_MS = 48 * HOUR_MS;
/**
 * Maximum number of expired rows deleted per answer: more than each answer adds, so that the table
 * cannot grow forever.
 */
const SWEEP = 20;

/**
 * Identifies the payer for a credential of this cell that was tapped in another cell, and decides
 * whether the credential is valid. The answer consumes a one-time credential for that one intent; a
 * repeated request gets the same answer.
 * @returns `null` if the credential is malformed or belongs to another cell, or if this cell cannot
 * decide, because its ledger may have lost taps.
 */
export async function answerPresentation(
  ctx: ApiContext,
  presentation: Presentation,
): Promise<HomeAnswer | null> {
  const presented = readTapped(presentation.tapped);
  if (isRefusal(presented) || homeOf(presented) !== ctx.db.cell) return null;
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    if (checkLedger(tx.watch, presentation.livemode) !== null) return null;
    const key = { presented: hashOfTapped(presentation.tapped), cell: presentation.cell };
    const state = (await lockCredentials(tx, [presented])).get(credentialKey(presented)) ?? null;
    // Read the earlier answer while the credential is locked, so that a repeated tap gets it.
    const before = await selectVisit(tx, key);
    const isKept = presented.type === 'nfc_id';
    if (!isKept && before?.intent_id === presentation.intent) return readHomeAnswer(before.answer);
    const answer = await decide(tx, {
      cardKey: ctx.keys.card,
      presented,
      found: state,
      asked: presentation,
      now,
    });
    if (state === null || (before !== undefined && !isKept)) return answer;
    const pass_id = isKept && 'pass' in state ? state.pass.id : null;
    await upsertVisit(tx, { ...key, intent_id: presentation.intent, pass_id, answer, at: now });
    await deleteOldVisits(tx, addMs(now, -KEPT_MS), SWEEP);
    return answer;
  });
}

interface Case {
  /** Decrypts the keys of cards. */
  readonly cardKey: RotatingKey;
  readonly presented: Presented;
  readonly found: CredentialState | null;
  readonly asked: Presentation;
  readonly now: Date;
}

async function decide(
  tx: Tx,
  { cardKey, presented, found, asked, now }: Case,
): Promise<HomeAnswer> {
  if (found === null) {
    const ofUnknown = await readUnknownDecline(tx, [presented], { found: new Map(), now });
    return { holder: null, decline: ofUnknown(presented, asked.livemode) };
  }
  const [locked] = await lockPayers(tx, [found.payerId]);
  const payer = present(locked, 'payer of a credential');
  if (payer.livemode !== asked.livemode) return { holder: null, decline: 'pass_unknown' };
  const judged = verify(found, presented, { cardKey, now });
  if (judged.after !== found) await writeConsumed(tx, [judged.after], now);
  const decline = declineOfPayer(found, payer) ?? judged.decline;
  return { holder: holderOf(found, payer), decline };
}

function declineOfPayer(state: CredentialState, payer: PayerRow): Decline | null {
  if (payer.blocked_at !== null) return 'risk_blocked';
  const row = state.type === 'nfc_sun' ? state.card : 'pass' in state ? state.pass : null;
  return row === null || row.revoked_at !== null ? 'pass_revoked' : null;
}

function holderOf(state: CredentialState, payer: PayerRow): HomeAnswer['holder'] {
  const credential = kindOf(state).stored(state);
  const id =
    'passId' in credential ? credential.passId : 'cardId' in credential ? credential.cardId : null;
  const card = state.type === 'nfc_sun' ? state.card : null;
  const doubtedAt =
    'phone' in state ? (state.phone?.doubtedAt ?? null) : (card?.asks_since ?? null);
  return {
    livemode: payer.livemode,
    address: payer.address,
    credential: present(id, 'id of what was tapped'),
    limit: least(payer.limit_per_payment, card?.per_payment_limit ?? null)?.toString() ?? null,
    doubted_at: doubtedAt?.toISOString() ?? null,
  };
}

function least(one: bigint | null, other: bigint | null): bigint | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}
