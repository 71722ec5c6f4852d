import { keccak256, toHex, zeroHash } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';

/** The roles of the settlement contract, except its admin, which is the timelock. */
export const ROLES = [
  'operator',
  'registrar',
  'guardian',
  'watch',
  'steward',
  'treasurer',
] as const;

export const TIMELOCK_ROLES = ['proposer', 'executor', 'canceller'] as const;

export type RoleName = (typeof ROLES)[number] | (typeof TIMELOCK_ROLES)[number] | 'admin';

export function roleId(name: RoleName): Hex {
  return name === 'admin' ? zeroHash : keccak256(toHex(`${name.toUpperCase()}_ROLE`));
}

/** Returns the role's name; `null` if this release does not know the role. */
export function roleName(role: string): RoleName | null {
  const known: readonly RoleName[] = ['admin', ...ROLES, ...TIMELOCK_ROLES];
  return known.find((name) => roleId(name) === role.toLowerCase()) ?? null;
}
