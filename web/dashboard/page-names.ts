/**
 * The pages in navigation order, with their icons. Their English names are guaranteed (behavior.md
 * 21.3): scripts find links by them, and URLs are derived from them.
 */
export const PAGES = {
  Overview: 'overview',
  Payments: 'payments',
  Refunds: 'refunds',
  Reports: 'events',
  Balance: 'balance',
  Terminals: 'terminals',
  Catalogue: 'catalogue',
  Staff: 'people',
  Shifts: 'shifts',
  Locations: 'terminals',
  'Offline sales': 'offline_sales',
  Team: 'people',
  Settings: 'settings',
  Verification: 'verification',
  'Risk rules': 'risk',
  'Audit log': 'audit',
  Intents: 'payments',
  'API keys': 'keys',
  Webhooks: 'events',
  Events: 'events',
  'Request log': 'requests',
} as const;

/** The pages whose URL is not their name. */
export const PATHS: { readonly [Name in PageName]?: string } = {
  Overview: 'dashboard',
  'Offline sales': 'dashboard/offline-payments',
};

export type PageName = keyof typeof PAGES;

/** The groups of the navigation, by their first page. */
export const GROUPS: { readonly [Name in PageName]?: 'counter' | 'business' | 'developers' } = {
  Terminals: 'counter',
  Team: 'business',
  Intents: 'developers',
};

/** A page's name in text keys, for example `request_log`. */
export type PageKey = keyof { [Name in PageName as Snake<Name>]: true };
type Snake<Name extends string> = Name extends `${infer First} ${infer Second}`
  ? `${Lowercase<First>}_${Lowercase<Second>}`
  : Lowercase<Name>;
