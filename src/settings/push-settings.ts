import { createECDH } from 'node:crypto';
import { StartError } from '#core/start-error.ts';

/** The keys that identify this service to push services (RFC 8292). */
export interface PushSettings {
  /** 32 bytes: the scalar of a P-256 key. */
  readonly privateKey: Buffer;
  /** The uncompressed point, 65 bytes. Browsers subscribe with this key. */
  readonly publicKey: Buffer;
  /** A contact for the push services: `mailto:…` or `https://…`. */
  readonly subject: string;
}

const PUSH_SETTINGS = ['VAPID_PRIVATE_KEY', 'VAPID_SUBJECT'] as const;

const KEY_BYTES = 32;

function publicKeyOf(privateKey: Buffer): Buffer {
  const wrong = 'VAPID_PRIVATE_KEY must be 32 bytes in base64url: see docs/configure.md';
  if (privateKey.length !== KEY_BYTES) throw new StartError(wrong);
  const curve = createECDH('prime256v1');
  try {
    curve.setPrivateKey(privateKey);
    return curve.getPublicKey();
  } catch (cause) {
    throw new StartError(wrong, { cause });
  }
}

/**
 * Matches names of RFC 6761 and RFC 6762, and common internal names. Push services cannot reach
 * these.
 */
const LOCAL = /(^|\.)(localhost|local|internal|intranet|lan|home|invalid|test|onion|arpa)$/;
/** Matches a domain: labels of letters, digits and hyphens; the last label is not a number. */
const DOMAIN = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])$/;

/** True if push services accept the contact (RFC 8292 2.1; Apple is strictest). */
function isReachable(subject: string): boolean {
  const [, mail] = /^mailto:[^\s@<>,?]+@([^\s@<>,?]+)$/.exec(subject) ?? [];
  const isWeb = /^https:\/\/[^\s@]+$/.test(subject) && URL.canParse(subject);
  const domain = mail ?? (isWeb ? new URL(subject).hostname : '');
  return DOMAIN.test(domain.toLowerCase()) && !LOCAL.test(domain.toLowerCase());
}

/** Reads the push settings; `null` if notifications are off. @throws StartError */
export function readPushSettings(
  read: (name: (typeof PUSH_SETTINGS)[number]) => string | null,
): PushSettings | null {
  const [key, subject] = PUSH_SETTINGS.map(read);
  if (key == null && subject == null) return null;
  if (key == null || subject == null) {
    throw new StartError('set both VAPID_PRIVATE_KEY and VAPID_SUBJECT, or neither');
  }
  if (!isReachable(subject)) {
    throw new StartError(
      'VAPID_SUBJECT must be mailto:… or https://… at a public domain, such as ' +
        'mailto:ops@example.com: push services refuse localhost and addresses without a domain',
    );
  }
  const privateKey = Buffer.from(key, 'base64url');
  return { privateKey, publicKey: publicKeyOf(privateKey), subject };
}
