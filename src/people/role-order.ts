/**
 * The roles of behavior.md 14.3, lowest first; each role has the rights of all lower roles. A
 * cashier works at tills and sees only the account's name in the dashboard. Each route declares the
 * lowest role that it accepts.
 */
export const ROLES = ['cashier', 'viewer', 'member', 'admin', 'owner'] as const;

export type Role = (typeof ROLES)[number];

export function highestRole(roles: readonly (Role | null)[]): Role | null {
  return ROLES.findLast((role) => roles.includes(role)) ?? null;
}

export function hasRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** The roles of staff, who work at tills and have no sign-in. */
export const TILL_ROLES = ['cashier', 'manager'] as const;
export type TillRole = (typeof TILL_ROLES)[number];

/** True for the roles of people who may allow at a till what others may not. */
export function liftsLimits(role: Role | TillRole): boolean {
  return role === 'owner' || role === 'admin' || role === 'manager';
}
