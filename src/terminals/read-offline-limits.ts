import { readLimit } from '#accounts/read-limit.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import type { Tx } from '#db/database.ts';
import {
  type OfflineLimits,
  type PresentmentLimits,
  type StoredLimits,
  type SumLimit,
  USUAL_MARGIN,
} from '#terminals/offline-limits.ts';

/** Limits as an admin sets them: three sums in atoms, or all three in the shop's currency. */
export type AskedLimits = Pick<OfflineLimits, 'count' | 'hours'> &
  Partial<Pick<OfflineLimits, SumLimit | 'presentment' | 'rate_margin'>>;

const SUMS = ['per_payment', 'per_card_per_day', 'total'] as const;

function isInAtoms(asked: AskedLimits): asked is AskedLimits & Pick<OfflineLimits, SumLimit> {
  return SUMS.every((name) => asked[name] !== undefined);
}

interface LimitsPlace {
  readonly accountId: string;
  /** The stored limits. Those that a request repeats keep their worth in atoms. */
  readonly before: StoredLimits | null;
}

/** Returns what limits in the shop's currency are worth in atoms. */
async function worthOf(
  tx: Tx,
  { accountId, before }: LimitsPlace,
  presentment: PresentmentLimits,
): Promise<Pick<OfflineLimits, SumLimit> | Refusal> {
  const { currency } = presentment;
  const stored = before?.presentment ?? null;
  const worth: Partial<Record<SumLimit, number>> = {};
  for (const name of SUMS) {
    const inShop = stored && { currency: stored.currency, amount: stored[name] };
    const limit = await readLimit(
      tx,
      { currency, amount: presentment[name] },
      {
        ...{ accountId, param: 'offline.presentment', most: Number.MAX_SAFE_INTEGER },
        before: before && { atoms: BigInt(before[name]), inShop },
      },
    );
    if (isRefusal(limit)) return limit;
    worth[name] = Number(limit.atoms);
  }
  return worth as Record<SumLimit, number>;
}

/** Returns the limits to store. Refuses sums that are given in both forms, or in neither. */
export async function readOfflineLimits(
  tx: Tx,
  place: LimitsPlace,
  asked: AskedLimits,
): Promise<OfflineLimits | Refusal> {
  const { count, hours, presentment = null, rate_margin = USUAL_MARGIN } = asked;
  const rest = { count, hours, presentment, rate_margin };
  if (presentment === null && isInAtoms(asked)) {
    const { per_payment, per_card_per_day, total } = asked;
    return { per_payment, per_card_per_day, total, ...rest };
  }
  if (presentment === null || SUMS.some((name) => asked[name] !== undefined)) {
    const param = 'offline';
    return refuse(
      'parameter_invalid',
      `${param} takes per_payment, per_card_per_day and total in USDC atoms, or the three in ` +
        'presentment in the shop’s currency.',
      param,
    );
  }
  const worth = await worthOf(tx, place, presentment);
  return isRefusal(worth) ? worth : { ...worth, ...rest };
}
