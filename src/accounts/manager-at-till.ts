import type { CheckedPerson } from '#accounts/check-pin.ts';
import { recordAccountChange } from '#audit/record-change.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import { type Limit, limitFrom } from '#core/shop-limit.ts';
import type { Tx } from '#db/database.ts';
import type { Row } from '#db/table.ts';
import { tillPeople } from '#people/cashier-pins.ts';

/**
 * A manager who allows at a till, with the PIN, what the signed-in person may not. The PIN is
 * checked before the transaction of the request, which reads the manager's rights again.
 */

const MANAGER = tillPeople.pick([
  ...(['account_id', 'id', 'pin_id', 'refund_limit', 'refund_limit_presentment'] as const),
]);

export type Manager = Row<typeof MANAGER>;

/** One refusal for a wrong id, a wrong PIN and a missing right, so that it reveals nothing. */
export function managerRefused(): Refusal {
  return refuse(
    'manager_required',
    'No manager with this id and PIN may allow this. Check the person and the PIN.',
    'manager',
  );
}

/** Returns the refusal of a request that names no manager. `what` begins the sentence. */
export function managerRequired(what: string): Refusal {
  const message =
    `${what} needs a manager: the id and PIN of one in \`manager\`, or a \`manager_code\` ` +
    'created in the dashboard.';
  return refuse('manager_required', message, 'manager_code');
}

/** Returns those of these people who may still lift limits with the PIN that was checked. */
export async function selectManagers(
  tx: Tx,
  checked: readonly (CheckedPerson & { readonly accountId: string })[],
): Promise<Manager[]> {
  if (checked.length === 0) return [];
  return tx.query(
    `select ${MANAGER} from till_people
     where account_id = any($1) and id = any($2) and pin_id = any($3::uuid[]) and lifts`,
    [
      checked.map(({ accountId }) => accountId),
      checked.map(({ personId }) => personId),
      checked.map(({ pinId }) => pinId),
    ],
  );
}

/** How much of one sale the manager may refund; `null` for up to the account's daily limit. */
export function limitOfManager({ refund_limit, refund_limit_presentment }: Manager): Limit | null {
  return refund_limit === null ? null : limitFrom(refund_limit, refund_limit_presentment);
}

/**
 * Records who allowed what at a till, and who was signed in. Like every entry, it takes the lock of
 * the account's audit log until the commit, so it comes last.
 */
export async function recordLifted(
  tx: Tx,
  lifted: {
    readonly accountId: string;
    readonly terminalId: string;
    readonly action: 'refund.allowed' | 'discount.allowed';
    readonly objectId: string;
    readonly managerId: string;
    readonly cashierId: string | null;
    readonly now: Date;
  },
): Promise<void> {
  const { accountId, terminalId, action, objectId, managerId, cashierId, now } = lifted;
  const actor = { type: 'system', name: `terminal ${terminalId}` } as const;
  const after = { manager: managerId, cashier: cashierId };
  await recordAccountChange(tx, { accountId, actor, now }, { action, objectId, after });
}
