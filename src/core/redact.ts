/** What is left of a secret: enough to know which kind stood there. */
const LEFT = '…';
/** Shorter values occur in ordinary words too. */
const MIN_SECRET_LENGTH = 6;

/** Secrets of ours: their prefix says enough. */
const OWN = /(tl[a-z]{2}_(?:test_|live_)?|nfc_|agt_|whsec_)[0-9A-Za-z+/=]{8,}/g;
const ONE_OF_OWN = new RegExp(OWN.source);
/** Credentials in a header: `Authorization: Bearer …`, `Basic …`. */
const AUTHORIZATION = /\b(Bearer|Basic) [A-Za-z0-9+/=._~-]{6,}/gi;
/** `postgresql://user:password@host`; the name of the user stays. */
const USER_INFO = /(:\/\/[^\s/:@"]*):[^\s/@"]+@/g;
/** A link that gives its holder some right: `?token=…`, `&api_key=…`. */
const IN_QUERY = /([?&](?:token|key|api_?key|secret|signature|password|code)=)[^\s&"\\]+/gi;

/** A text without secrets of ours, for what callers send and we keep. */
export function redactOwn(text: string): string {
  return text.search(ONE_OF_OWN) < 0 ? text : text.replaceAll(OWN, `$1${LEFT}`);
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
