/**
 * Storage key of the payment to return to. It is stored for this window, because creating a wallet
 * takes several screens.
 */
const NAME = 'tapline.wallet.back';
/**
 * Matches payments of this site. Nothing else is allowed, so that a link cannot redirect elsewhere.
 */
const PAYMENT = /^pay\/[0-9A-Za-z]{22,40}$/;

/** Returns the payment that the user left in order to create a wallet, or `null`. */
export function wayBack(): string | null {
  const asked = new URLSearchParams(location.search).get('back');
  if (asked !== null && PAYMENT.test(asked)) sessionStorage.setItem(NAME, asked);
  const kept = sessionStorage.getItem(NAME);
  return kept !== null && PAYMENT.test(kept) ? kept : null;
}

export function forgetWayBack(): void {
  sessionStorage.removeItem(NAME);
}
