import type { Json } from '#core/canonical-json.ts';

/** Replaces the masked part of a secret. A prefix, which names the secret's kind, is kept. */
const LEFT = '…';
/** Shorter values are not masked, because they also occur in ordinary text. */
const MIN_SECRET_LENGTH = 6;

/** Matches our own secrets, whose prefix identifies their kind. */
const OWN = /(tl[a-z]{2}_(?:test_|live_)?|nfc_|agt_|whsec_)[0-9A-Za-z+/=]{8,}/g;
const ONE_OF_OWN = new RegExp(OWN.source);
/** Matches the data that a card adds to its URL at a tap: `…/card/<id>?p=…&c=…`. */
const CARD_TAP = /([?&][pc]=)[0-9A-Fa-f]{16,}/g;
/** Matches a pass with its current code: `pass_….12345678`. */
const ROTATING_CODE = /\b(pass_[0-9A-Za-z]{10,})\.\d{8}\b/g;
/** Matches credentials in a header: `Authorization: Bearer …`, `Basic …`. */
const AUTHORIZATION = /\b(Bearer|Basic) [A-Za-z0-9+/=._~-]{6,}/gi;
/** Matches the password in `postgresql://user:password@host`. The user name is kept. */
const USER_INFO = /(:\/\/[^\s/:@"]*):[^\s/@"]+@/g;
/** Matches secrets in the query of a URL: `?token=…`, `&api_key=…`. */
const IN_QUERY = /([?&](?:token|key|api_?key|secret|signature|password|code)=)[^\s&"\\]+/gi;

/** Masks our own secrets in text that a caller sends and the service stores. */
export function redactOwn(text: string): string {
  const left = text.search(ONE_OF_OWN) < 0 ? text : text.replaceAll(OWN, `$1${LEFT}`);
  return left.replaceAll(CARD_TAP, `$1${LEFT}`).replaceAll(ROTATING_CODE, `$1.${LEFT}`);
}

/** Masks our own secrets in every string of a value, including the names of members. */
export function redactJson(value: Json): Json {
  if (typeof value === 'string') return redactOwn(value);
  if (Array.isArray(value)) return value.map(redactJson);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [redactOwn(key), redactJson(member)]),
  );
}

/**
 * Masks secrets: our own formats, credentials in URLs and headers, and the secrets in `secrets`.
 * This is only the last safeguard; code must not log secrets in the first place.
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  let left = text;
  for (const secret of secrets) {
    if (secret.length >= MIN_SECRET_LENGTH) left = left.replaceAll(secret, LEFT);
  }
  return redactOwn(left)
    .replace(AUTHORIZATION, `$1 ${LEFT}`)
    .replace(USER_INFO, `$1:${LEFT}@`)
    .replace(IN_QUERY, `$1${LEFT}`);
}
