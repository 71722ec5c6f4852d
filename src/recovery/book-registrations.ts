import { selectAccountIdsAfter } from '#accounts/account-queries.ts';
import { selectUnknownMerchants } from '#payouts/go-live-queries.ts';
import { rebuildRegistration } from '#payouts/rebuild-registration.ts';
import { inRun, type RecoveryDeps } from '#recovery/recovery-lease.ts';
import type { ScannedRange } from '#settlement/chain/read/chain-scan.ts';
import { merchantReference } from '#settlement/contract/contract-calls.ts';
import type { SettlementEvent } from '#settlement/contract/contract-events.ts';
import type { RecoveryRun } from '#settlement/network-recovery-queries.ts';

type Registered = Extract<SettlementEvent, { event: 'MerchantRegistered' }>;

/** Number of IDs hashed without a pause, which takes a tenth of a second. */
const ACCOUNTS = 5_000;

/**
 * Books a range's lost registrations: accounts that went live, or moved to the next contract, in
 * the lost period. Payments can then be attributed to these accounts. A registration that matches
 * no account is ignored; payments to it raise alarms.
 */
export async function bookRegistrations(
  deps: RecoveryDeps,
  run: RecoveryRun,
  { events }: Pick<ScannedRange, 'events'>,
): Promise<void> {
  const { livemode } = deps.chain.config;
  const lost = await selectLost(deps, livemode, events);
  if (lost.length === 0) return;
  const accounts = await findAccounts(deps, run, lost);
  const rows = lost.flatMap((event) => {
    const accountId = accounts.get(event.reference);
    return accountId === undefined ? [] : [{ ...event, tenant: { accountId, livemode } }];
  });
  // Sort by account ID, the order in which other transactions lock accounts. An account's
  // registrations keep the chain's order.
  const inOrder = rows.toSorted((a, b) => (a.tenant.accountId < b.tenant.accountId ? -1 : 1));
  await inRun(deps, run, async (tx) => {
    for (const one of inOrder) {
      const booked = await rebuildRegistration(tx, one, deps.clock.now());
      const { merchantNumber, wallet, tenant } = one;
      const told = { ...tenant, merchantNumber: merchantNumber.toString(), wallet, booked };
      deps.log.warn('the chain has a registration that the ledger had lost', told);
    }
  });
}

async function selectLost(
  { db }: RecoveryDeps,
  livemode: boolean,
  events: readonly SettlementEvent[],
): Promise<Registered[]> {
  const registered = events.filter((event) => event.event === 'MerchantRegistered');
  if (registered.length === 0) return [];
  const numbers = registered.map((event) => event.merchantNumber);
  const unknown = new Set(await selectUnknownMerchants(db, livemode, numbers));
  return registered.filter((event) => unknown.has(event.merchantNumber));
}

/**
 * Finds accounts by hashing IDs until each registration has its account, because the contract
 * identifies an account by the hash of its ID.
 */
async function findAccounts(
  deps: RecoveryDeps,
  run: RecoveryRun,
  lost: readonly Registered[],
): Promise<ReadonlyMap<string, string>> {
  const sought = new Set<string>(lost.map((event) => event.reference));
  const wallets = new Map<string, string>();
  let after = '';
  for (;;) {
    const portion = { after, limit: ACCOUNTS };
    const ids = await inRun(deps, run, (tx) => selectAccountIdsAfter(tx, portion));
    for (const id of ids) {
      const reference = merchantReference(id);
      if (sought.has(reference)) wallets.set(reference, id);
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < ACCOUNTS || wallets.size === sought.size) return wallets;
    after = last;
  }
}
