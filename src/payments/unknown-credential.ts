import { addMs } from '#core/clock.ts';
import type { Sql } from '#db/database.ts';
import { PASS_CODE_KEPT_MS } from '#payers/create-pass-code.ts';
import { credentialKey, kindOf, type Presented } from '#payments/credential.ts';
import type { Decline } from '#payments/decline-codes.ts';
import { selectLossesSince } from '#settlement/network-recovery-queries.ts';

export type UnknownDecline = (presented: Presented, livemode: boolean) => Decline;

/**
 * Returns the function that declines unknown credentials. After a data loss, a valid code from the
 * lost period is unknown too. While such a code could still be valid, the decline asks for a new
 * code.
 * @param found Known credentials by {@link credentialKey}.
 */
export async function readUnknownDecline(
  sql: Sql,
  presented: readonly Presented[],
  read: { readonly found: ReadonlyMap<string, unknown>; readonly now: Date },
): Promise<UnknownDecline> {
  const isUnknownCode = (one: Presented) => {
    const key = kindOf(one).isCode === true ? credentialKey(one) : '';
    return key !== '' && !read.found.has(key);
  };
  const losses = presented.some(isUnknownCode)
    ? await selectLossesSince(sql, addMs(read.now, -PASS_CODE_KEPT_MS))
    : [];
  return (one, livemode) =>
    isUnknownCode(one) && losses.includes(livemode) ? 'pass_code_expired' : kindOf(one).unknown;
}
