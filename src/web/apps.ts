import type { Feature } from '#core/permissions-policy.ts';

/** Which page is at which path. `*`: the app decides what it shows there. */
export interface WebApp {
  readonly name: string;
  readonly paths: readonly string[];
  /** The page that the build made for it. */
  readonly page: string;
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
  { name: 'front', paths: ['/'], page: 'front.html', installable: false },
  {
    name: 'terminal',
    paths: ['/terminal', '/terminal/*'],
    page: 'terminal.html',
    installable: true,
    uses: ['camera', 'screen-wake-lock', 'serial', ...PASSKEYS],
  },
  {
    name: 'wallet',
    paths: ['/wallet', '/wallet/*'],
    page: 'wallet.html',
    installable: true,
    uses: PASSKEYS,
  },
  {
    name: 'dashboard',
    paths: ['/dashboard', '/dashboard/*'],
    page: 'dashboard.html',
    installable: false,
    uses: PASSKEYS,
  },
  {
    name: 'operator',
    paths: ['/operator', '/operator/*'],
    page: 'operator.html',
    installable: false,
    uses: PASSKEYS,
  },
  { name: 'pay', paths: ['/pay/*'], page: 'pay.html', installable: false },
  { name: 'tag', paths: ['/t/*'], page: 'tag.html', installable: false, unkept: true },
  { name: 'receipt', paths: ['/receipts/*'], page: 'receipt.html', installable: false },
  {
    name: 'solvency',
    paths: ['/solvency', '/solvency.json'],
    page: 'solvency.html',
    installable: false,
  },
  { name: 'contract', paths: ['/contract'], page: 'contract.html', installable: false },
  { name: 'ui', paths: ['/dev/ui'], page: 'ui.html', installable: false, sandboxOnly: true },
];
