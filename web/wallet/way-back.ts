/** Kept for this window: a wallet is made over several screens. */
const NAME = 'tapline.wallet.back';
/** Nothing but a payment of this site: a link must not lead anywhere else. */
const PAYMENT = /^pay\/[0-9A-Za-z]{22,40}$/;

/** The payment that somebody left to make a wallet; null: they came for the wallet. */
export function wayBack(): string | null {
  const asked = new URLSearchParams(location.search).get('back');
  if (asked !== null && PAYMENT.test(asked)) sessionStorage.setItem(NAME, asked);
  const kept = sessionStorage.getItem(NAME);
  return kept !== null && PAYMENT.test(kept) ? kept : null;
}

export function forgetWayBack(): void {
  sessionStorage.removeItem(NAME);
}
