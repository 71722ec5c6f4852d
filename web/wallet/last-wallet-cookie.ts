/**
 * Cookie with the last digits of the wallet that last signed in with this browser. The service sets
 * it: Safari deletes a site's script-written storage after seven days without a visit, but keeps
 * server-set cookies.
 */
const COOKIE = 'tapline_wallet_end';

/** Reads the cookie. @returns `null` if no wallet has signed in. */
export function heldWallet(): string | null {
  const cookie = document.cookie.split('; ').find((one) => one.startsWith(`${COOKIE}=`));
  return cookie?.slice(COOKIE.length + 1) || null;
}

/** Deletes the cookie when the owner removes the wallet from this browser. */
export function forgetHeldWallet(): void {
  document.cookie = `${COOKIE}=; Path=/; Max-Age=0; SameSite=Strict`;
}
