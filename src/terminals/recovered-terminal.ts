import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { announceTerminal } from '#terminals/announce-terminal.ts';
import { selectRecoveredTerminal, updateUnversioned } from '#terminals/provisioning-queries.ts';
import { terminals } from '#terminals/terminal-queries.ts';

/** The name of behavior.md 16.6. */
export const RECOVERED = 'Recovered';

/**
 * Returns the terminal of rebuilt payments whose own terminal is unknown: one per account and mode,
 * always inactive, created when first needed.
 */
export async function ensureRecoveredTerminal(tx: Tx, tenant: Tenant, now: Date): Promise<string> {
  const known = await selectRecoveredTerminal(tx, tenant, RECOVERED);
  if (known !== undefined) return known.id;
  const stamp = await stampOrder(tx, tenant, now, 2);
  const { id } = await terminals.insert(tx, {
    id: newId('terminal', stamp.created),
    account_id: tenant.accountId,
    livemode: tenant.livemode,
    position: stamp.next(),
    created: stamp.created,
    label: RECOVERED,
    name: RECOVERED,
    platform: 'generic',
  });
  // Inactive in the same transaction, so that it never accepts a payment.
  const row = await updateUnversioned(tx, id, { status: 'inactive' });
  await announceTerminal(tx, row, { tenant, type: 'terminal.created', stamp });
  return id;
}
