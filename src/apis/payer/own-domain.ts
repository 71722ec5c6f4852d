/** Host names of the local machine. */
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;

/**
 * Accepts a sign-in message only if it names this service: the configured public address, or else
 * this machine. Ignores the request's Host header, which an attacker controls who relays a message
 * signed for another site.
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
