import { createHash } from 'node:crypto';
import { type Refusal, refuse } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { type ChallengePurpose, insertChallenge, takeChallenge } from '#people/passkey-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import type { Realm } from '#people/user-queries.ts';

/** Lifetime of a challenge: long enough to find the security key or the phone. */
const CHALLENGE_MS = 5 * 60_000;

export function passkeyRefused(): Refusal {
  return refuse('sign_in_failed', 'This passkey could not be verified. Start again.');
}

function hashChallenge(challenge: string): Buffer {
  return createHash('sha256').update(challenge).digest();
}

/** Returns the challenge in a browser's response; `null` if the response is malformed. */
function challengeOf(clientDataJSON: string): string | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
    const isObject = typeof data === 'object' && data !== null && 'challenge' in data;
    return isObject && typeof data.challenge === 'string' ? data.challenge : null;
  } catch {
    return null;
  }
}

interface Ceremony {
  readonly realm: Realm;
  readonly purpose: ChallengePurpose;
  readonly userId: string | null;
  readonly now: Date;
}

export async function remember(
  deps: PeopleDeps,
  challenge: string,
  ceremony: Ceremony,
): Promise<void> {
  const expiresAt = addMs(ceremony.now, CHALLENGE_MS);
  await insertChallenge(deps.db, { ...ceremony, hash: hashChallenge(challenge), expiresAt });
}

/**
 * Consumes and returns the challenge if it has not expired and this service issued it for this
 * ceremony and user.
 */
export async function recall(
  deps: PeopleDeps,
  clientDataJSON: string,
  ceremony: Ceremony,
): Promise<string | null> {
  const challenge = challengeOf(clientDataJSON);
  if (challenge === null) return null;
  const taken = await takeChallenge(deps.db, { ...ceremony, hash: hashChallenge(challenge) });
  return taken !== undefined && taken.user_id === ceremony.userId ? challenge : null;
}
