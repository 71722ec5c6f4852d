import type { Refusal } from '#core/answer.ts';
import type { Database } from '#db/database.ts';
import type { AdminInput } from '#ops/admin.ts';
import { foreignSettlements } from '#ops/admin-foreign.ts';
import { sayRestored } from '#ops/admin-restored.ts';
import { listAfterRestore } from '#ops/after-restore.ts';

/** Commands about ledger and chain, rather than about people. null: it is none of them. */
export async function runNetworkCommand(
  db: Database,
  input: AdminInput,
): Promise<{ readonly lines: readonly string[] } | Refusal | null> {
  switch (input.args[0]) {
    case 'after-restore':
      return { lines: await listAfterRestore(db) };
    case 'restored':
      return sayRestored(db, input);
    case 'foreign-settlements':
      return foreignSettlements(db, input);
    default:
      return null;
  }
}
