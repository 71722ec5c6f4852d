import type { Feature } from '#core/permissions-policy.ts';

/**
 * An app's readers, who determine its language. A shop's customers get their browser's language, or
 * else the shop's. The owner of a screen, such as a shop's staff or a wallet's owner, gets the
 * browser's language and can switch it. Apps without translations are in English.
 */
export type Readers = 'customers' | 'owners' | 'english';

/**
 * An app, and the paths that serve its page. After `*`, the app itself handles the rest of the
 * path.
 */
export interface WebApp {
  readonly name: string;
  readonly paths: readonly string[];
  readonly page: string;
  readonly readers: Readers;
  /** The query parameter that marks windows that customers see. */
  readonly customersAt?: string;
  /** True if it can be installed, because it has a service worker at `/<name>/worker.js`. */
  readonly installable: boolean;
  readonly uses?: readonly Feature[];
  /** True if only sandboxes have this app. */
  readonly sandboxOnly?: boolean;
  /**
   * True if the page must not be cached, because its content must be current and its URL can
   * expire.
   */
  readonly unkept?: boolean;
}

/**
 * Used for sign-in, second factors, wallet keys, and chips that a till reads through the browser's
 * security-key dialog.
 */
const PASSKEYS: readonly Feature[] = ['publickey-credentials-create', 'publickey-credentials-get'];

export const WEB_APPS: readonly WebApp[] = [
  { name: 'front', readers: 'owners', paths: ['/'], page: 'front.html', installable: false },
  {
    name: 'terminal',
    readers: 'owners',
    customersAt: 'display',
    paths: ['/terminal', '/terminal/*'],
    page: 'terminal.html',
    installable: true,
    uses: ['camera', 'screen-wake-lock', 'serial', ...PASSKEYS],
  },
  {
    name: 'wallet',
    readers: 'owners',
    paths: ['/wallet', '/wallet/*'],
    page: 'wallet.html',
    installable: true,
    uses: PASSKEYS,
  },
  {
    name: 'dashboard',
    readers: 'owners',
    paths: ['/dashboard', '/dashboard/*'],
    page: 'dashboard.html',
    installable: false,
    uses: PASSKEYS,
  },
  {
    name: 'operator',
    readers: 'english',
    paths: ['/operator', '/operator/*'],
    page: 'operator.html',
    installable: false,
    uses: PASSKEYS,
  },
  { name: 'pay', readers: 'customers', paths: ['/pay/*'], page: 'pay.html', installable: false },
  {
    name: 'tag',
    readers: 'customers',
    paths: ['/t/*'],
    page: 'tag.html',
    installable: false,
    unkept: true,
  },
  {
    name: 'receipt',
    readers: 'customers',
    paths: ['/receipts/*'],
    page: 'receipt.html',
    installable: false,
  },
  {
    name: 'solvency',
    readers: 'english',
    paths: ['/solvency', '/solvency.json'],
    page: 'solvency.html',
    installable: false,
  },
  {
    name: 'contract',
    readers: 'english',
    paths: ['/contract'],
    page: 'contract.html',
    installable: false,
  },
  {
    name: 'ui',
    readers: 'english',
    paths: ['/dev/ui'],
    page: 'ui.html',
    installable: false,
    sandboxOnly: true,
  },
];
