/**
 * The last digits of the wallet that signed in last in this browser. The service sets this cookie:
 * Safari deletes what scripts have stored when a site was not used for seven days, and keeps
 * cookies of the server.
 */
const COOKIE = 'tapline_wallet_end';

/** @returns null where no wallet has signed in. */
export function heldWallet(): string | null {
  const found = document.cookie.split('; ').find((one) => one.startsWith(`${COOKIE}=`));
  return found?.slice(COOKIE.length + 1) || null;
}

/** Its owner has taken it out of this browser. */
export function forgetHeldWallet(): void {
  document.cookie = `${COOKIE}=; Path=/; Max-Age=0; SameSite=Strict`;
}
