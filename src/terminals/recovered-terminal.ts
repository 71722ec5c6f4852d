import { only } from '#core/assert.ts';
import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { appendEvents } from '#events/append.ts';
import { terminalObject } from '#terminals/create-terminal.ts';
import {
  deactivateTerminal,
  insertTerminal,
  selectRecoveredTerminal,
} from '#terminals/provisioning-queries.ts';

/** decisions.md section 12. */
export const RECOVERED = 'Recovered';

/**
 * The terminal that rebuilt payments count as taken at, because nobody knows theirs any more: one
 * per account and mode, inactive for ever, made when it is first needed.
 */
export async function ensureRecoveredTerminal(tx: Tx, tenant: Tenant, now: Date): Promise<string> {
  const known = await selectRecoveredTerminal(tx, tenant, RECOVERED);
  if (known !== undefined) return known.id;
  const stamp = await stampOrder(tx, tenant, now, 2);
  const made = await insertTerminal(tx, {
    id: newId('terminal', stamp.created),
    tenant,
    position: stamp.next(),
    created: stamp.created,
    label: RECOVERED,
    name: RECOVERED,
    platform: 'generic',
  });
  const { id } = only(made, 'new terminal');
  await deactivateTerminal(tx, id);
  const object = terminalObject({ ...only(made, 'new terminal'), status: 'inactive' });
  await appendEvents(tx, [{ tenant, type: 'terminal.created', objectId: id, object, stamp }]);
  return id;
}
