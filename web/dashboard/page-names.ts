/**
 * The pages of the navigation, in its order, with their icons. Their English names are promised
 * (behavior.md 21.3): scripts find links by them, and addresses follow from them.
 */
export const PAGES = {
  Overview: 'overview',
  Payments: 'payments',
  Intents: 'intents',
  Refunds: 'refunds',
  Balance: 'balance',
  Terminals: 'terminals',
  'API keys': 'keys',
  Webhooks: 'webhooks',
  Events: 'events',
  'Request log': 'requests',
  Team: 'people',
  Settings: 'settings',
  Verification: 'verification',
  'Risk rules': 'risk',
  'Audit log': 'audit',
} as const;

export type PageName = keyof typeof PAGES;

/** A new group of links begins at these. */
export const OPENS_GROUP = 'Payments Terminals Team';

/** `request_log`, as texts call a page. */
export type PageKey = keyof { [Name in PageName as Snake<Name>]: true };
type Snake<Name extends string> = Name extends `${infer First} ${infer Second}`
  ? `${Lowercase<First>}_${Lowercase<Second>}`
  : Lowercase<Name>;
