import { askCell, type CellSettings } from '#cells/ask-other-cells.ts';
import {
  declineOf,
  type HomeAnswer,
  hashOfTapped,
  homeOf,
  type Presentation,
  readHomeAnswer,
  tappedOf,
} from '#cells/presentation-schema.ts';
import {
  deleteOldVisitingPasses,
  selectVisitingPass,
  upsertVisitingPass,
} from '#cells/visit-queries.ts';
import { assert } from '#core/assert.ts';
import { addMs, type Clock } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Database } from '#db/database.ts';
import { createPayer } from '#payers/create-payer.ts';
import { type PayerRow, selectPayerByAddress } from '#payers/payer-queries.ts';
import type { Visit } from '#payments/credentials/visiting.ts';
import { HOME_CELL_AWAY } from '#payments/decline-codes.ts';
import type { AskHome } from '#payments/pay-request.ts';
import type { Tapped } from '#payments/payment-attempt.ts';

export const KEPT_MS = 60_000;
/**
 * Age at which cached answers are deleted. Each answer already expires after `KEPT_MS`, even if the
 * notification of a revocation was lost.
 */
const SWEPT_AFTER_MS = DAY_MS;
const SWEEP = 20;

/**
 * Returns a function that asks a credential's home cell for its payer. In this cell, the payer is
 * the wallet with the same address. Its approval and limits here are separate from those in other
 * cells.
 */
export function createAskHome(db: Database, clock: Clock, cells: CellSettings): AskHome {
  if (cells.others.length === 0) return async () => null;
  return async ({ presented, merchant, intentId }) => {
    const home = homeOf(presented);
    const tapped = tappedOf(presented);
    if (home === null || home === cells.own || tapped === null) return null;
    const { livemode } = merchant.tenant;
    const key = hashOfTapped(tapped);
    const presentation: Presentation = { cell: cells.own, livemode, intent: intentId, tapped };
    const answer = await answerOf(db, clock, { cells, home, key, asked: presentation });
    if (answer === null) {
      const refusal = { decline: 'pass_unknown', rule: HOME_CELL_AWAY } as const;
      return { key: key.toString('hex'), holder: null, refusal };
    }
    return toVisit(db, clock.now(), { home, key, livemode, type: tapped.type, answer });
  };
}

interface Question {
  readonly cells: CellSettings;
  readonly home: number;
  readonly key: Buffer;
  readonly asked: Presentation;
}

async function answerOf(
  db: Database,
  clock: Clock,
  { cells, home, key, asked }: Question,
): Promise<HomeAnswer | null> {
  // Only the answer about a static code may be reused. All other credentials are valid once, so
  // their home cell must decide.
  const isKept = asked.tapped.type === 'nfc_id';
  if (isKept) {
    const since = addMs(clock.now(), -KEPT_MS);
    const kept = readHomeAnswer(await selectVisitingPass(db, { presented: key, since }));
    if (kept?.holder?.livemode === asked.livemode) return kept;
  }
  const address = cells.others.find(({ cell }) => cell === home);
  if (address === undefined) return { holder: null, decline: 'pass_unknown' };
  const said = await askCell(cells, address, { path: '/presentations', body: asked });
  const answer = readHomeAnswer(said);
  if (!isKept || answer?.holder == null || answer.decline !== null) return answer;
  const now = clock.now();
  await db.transaction(async (tx) => {
    await upsertVisitingPass(tx, { presented: key, answer, now });
    await deleteOldVisitingPasses(tx, addMs(now, -SWEPT_AFTER_MS), SWEEP);
  });
  return answer;
}

async function toVisit(
  db: Database,
  now: Date,
  said: {
    readonly home: number;
    readonly key: Buffer;
    readonly livemode: boolean;
    readonly type: Tapped['type'];
    readonly answer: HomeAnswer;
  },
): Promise<Visit> {
  const { home, livemode, type, answer } = said;
  const { holder } = answer;
  const key = said.key.toString('hex');
  const decline = declineOf(answer);
  const refusal = decline === null ? null : { decline };
  if (holder === null)
    return { key, holder: null, refusal: refusal ?? { decline: 'pass_unknown' } };
  const { address, limit, doubted_at: doubtedAt } = holder;
  const payer = await payerOf(db, { livemode, address, now });
  return {
    key,
    refusal,
    holder: {
      payer,
      credential: { ...credentialOf(type, holder.credential), home },
      limit: limit === null ? null : BigInt(limit),
      doubtedAt: doubtedAt === null ? null : new Date(doubtedAt),
    },
  };
}

function credentialOf(type: Tapped['type'], id: string): Tapped {
  if (type === 'nfc_sun') return { type, cardId: id };
  assert(id.startsWith('pass_'), 'the tapped credential is not a pass');
  return { type, passId: id };
}

/** Returns the wallet's payer in this cell, and creates it at its first tap here. */
async function payerOf(
  db: Database,
  wallet: { readonly livemode: boolean; readonly address: string; readonly now: Date },
): Promise<PayerRow> {
  const known = await selectPayerByAddress(db, wallet);
  return known ?? db.transaction((tx) => createPayer(tx, wallet));
}
