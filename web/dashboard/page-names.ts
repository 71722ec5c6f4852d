/**
 * The pages in navigation order, with their icons. Their English names are guaranteed (behavior.md
 * 21.3): scripts find links by them, and URLs are derived from them.
 */
export const PAGES = {
  Overview: 'overview',
  Payments: 'payments',
  Intents: 'intents',
  Refunds: 'refunds',
  Balance: 'balance',
  Terminals: 'terminals',
  'Offline sales': 'offline_sales',
  Shifts: 'shifts',
  Catalog: 'catalog',
  'API keys': 'keys',
  Webhooks: 'webhooks',
  Events: 'events',
  'Request log': 'requests',
  Team: 'people',
  Staff: 'people',
  Locations: 'terminals',
  Settings: 'settings',
  Verification: 'verification',
  'Risk rules': 'risk',
  'Audit log': 'audit',
} as const;

/** The pages whose URL is not their name. */
export const PATHS: { readonly [Name in PageName]?: string } = {
  Overview: 'dashboard',
  'Offline sales': 'dashboard/offline-payments',
};

export type PageName = keyof typeof PAGES;

/** The pages before which the navigation starts a new group. */
export const OPENS_GROUP = 'Payments Terminals Team';

/** A page's name in text keys, for example `request_log`. */
export type PageKey = keyof { [Name in PageName as Snake<Name>]: true };
type Snake<Name extends string> = Name extends `${infer First} ${infer Second}`
  ? `${Lowercase<First>}_${Lowercase<Second>}`
  : Lowercase<Name>;
