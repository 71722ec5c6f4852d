import type { Sql } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import { TWO_FACTOR } from '#people/membership-queries.ts';
import type { Role } from '#people/role-order.ts';
import { users } from '#people/user-queries.ts';

export const organizations = table('organizations', {
  id: 'text',
  name: 'text',
  created: 'timestamptz',
});

export type Organization = Row<typeof organizations>;

export const organizationMembers = table('organization_members', {
  organization_id: 'text',
  user_id: 'text',
  role: as<Role>('text'),
  created: 'timestamptz',
});

const MEMBER = organizationMembers.pick(['organization_id', 'user_id', 'role', 'created'], 'm');
const PERSON = users.pick(['email', 'name'], 'u');

export type OrganizationMember = Row<typeof MEMBER> & Row<typeof PERSON> & { two_factor: boolean };

const MEMBERS = `select ${MEMBER}, ${PERSON}, ${TWO_FACTOR} as two_factor
  from organization_members m join users u on u.id = m.user_id`;
const IN_ORDER = 'order by m.created, m.user_id';

export async function selectOrganizationMembers(
  sql: Sql,
  organizationId: string,
): Promise<OrganizationMember[]> {
  return sql.query(`${MEMBERS} where m.organization_id = $1 ${IN_ORDER}`, [organizationId]);
}

/** Returns the people who have a role in an account through its organization. */
export async function selectInheritedMembers(
  sql: Sql,
  accountId: string,
): Promise<OrganizationMember[]> {
  return sql.query(
    `${MEMBERS} where m.organization_id = (select organization_id from accounts where id = $1)
     ${IN_ORDER}`,
    [accountId],
  );
}
