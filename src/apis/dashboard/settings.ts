import type { SurfaceSettings } from '#apis/dashboard/surface.ts';
import { webUrlOf } from '#core/web-url.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { FACTOR_AGE_MS } from '#people/factor-trust.ts';
import type { Realm } from '#people/user-queries.ts';

export interface PeopleSettings {
  readonly db: Database;
  readonly wakeups: Wakeups;
  /** 32 bytes, of this purpose only: TOTP secrets, documents, waiting mail, CSRF tokens. */
  readonly secretKey: Buffer;
  /** null: this machine, over http, whatever its address. */
  readonly publicUrl: string | null;
  readonly port: number;
  /** A second factor counts at once there. */
  readonly isSandbox: boolean;
}

const PASSKEY_NAME = 'Tapline';

/**
 * How one realm's people reach the service. Passkeys belong to the public address' domain; without
 * one to `localhost`, because browsers give none to an IP address.
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
