import { hashSecret, isSecret, newSecret } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Sql } from '#db/database.ts';
import { redactOwn } from '#observability/redact.ts';
import { deviceName, placeOf } from '#people/device-names.ts';
import {
  deleteDevicesBeyond,
  selectIsKnownDevice,
  updateDeviceUsed,
} from '#people/device-queries.ts';
import { queueMail } from '#people/mail-outbox.ts';
import type { PeopleDeps, Visit } from '#people/people-context.ts';
import { knownDevices } from '#people/personal-data-queries.ts';
import type { Realm } from '#people/user-queries.ts';

/** A device is remembered for this long after its last sign-in. */
export const DEVICE_MS = 180 * DAY_MS;
/** More devices than one person uses. Beyond this, the least recently used one is deleted. */
const MAX_DEVICES = 20;
const USER_AGENT_LENGTH = 300;

/**
 * Returns the device's own bucket of attempts if this person has signed in on it, otherwise `null`.
 */
export async function knownDevice(
  sql: Sql,
  token: string | null,
  person: { readonly realm: Realm; readonly email: string; readonly now: Date },
): Promise<string | null> {
  if (token === null || !isSecret('knownDevice', token)) return null;
  const hash = hashSecret(token);
  if (!(await selectIsKnownDevice(sql, { ...person, hash }))) return null;
  return `device ${hash.toString('base64url')}`;
}

/**
 * Remembers the device on which a person has signed in, and emails the person if it is new.
 * @returns the device's token, which stays the same for a known device.
 */
export async function rememberDevice(
  people: PeopleDeps,
  seen: {
    readonly userId: string;
    readonly email: string;
    readonly token: string | null;
    readonly visit: Visit;
    /** False if the person has just chosen a password, because that change sends a mail anyway. */
    readonly alert: boolean;
  },
): Promise<string> {
  const { userId, token, visit } = seen;
  const { now, address } = visit;
  const expiresAt = addMs(now, DEVICE_MS);
  const kept = await people.db.transaction(async (tx) => {
    if (token !== null && isSecret('knownDevice', token)) {
      const used = { hash: hashSecret(token), userId, address, now, expiresAt };
      if (await updateDeviceUsed(tx, used)) return token;
    }
    const fresh = newSecret('knownDevice');
    await knownDevices.insert(tx, {
      hash: hashSecret(fresh),
      user_id: userId,
      user_agent: redactOwn(visit.userAgent).slice(0, USER_AGENT_LENGTH),
      address,
      created: now,
      last_used_at: now,
      expires_at: expiresAt,
    });
    await deleteDevicesBeyond(tx, { userId, keep: MAX_DEVICES });
    if (seen.alert) await queueMail(tx, people.secretKey, signInAlert(seen.email, visit));
    return fresh;
  });
  return kept;
}

function signInAlert(to: string, visit: Visit) {
  return {
    to,
    subject: 'A new sign-in to Tapline',
    text:
      'Your account was used to sign in on a new device:\n\n' +
      `${deviceName(visit.userAgent)}\n${placeOf(visit.address)}\n${visit.now.toISOString()}\n\n` +
      'If it was not you, sign out everywhere and choose a new password now.\n',
    now: visit.now,
  };
}
