import { createHmac } from 'node:crypto';
import {
  equalInConstantTime,
  hashSecret,
  isSecret,
  keysOf,
  newSecret,
} from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { HOUR_MS, MINUTE_MS } from '#core/durations.ts';
import { newId } from '#core/ids.ts';
import type { Tx } from '#db/database.ts';
import { redactOwn } from '#observability/redact.ts';
import type { PeopleDeps, Visit } from '#people/people-context.ts';
import { keepFactors } from '#people/second-factor-queries.ts';
import {
  type SessionRow,
  selectSession,
  sessions,
  updateSeen,
  updateStrength,
  updateToken,
} from '#people/session-queries.ts';
import type { Realm } from '#people/user-queries.ts';

/**
 * Lifetimes of sessions. Merchants return every day; staff control the whole network, so they sign
 * in for each shift.
 */
const LIFETIME: Record<Realm, { readonly totalMs: number; readonly idleMs: number }> = {
  merchant: { totalMs: 14 * 24 * HOUR_MS, idleMs: 24 * HOUR_MS },
  operator: { totalMs: 12 * HOUR_MS, idleMs: HOUR_MS },
};
/** Lifetime of a session that waits for its second factor. */
const PASSWORD_LEVEL_MS = 10 * MINUTE_MS;
/**
 * Time between token rotations. While the owner is active, a stolen token is useful for about this
 * long.
 */
const ROTATE_EVERY_MS = HOUR_MS;
/**
 * After the first use of the new token, the previous one stays valid this long for requests in
 * flight.
 */
const ROTATION_GRACE_MS = MINUTE_MS;
/** Minimum time between updates of `last_seen_at`, so that not every request costs a write. */
const SEEN_EVERY_MS = MINUTE_MS;
/** A session's ID, its token and its end. Only the token's hash is stored. */
export interface OpenedSession {
  readonly sessionId: string;
  readonly token: string;
  readonly expiresAt: Date;
}

export async function openSession(
  tx: Tx,
  opening: {
    readonly userId: string;
    readonly realm: Realm;
    readonly level: 'password' | 'full';
    readonly secondFactorAt: Date | null;
    readonly visit: Visit;
  },
): Promise<OpenedSession> {
  const { visit, level } = opening;
  const token = newSecret('session', tx.cell);
  const id = newId('session', visit.now);
  const lifetime = level === 'full' ? LIFETIME[opening.realm].totalMs : PASSWORD_LEVEL_MS;
  const expiresAt = addMs(visit.now, lifetime);
  await sessions.insert(tx, {
    id,
    user_id: opening.userId,
    hash: hashSecret(token),
    level,
    second_factor_at: opening.secondFactorAt,
    address: visit.address,
    user_agent: redactOwn(visit.userAgent).slice(0, 300),
    rotated_at: visit.now,
    created: visit.now,
    last_seen_at: visit.now,
    expires_at: expiresAt,
  });
  if (opening.secondFactorAt !== null) await keepFactors(tx, opening.userId);
  return { sessionId: id, token, expiresAt };
}

/**
 * Records a verified second factor: the session gets full rights and a new token; the old one
 * becomes invalid.
 */
export async function strengthenSession(
  tx: Tx,
  proof: {
    readonly sessionId: string;
    readonly userId: string;
    readonly realm: Realm;
    readonly now: Date;
  },
): Promise<OpenedSession> {
  const token = newSecret('session', tx.cell);
  const expiresAt = addMs(proof.now, LIFETIME[proof.realm].totalMs);
  await updateStrength(tx, {
    id: proof.sessionId,
    hash: hashSecret(token),
    now: proof.now,
    expiresAt,
  });
  await keepFactors(tx, proof.userId);
  return { sessionId: proof.sessionId, token, expiresAt };
}

/** True if the session is valid at `now` with the token by which it was found. */
function isOpen(row: SessionRow, now: Date): boolean {
  if (row.user_status !== 'active' || row.expires_at <= now) return false;
  if (addMs(row.last_seen_at, LIFETIME[row.realm].idleMs) <= now) return false;
  if (row.is_current || row.rotation_seen_at === null) return true;
  return addMs(row.rotation_seen_at, ROTATION_GRACE_MS) > now;
}

export interface FoundSession {
  readonly row: SessionRow;
  /** The new token, if the token has just been rotated. */
  readonly rotated: OpenedSession | null;
}

async function noteUse(deps: PeopleDeps, row: SessionRow, now: Date): Promise<void> {
  const rotationSeen = row.is_current && row.has_previous && row.rotation_seen_at === null;
  if (!rotationSeen && addMs(row.last_seen_at, SEEN_EVERY_MS) > now) return;
  await updateSeen(deps.db, { id: row.id, now, rotationSeen });
}

async function rotate(deps: PeopleDeps, row: SessionRow, now: Date): Promise<OpenedSession | null> {
  if (row.level !== 'full' || addMs(row.rotated_at, ROTATE_EVERY_MS) > now) return null;
  const token = newSecret('session', deps.db.cell);
  const change = { id: row.id, from: row.rotated_at, hash: hashSecret(token), now };
  if (!(await updateToken(deps.db, change))) return null;
  return { sessionId: row.id, token, expiresAt: row.expires_at };
}

/**
 * Returns the session of a token, with its user's role in the account. Records its use, and rotates
 * the token once an hour. The old token stays valid until the new one is used, so that a lost
 * response does not sign the user out.
 */
export async function findSession(
  deps: PeopleDeps,
  input: {
    readonly token: string;
    readonly realm: Realm;
    readonly accountId: string | null;
    readonly organizationId: string | null;
    readonly livemode: boolean;
    readonly now: Date;
  },
): Promise<FoundSession | null> {
  if (!isSecret('session', input.token)) return null;
  const row = await selectSession(deps.db, { ...input, hash: hashSecret(input.token) });
  if (row === undefined || row.realm !== input.realm || !isOpen(row, input.now)) return null;
  await noteUse(deps, row, input.now);
  return { row, rotated: await rotate(deps, row, input.now) };
}

/**
 * Returns the value that pages send in the Csrf-Token header. It is bound to the session and
 * survives token rotations. Other sites can neither read nor compute it.
 */
export function csrfToken(secretKey: Buffer, sessionId: string): string {
  return createHmac('sha256', secretKey).update(`csrf ${sessionId}`).digest('base64url');
}

export function isCsrfToken(secretKey: Buffer, sessionId: string, token: string): boolean {
  return keysOf(secretKey).some((key) => {
    const expected = Buffer.from(csrfToken(key, sessionId));
    return equalInConstantTime(expected, Buffer.from(token));
  });
}
