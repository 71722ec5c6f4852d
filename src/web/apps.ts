import type { Feature } from '#core/permissions-policy.ts';

/**
 * The readers of an app. A shop's customers get the language of their browser, or else the shop's.
 * Owners of a screen, such as a shop's staff or a wallet's owner, get the browser's language and
 * can switch it. Apps without translations are English.
 */
export type Readers = 'customers' | 'owners' | 'english';

/** The page of each path. `*`: the app itself handles the rest of the path. */
export interface WebApp {
  readonly name: string;
  readonly paths: readonly string[];
  /** The built page. */
  readonly page: string;
  readonly readers: Readers;
  /** Windows whose address has this parameter face customers. */
  readonly customersAt?: string;
  /** True if it can be installed, because it has a service worker at `/<name>/worker.js`. */
  readonly installable: boolean;
  /** The browser features that its page uses. */
  readonly uses?: readonly Feature[];
  /** True if only sandboxes have this app. */
  readonly sandboxOnly?: boolean;
  /**
   * True if the page is never cached, because its content must be current and its address can
   * expire.
   */
  readonly unkept?: boolean;
}

/**
 * For sign-in, second factors, wallet keys, and chips that a till reads through the security-key
 * dialog.
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
