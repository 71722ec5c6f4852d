const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;

/**
 * Returns a function that accepts the domain in a sign-in message only if it belongs to this
 * service: the configured public address, or this machine. It ignores the request's Host header,
 * because an attacker who relays a message that was signed for another site controls it.
 */
export function createDomainCheck(
  publicUrl: string | null,
  lan: { readonly host: string; readonly port: number } | null = null,
): (domain: string) => boolean {
  if (publicUrl === null) {
    const onLan = lan === null ? null : `${lan.host}:${lan.port}`;
    return (domain) => LOOPBACK.test(domain) || domain === onLan;
  }
  const { host } = new URL(publicUrl);
  return (domain) => domain === host;
}
