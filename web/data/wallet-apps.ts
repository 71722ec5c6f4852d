export interface WalletApp {
  readonly name: string;
  /** A universal link that opens the app, or its download page. */
  readonly linkTo: (page: URL) => string;
}

/**
 * Five apps, with the deep links from their makers' documentation (read on 2026-11-23):
 * link.metamask.io/dapp, Coinbase's "Dapp browser" (kept by the Base app), Trust Wallet's "Deep
 * Linking", Phantom's "Browse", OKX's "App Universal Link". The links have not been tested on a
 * phone.
 */
export const WALLET_APPS: readonly WalletApp[] = [
  {
    name: 'MetaMask',
    // MetaMask expects the page's URL without its scheme and assumes https.
    linkTo: ({ host, pathname, search }) =>
      `https://link.metamask.io/dapp/${host}${pathname}${search}`,
  },
  {
    name: 'Base or Coinbase Wallet',
    linkTo: ({ href }) => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(href)}`,
  },
  {
    name: 'Trust Wallet',
    linkTo: ({ href }) =>
      `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(href)}`,
  },
  {
    name: 'Phantom',
    linkTo: ({ href, origin }) =>
      `https://phantom.app/ul/browse/${encodeURIComponent(href)}?ref=${encodeURIComponent(origin)}`,
  },
  {
    name: 'OKX Wallet',
    linkTo: ({ href }) => {
      const inApp = `okx://wallet/dapp/url?dappUrl=${encodeURIComponent(href)}`;
      return `https://web3.okx.com/download?deeplink=${encodeURIComponent(inApp)}`;
    },
  },
];
