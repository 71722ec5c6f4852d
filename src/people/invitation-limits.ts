import type { Refusal } from '#core/answer.ts';
import type { Sql } from '#db/database.ts';
import { type Allowance, emailBucket, takeAttempt } from '#people/attempts.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A shop hires a few people on one day; a relay for spam wants hundreds. */
const PER_INVITER: Allowance = { attempts: 20, windowMs: HOUR_MS };
const PER_ACCOUNT: Allowance = { attempts: 30, windowMs: DAY_MS };
/** Invitations to one mailbox, from anyone: counted over all accounts. */
const PER_MAILBOX: Allowance = { attempts: 5, windowMs: DAY_MS };
/** The whole network: what is above is an attack on our own standing with mail servers. */
const PER_DAY: Allowance = { attempts: 5_000, windowMs: DAY_MS };

/** Counts an invitation against everything that it could be too many for. */
export async function takeInvitationAttempts(
  sql: Sql,
  wanted: {
    readonly accountId: string;
    readonly inviter: string;
    readonly email: string;
    readonly now: Date;
  },
): Promise<Refusal | null> {
  const { now } = wanted;
  const counts: [string, Allowance][] = [
    [`invitations by ${wanted.inviter}`, PER_INVITER],
    [`invitations of ${wanted.accountId}`, PER_ACCOUNT],
    [emailBucket('invitations to', 'merchant', wanted.email), PER_MAILBOX],
    ['invitations in all', PER_DAY],
  ];
  for (const [bucket, allowance] of counts) {
    const tooMany = await takeAttempt(sql, bucket, { allowance, now });
    if (tooMany !== null) return tooMany;
  }
  return null;
}
