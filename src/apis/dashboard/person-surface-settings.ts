import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { webUrlOf } from '#core/web-url.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { FACTOR_AGE_MS } from '#people/new-factor-delay.ts';
import type { Realm } from '#people/user-queries.ts';

export interface PeopleSettings {
  readonly db: Database;
  readonly wakeups: Wakeups;
  /**
   * A 32-byte key for this purpose only. Encrypts TOTP secrets, documents and queued mail; signs
   * CSRF tokens.
   */
  readonly secretKey: Buffer;
  /**
   * The public URL of the service; `null` on a developer's machine, where any address works over
   * http.
   */
  readonly publicUrl: string | null;
  readonly port: number;
  /** True in a sandbox, where a second factor is trusted immediately. */
  readonly isSandbox: boolean;
}

const PASSKEY_NAME = 'Tapline';

/**
 * Passkeys belong to the domain of the public URL, or otherwise to `localhost`: browsers allow no
 * passkeys for an IP address.
 */
export function surfaceSettings(settings: PeopleSettings, realm: Realm): SurfaceSettings {
  const { db, wakeups, secretKey, publicUrl, port } = settings;
  const origin = publicUrl === null ? `http://localhost:${port}` : new URL(publicUrl).origin;
  const webUrl = webUrlOf(settings);
  const factorAgeMs = settings.isSandbox ? 0 : FACTOR_AGE_MS;
  const passkeys = { rpId: new URL(origin).hostname, rpName: PASSKEY_NAME, origins: [origin] };
  return {
    people: { db, wakeups, secretKey, webUrl, factorAgeMs, passkeys },
    cookies: { realm, secure: origin.startsWith('https:') },
    anyOwnHost: publicUrl === null,
  };
}
