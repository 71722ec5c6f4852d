import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';

/** What the use cases around people and their sessions need of the process. */
export interface PeopleDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  /** 32 bytes: encrypts TOTP secrets, documents and waiting mail, signs CSRF and device tokens. */
  readonly secretKey: Buffer;
  /** Where the web apps live, without a slash at the end: links in mails point there. */
  readonly webUrl: string;
  /** How long a factor waits that was set up with the password alone; 0 in a sandbox. */
  readonly factorAgeMs: number;
  readonly passkeys: {
    /** The domain that passkeys belong to, and how authenticators show it. */
    readonly rpId: string;
    readonly rpName: string;
    /** Origins of the web apps, as browsers spell them. */
    readonly origins: readonly string[];
  };
}

/** Who is at the other end of a request, as far as it can be known. */
export interface Visit {
  readonly address: string;
  readonly userAgent: string;
  readonly now: Date;
}

/** The topic that wakes the mail worker. */
export const MAIL_TOPIC = 'mail';
