import { requestRecovery } from '#settlement/network-recovery-queries.ts';
import type { NoteRulesDeps } from '#settlement/reconciliation/note-contract-changes.ts';
import {
  type ReconcileOptions,
  type Reconciliation,
  reconcileOnce,
} from '#settlement/reconciliation/reconcile-once.ts';

/** Exit code of `npm run reconcile`: 0 if chain and ledger agree, 1 if they differ. */
export type ReconcileExit = 0 | 1;

/** Reconciles each network, and prints one line per network and one per difference. */
export async function reportReconciliation(
  networks: readonly NoteRulesDeps[],
  print: (line: string) => void,
  options: ReconcileOptions = {},
): Promise<ReconcileExit> {
  let exit: ReconcileExit = 0;
  for (const deps of networks) {
    const result = await reconcileOnce(deps, { everything: true, ...options });
    for (const line of toLines(result)) print(line);
    if (result.differences.length > 0) exit = 1;
    if (options.rebuild === true) await askToBook(deps, print);
  }
  return exit;
}

/** Requests a recovery, in which a worker of the service books the missing settlements. */
async function askToBook(
  { db, chain }: NoteRulesDeps,
  print: (line: string) => void,
): Promise<void> {
  const { livemode, network } = chain.config;
  await requestRecovery(db, { livemode, requestCount: null, reason: 'command', lossShown: false });
  print(
    `${network}: a worker books what the ledger lacks; until then the network takes no payments`,
  );
}

function toLines({ network, fromBlock, toBlock, events, differences }: Reconciliation): string[] {
  const read = `blocks ${fromBlock} to ${toBlock}, ${events} events`;
  if (differences.length === 0) return [`${network}: ${read}: chain and database agree`];
  return [
    `${network}: ${read}: ${differences.length} differences`,
    ...differences.map(
      ({ kind, subject, details }) => `  ${kind} ${subject} ${JSON.stringify(details)}`,
    ),
  ];
}
