/** The roles of behavior.md 14.3: each includes the rights of those before it. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;

export type Role = (typeof ROLES)[number];

export function hasRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
