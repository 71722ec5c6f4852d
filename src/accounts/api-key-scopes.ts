/** Scopes of merchant keys (behavior.md 3.5). */
export const SCOPES = [
  'balance:read',
  'events:read',
  'logs:read',
  'payments:read',
  'payments:write',
  'refunds:read',
  'refunds:write',
  'terminals:read',
  'webhooks:read',
  'webhooks:write',
] as const;

export type Scope = (typeof SCOPES)[number];
