import type { Feature } from '#core/permissions-policy.ts';

/**
 * Who reads an app. Customers of a shop read the language of their browser, or else the shop's.
 * Owners of the screen, such as a shop's staff and the owner of a wallet, read the browser's
 * language and can switch it. What is not translated is English.
 */
export type Readers = 'customers' | 'owners' | 'english';

/** Which page is at which path. `*`: the app decides what it shows there. */
export interface WebApp {
  readonly name: string;
  readonly paths: readonly string[];
  /** The page that the build made for it. */
  readonly page: string;
  readonly readers: Readers;
  /** A window of the app with this parameter in its address faces customers. */
  readonly customersAt?: string;
  /** Can be installed: has a service worker at `/<name>/worker.js`. */
  readonly installable: boolean;
  /** What of the browser's powers its page uses. */
  readonly uses?: readonly Feature[];
  /** Shown by a sandbox only. */
  readonly sandboxOnly?: boolean;
  /** Asked each time, and never kept: what it shows is of this moment, and an address can end. */
  readonly unkept?: boolean;
}

/** For sign-in, second factors, wallet keys, and chips that a till reads as security keys. */
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
