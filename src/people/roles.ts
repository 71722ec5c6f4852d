/** behavior.md 14.3: each role may do all that the ones before it may. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;

export type Role = (typeof ROLES)[number];

export function hasRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
