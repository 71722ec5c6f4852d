import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vite';
import { textsPlugin } from './texts-plugin.ts';
import {
  CART_ICONS,
  CATALOG_ICONS,
  ICONS,
  PAGE_ICONS,
  TILL_ICONS,
  WALLET_ICONS,
} from './ui/icon-names.ts';
import { iconPaths } from './ui/icon-paths.ts';

/** The service that the development server proxies to. */
const SERVICE = process.env.TAPLINE_WEB_SERVICE ?? 'http://127.0.0.1:4242';

/** Keeps the page's `Host` header, because sessions accept changes only from their own origin. */
const PROXY = { target: SERVICE, changeOrigin: false };

/**
 * Matches modules by folder and name. @throws if a module does not exist, because a group that
 * misses a renamed module splits it off, and first loads grow unnoticed.
 */
function modules(named: Readonly<Record<string, string>>): RegExp {
  const paths = Object.entries(named).flatMap(([folder, names]) =>
    names.split(' ').map((name) => `${folder}/${name}`),
  );
  for (const one of paths) {
    const file = path.join(import.meta.dirname, '..', one);
    const exists = existsSync(`${file}.ts`) || existsSync(`${file}.tsx`);
    if (!exists) throw new Error(`web/vite.config.ts names ${one}, which does not exist`);
  }
  return new RegExp(String.raw`/(?:${paths.join('|')})\.tsx?$`);
}

/** Modules that every app needs. One chunk compresses better than ten. */
const BASE = modules({
  'web/ui':
    'amount button error-boundary field format-price format-usdc icon lazy-part mount notice ' +
    'result-names skeleton skip-link status toast typed-money',
  'web/ui/text': 'jsx-runtime tagged-text',
  'web/data': 'api refusal-text root-path run-within',
});

/** Text functions, also used by pages without React. */
const TEXT = new RegExp(
  [
    String.raw`web/ui/text/(untranslated-parts|text-nodes|t)\.ts$`,
    String.raw`src/i18n/(bidi-isolates|languages|text-format)\.ts$`,
    'icu-minify',
  ].join('|'),
);

/** Modules that a till always needs. */
const TILL = modules({
  'web/terminal':
    'charge page-path split-bill till-currency till-machine till-pages till-phases till-storage ' +
    'till-words',
  'web/terminal/screens': 'find-link lazy-offline lazy-parts not-opened till-icon',
  'web/data': 'device-api',
});

/** Modules of a paired till's readers: many small ones, which compress better as one chunk. */
const READERS = modules({
  'web/terminal/reader': 'chip-commands read-chip-on-iphone read-credential read-nfc',
  'web/terminal/screens': 'chip-prompts use-chip-asks',
});

/**
 * First screen of dashboard and operator console: many small modules, which compress better as one
 * chunk.
 */
const DESK = modules({
  'web/desk':
    'action-button desk-context error-texts factor-context factor-provider filters ' +
    'load-together loaded page-icon short-list sign-in-gate single-task-page use-reads use-send',
  'web/data': 'people-api typed-calls',
  'web/ui': 'empty-drawing history-entry numbers restore-scroll shell',
  'web/ui/font': 'font',
});

/** Modules that most of the merchant's dashboard pages share. */
const MERCHANT = modules({
  'src/core': 'calendar durations size-limited-map',
  'web/dashboard': 'use-merchant',
  'web/dashboard/sessions': 'account-choice',
  'web/dashboard/statistics': 'chart-scale day-bounds labeled-figure use-live-refresh',
  'web/dashboard/payments': 'object-link payment-columns sale-sum sold-text',
  'web/dashboard/webhooks': 'event-types',
  'web/dashboard/payouts': 'step',
  'web/dashboard/terminals': 'terminal-names',
  'web/dashboard/account': 'time-zone',
});

/** First screen of the wallet, used by no other app. */
const WALLET = modules({
  'web/wallet':
    'known-balance passkey-per-payment ring-by-push wallet-context wallet-reads wallet-status',
  'web/wallet/screens':
    'contracts-notice countdown-ring frame loading network-switch problem-notice use-change ' +
    'use-unlocking',
});

const STYLESHEETS = / *<link rel="stylesheet"[^>]*>\n?/g;

/** Moves the base stylesheet first, because it declares the order of the CSS layers. */
function putBaseFirst(html: string): string {
  const links = html.match(STYLESHEETS) ?? [];
  const base = links.find((link) => link.includes('/base-'));
  if (base === undefined) throw new Error('A page has no base.css');
  const sorted = [base, ...links.filter((link) => link !== base)];
  return html.replace(STYLESHEETS, () => sorted.shift() ?? '');
}

function versionIn(file: string): string {
  const text = readFileSync(path.join(import.meta.dirname, file, 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/**
 * Contracts for which the wallet and the pay page sign. A network without an entry is pinned at the
 * first use.
 */
const contracts = readContracts(
  readFileSync(path.join(import.meta.dirname, 'contracts.json'), 'utf8'),
);

function chunks(names: string): RegExp {
  return new RegExp(`/(?:${names.replaceAll(' ', '|')})-`);
}

/** Chunks that a page has already loaded before any dynamic import. */
const LOADED = /\/(?:react|rolldown-runtime|text|base|sums|preload-helper)-/;
/** Chunks of the first load of the dashboard and the operator console. */
const LOADED_AT_DESK =
  /\/(choice|desk|empty-state|identicon|merchant|query|quoted-price|sheet-grip|shell|table|time)-/;
/**
 * Small chunks of the dashboard's pages. They load with the page that imports them, because naming
 * them costs the first load more than they do.
 */
const SMALL_AT_DESK = chunks(
  'bytes code-words confirm-button currency-conversion decline-words form-dialog ' +
    'headline large-money live-steps money name-rules rate-facts reader-command ' +
    'receipt-path role-needed save-file size-words sum terminal-filter tip-price ' +
    'total-headline whole-number',
);
const OF_DESK = /\/(?:pages|desk|merchant|overview|dashboard)-/;
/** Chunks of the till's first load. */
const LOADED_AT_TILL = /\/(till|bytes|typed-sum)-/;
const OF_TILL = /\/(?:terminal|till)-/;

/**
 * Leaves out preloads that are already loaded, because each name in the list adds bytes to the
 * first load.
 */
function onlyNew(
  _file: string,
  needed: readonly string[],
  { hostId, hostType }: { readonly hostId: string; readonly hostType: 'html' | 'js' },
): string[] {
  if (hostType === 'html') return [...needed];
  const isHere = (one: string) =>
    LOADED.test(one) ||
    (OF_DESK.test(hostId) && (LOADED_AT_DESK.test(one) || SMALL_AT_DESK.test(one))) ||
    (OF_TILL.test(hostId) && LOADED_AT_TILL.test(one));
  return needed.filter((one) => !isHere(one));
}

/** Fails the build for an invalid address, because it would stop every wallet. */
function readContracts(text: string): unknown {
  const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
  const read = JSON.parse(text) as Record<string, Record<string, unknown>>;
  for (const [network, entry] of Object.entries(read)) {
    const { chainId, usdc, settlement, usdcDomain } = entry;
    const { name, version } = (usdcDomain ?? {}) as Record<string, unknown>;
    const isRead =
      (network === 'testnet' || network === 'mainnet') &&
      Number.isSafeInteger(chainId) &&
      [usdc, settlement].every((address) => ADDRESS.test(String(address))) &&
      [name, version].every((word) => typeof word === 'string');
    if (!isRead) throw new Error(`web/contracts.json: ${network} is not as web/README.md says`);
  }
  return read;
}

const pages = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.html'));

/** One build for all apps: each HTML page in this folder is an app, and they share chunks. */
export default defineConfig({
  root: import.meta.dirname,
  // Uses relative URLs, so that the apps work below any path prefix (see README.md).
  base: './',
  logLevel: 'error',
  define: {
    // The versions that a till reports: its own, and the version of the reader package in this
    // release.
    'import.meta.env.VITE_RELEASE': JSON.stringify(versionIn('..')),
    'import.meta.env.VITE_READER_RELEASE': JSON.stringify(versionIn('../reader')),
    'import.meta.env.VITE_CONTRACTS': JSON.stringify(contracts),
    'import.meta.env.VITE_ICONS': JSON.stringify(iconPaths(ICONS)),
    'import.meta.env.VITE_TILL_ICONS': JSON.stringify(iconPaths(TILL_ICONS)),
    'import.meta.env.VITE_CART_ICONS': JSON.stringify(iconPaths(CART_ICONS)),
    'import.meta.env.VITE_CATALOG_ICONS': JSON.stringify(iconPaths(CATALOG_ICONS)),
    'import.meta.env.VITE_WALLET_ICONS': JSON.stringify(iconPaths(WALLET_ICONS)),
    'import.meta.env.VITE_PAGE_ICONS': JSON.stringify(iconPaths(PAGE_ICONS)),
  },
  build: {
    manifest: 'manifest.json',
    target: 'es2023',
    // `data:` URLs for fonts and scripts would need a wider CSP.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false, resolveDependencies: onlyNew },
    reportCompressedSize: false,
    rolldownOptions: {
      input: [
        ...pages.map((page) => path.join(import.meta.dirname, page)),
        path.join(import.meta.dirname, 'worker.ts'),
      ],
      output: {
        // Library chunks change only with library releases, so browsers keep them across releases
        // of the app.
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// },
            { name: 'text', test: TEXT },
            // Before `base`, because pages without React use it.
            { name: 'sums', test: /src\/core\/(currency-digits|sums)\.ts$/ },
            { name: 'base', test: BASE },
            // Separate, because they would otherwise land in the till's chunk, which apps without a
            // till would then load.
            { name: 'bytes', test: /web\/data\/bytes\.ts$/ },
            {
              name: 'typed-sum',
              test: /web\/(ui\/(typed-sum|sum-field)|data\/refund-request-fields)\.tsx?$/,
            },
            { name: 'name-rules', test: /src\/core\/(answer|name-rules)\.ts$/ },
            {
              name: 'sale-lines',
              test: /src\/prices\/sale-lines\.ts$|web\/ui\/quantity-text\.ts$/,
              includeDependenciesRecursively: false,
            },
            { name: 'identicon', test: /web\/ui\/(address|identicon)\.tsx?$/ },
            { name: 'till', test: TILL },
            { name: 'readers', test: READERS, includeDependenciesRecursively: false },
            // Every app with lists uses all of these libraries.
            {
              name: 'query',
              test: /node_modules\/(@tanstack|wouter|regexparam|mitt)\/|web\/data\/query-client/,
            },
            { name: 'desk', test: DESK, includeDependenciesRecursively: false },
            { name: 'merchant', test: MERCHANT, includeDependenciesRecursively: false },
            { name: 'wallet-first', test: WALLET, includeDependenciesRecursively: false },
          ],
        },
      },
    },
  },
  // Puts every text into its own element. Also applies in the development server.
  oxc: { jsx: { runtime: 'automatic', importSource: '#text', development: false } },
  resolve: {
    alias: { '#text/jsx-runtime': path.join(import.meta.dirname, 'ui/text/jsx-runtime.ts') },
  },
  server: { host: '127.0.0.1', proxy: { '/api': PROXY, '/docs': PROXY, '/readyz': PROXY } },
  plugins: [
    textsPlugin(),
    {
      name: 'tapline-order-of-styles',
      apply: 'build',
      transformIndexHtml: { order: 'post', handler: putBaseFirst },
    },
    {
      name: 'tapline-pages',
      // In production the service writes this into each page (see README.md).
      transformIndexHtml: (_html, { server }) =>
        server === undefined
          ? []
          : [{ tag: 'base', attrs: { href: '/' }, injectTo: 'head-prepend' }],
      configureServer: (server) => {
        server.middlewares.use((request, _response, next) => {
          const [, app = ''] = /^\/([a-z]+)(?:[/?]|$)/.exec(request.url ?? '') ?? [];
          const page = `${{ receipts: 'receipt', t: 'tag' }[app] ?? app}.html`;
          const wantsPage = request.headers.accept?.includes('text/html') === true;
          if (wantsPage && pages.includes(page)) request.url = `/${page}`;
          next();
        });
      },
    },
  ],
});
