import type { Json } from '#core/canonical-json.ts';

/** What is left of a secret: enough to know which kind stood there. */
const LEFT = '…';
/** Shorter values occur in ordinary words too. */
const MIN_SECRET_LENGTH = 6;

/** Secrets of ours: their prefix says enough. */
const OWN = /(tl[a-z]{2}_(?:test_|live_)?|nfc_|agt_|whsec_)[0-9A-Za-z+/=]{8,}/g;
const ONE_OF_OWN = new RegExp(OWN.source);
/** What a card put into its address at a tap: `…/card/<id>?p=…&c=…`. */
const CARD_TAP = /([?&][pc]=)[0-9A-Fa-f]{16,}/g;
/** A pass and its code of this moment: `pass_….12345678`. */
const ROTATING_CODE = /\b(pass_[0-9A-Za-z]{10,})\.\d{8}\b/g;
/** Credentials in a header: `Authorization: Bearer …`, `Basic …`. */
const AUTHORIZATION = /\b(Bearer|Basic) [A-Za-z0-9+/=._~-]{6,}/gi;
/** `postgresql://user:password@host`; the name of the user stays. */
const USER_INFO = /(:\/\/[^\s/:@"]*):[^\s/@"]+@/g;
/** A link that gives its holder some right: `?token=…`, `&api_key=…`. */
const IN_QUERY = /([?&](?:token|key|api_?key|secret|signature|password|code)=)[^\s&"\\]+/gi;

/** A text without secrets of ours, for what callers send and we keep. */
export function redactOwn(text: string): string {
  const left = text.search(ONE_OF_OWN) < 0 ? text : text.replaceAll(OWN, `$1${LEFT}`);
  return left.replaceAll(CARD_TAP, `$1${LEFT}`).replaceAll(ROTATING_CODE, `$1.${LEFT}`);
}

/** The same for every text in a value. */
export function redactJson(value: Json): Json {
  if (typeof value === 'string') return redactOwn(value);
  if (Array.isArray(value)) return value.map(redactJson);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [redactOwn(key), redactJson(member)]),
  );
}

/**
 * A text without secrets: what looks like one of ours, what links and headers carry, and the values
 * that this process was given. The last guard, not the first: nobody should log them at all.
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
