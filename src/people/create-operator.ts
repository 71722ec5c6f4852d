import { type Actor, NETWORK_AUDIT_LOG, recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import type { Database } from '#db/database.ts';
import { addUser, type NewPerson, readPerson } from '#people/add-user.ts';
import { type StaffRole, updateStaffRole } from '#people/user-queries.ts';

/**
 * Creates a user of the network's own staff. Only a command on the network's machines does this,
 * never an HTTP request. The operator API accepts the user once a second factor is set up.
 */
export async function createOperator(
  db: Database,
  input: {
    readonly person: NewPerson;
    readonly role?: StaffRole;
    readonly actor: Actor;
    readonly now: Date;
  },
): Promise<{ readonly userId: string } | Refusal> {
  const { role = 'operator' } = input;
  const person = await readPerson(input.person, 'command');
  if (isRefusal(person)) return person;
  return db.transaction(async (tx) => {
    const userId = await addUser(tx, person, { realm: 'operator', now: input.now });
    if (isRefusal(userId)) return userId;
    await updateStaffRole(tx, { id: userId, role });
    await recordEntry(tx, {
      auditLog: NETWORK_AUDIT_LOG,
      actor: input.actor,
      action: 'operator.created',
      objectId: userId,
      livemode: null,
      before: null,
      after: { email: person.email, name: person.name, role },
      now: input.now,
    });
    return { userId };
  });
}
