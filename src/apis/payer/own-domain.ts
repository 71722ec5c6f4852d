/** A host name that only this machine has. */
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;

/**
 * Whether a sign-in message names us: the public address where one is configured, else this
 * machine. Never the request's own Host header: an attacker who relays a message that was signed
 * for another site chooses that.
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
