/** Stored for this window, because creating a wallet takes several screens. */
const NAME = 'tapline.wallet.back';
/** Only payments of this site are allowed, so that a link cannot redirect elsewhere. */
const PAYMENT = /^pay\/[0-9A-Za-z]{22,40}$/;

/** The payment that the user left in order to create a wallet, or `null`. */
export function wayBack(): string | null {
  const asked = new URLSearchParams(location.search).get('back');
  if (asked !== null && PAYMENT.test(asked)) sessionStorage.setItem(NAME, asked);
  const kept = sessionStorage.getItem(NAME);
  return kept !== null && PAYMENT.test(kept) ? kept : null;
}

export function forgetWayBack(): void {
  sessionStorage.removeItem(NAME);
}
