import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';

export interface PeopleDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  /** 32 bytes. Encrypts TOTP secrets, documents and queued mail; signs CSRF and device tokens. */
  readonly secretKey: Buffer;
  /** The public origin of the web apps, without a trailing slash. Links in mails start with it. */
  readonly webUrl: string;
  /**
   * Delay until a factor that was set up with the password alone is trusted, in milliseconds; 0 in
   * a sandbox.
   */
  readonly factorAgeMs: number;
  readonly passkeys: {
    /** The domain that passkeys belong to, and its name in authenticators. */
    readonly rpId: string;
    readonly rpName: string;
    /** Origins of the web apps, as browsers write them. */
    readonly origins: readonly string[];
  };
}

/** The dependencies for mails that contain links. */
export type Mailing = Pick<PeopleDeps, 'secretKey' | 'webUrl'>;

export interface Visit {
  readonly address: string;
  readonly userAgent: string;
  readonly now: Date;
}

/** The topic that wakes the mail worker. */
export const MAIL_TOPIC = 'mail';
