/** The Lucide icons that the apps use, by their meaning here. The build reads this list. */

/** Icons of all apps. */
export const ICONS = {
  good: 'check',
  bad: 'x',
  warn: 'triangle-alert',
  info: 'info',
  wait: 'clock',
  offline: 'cloud-off',
  copy: 'copy',
  lock: 'lock',
  none: 'minus',
  menu: 'menu',
} as const;

export const TILL_ICONS = {
  tap: 'nfc',
  delete: 'delete',
} as const;

/** Icons of the till's cart, which loads later. */
export const CART_ICONS = {
  more: 'plus',
  less: 'minus',
  scan: 'scan-barcode',
} as const;

/** Icons of the dashboard's catalog page only. */
export const CATALOG_ICONS = {
  up: 'arrow-up',
  down: 'arrow-down',
} as const;

/** Icons of the wallet's navigation. */
export const WALLET_ICONS = {
  home: 'house',
  passes: 'credit-card',
  history: 'clock',
  limits: 'gauge',
  settings: 'sliders-horizontal',
} as const;

/** Icons of the pages of dashboard and operator console. */
export const PAGE_ICONS = {
  overview: 'house',
  payments: 'credit-card',
  refunds: 'undo-2',
  balance: 'wallet',
  terminals: 'smartphone-nfc',
  offline_sales: 'cloud-off',
  shifts: 'clock',
  catalogue: 'shopping-basket',
  keys: 'key-round',
  events: 'activity',
  requests: 'list-ordered',
  people: 'users',
  settings: 'settings',
  verification: 'badge-check',
  risk: 'shield-alert',
  audit: 'scroll-text',
  inbox: 'inbox',
  support: 'search',
  account: 'circle-user',
  relayers: 'fuel',
  scale: 'scale',
  alarms: 'bell',
  contract: 'file-lock-2',
} as const;
