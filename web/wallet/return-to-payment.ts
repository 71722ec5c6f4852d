/**
 * Storage key of the payment to return to. Kept for this window, because creating a wallet takes
 * several screens.
 */
const NAME = 'tapline.wallet.back';
/**
 * Matches payment pages of this site. Other paths are refused, so that a link cannot redirect
 * elsewhere.
 */
const PAYMENT = /^pay\/[0-9A-Za-z]{22,40}$/;

/** Returns the payment page that the user left to create a wallet, or `null`. */
export function wayBack(): string | null {
  const path = new URLSearchParams(location.search).get('back');
  if (path !== null && PAYMENT.test(path)) sessionStorage.setItem(NAME, path);
  const kept = sessionStorage.getItem(NAME);
  return kept !== null && PAYMENT.test(kept) ? kept : null;
}

export function forgetWayBack(): void {
  sessionStorage.removeItem(NAME);
}
