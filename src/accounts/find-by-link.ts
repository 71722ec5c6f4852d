import {
  addressBucket,
  giveBackAttempt,
  LINKS_PER_ADDRESS,
  takeAttempt,
} from '#accounts/attempts.ts';
import { linkRefused } from '#accounts/email-links.ts';
import type { Visit } from '#accounts/people.ts';
import type { Refusal } from '#core/refusal.ts';
import type { Sql } from '#db/database.ts';

/**
 * What a mailed link is about, before anything slow is done for whoever shows it. A look-up that
 * finds nothing counts against the address.
 */
export async function findByLink<T>(
  sql: Sql,
  of: { readonly visit: Pick<Visit, 'address' | 'now'>; readonly isLink: boolean },
  look: () => Promise<T | undefined>,
): Promise<T | Refusal> {
  const { address, now } = of.visit;
  const bucket = addressBucket('link', address);
  const tooMany = await takeAttempt(sql, bucket, { allowance: LINKS_PER_ADDRESS, now });
  if (tooMany !== null) return tooMany;
  const found = of.isLink ? await look() : undefined;
  if (found === undefined) return linkRefused();
  await giveBackAttempt(sql, bucket);
  return found;
}
