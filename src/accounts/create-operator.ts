import type { Actor } from '#accounts/actor.ts';
import { NETWORK_CHAIN, recordChange } from '#accounts/audit.ts';
import { addUser, type NewPerson, readPerson } from '#accounts/create-account.ts';
import { isRefusal, type Refusal } from '#core/refusal.ts';
import type { Database } from '#db/database.ts';

/**
 * A user of the network's own staff. Nothing over HTTP makes one: only whoever may run commands
 * on the network's machines. The operator API opens to it once a second factor is set up.
 */
export async function createOperator(
  db: Database,
  input: { readonly person: NewPerson; readonly actor: Actor; readonly now: Date },
): Promise<{ readonly userId: string } | Refusal> {
  const person = await readPerson(input.person);
  if (isRefusal(person)) return person;
  return db.transaction(async (tx) => {
    const userId = await addUser(tx, person, { realm: 'operator', now: input.now });
    if (isRefusal(userId)) return userId;
    await recordChange(tx, {
      chain: NETWORK_CHAIN,
      actor: input.actor,
      action: 'operator.created',
      objectId: userId,
      livemode: null,
      before: null,
      after: { email: person.email, name: person.name },
      now: input.now,
    });
    return { userId };
  });
}
