import type { Clock } from '#core/clock.ts';
import type { Database, Tx } from '#db/database.ts';
import type { Log } from '#observability/log.ts';
import { type Alarm, insertAlarms } from '#settlement/alarms.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { OtherEvent, SettlementEvent } from '#settlement/contract/contract-events.ts';

/**
 * Events that need no alarm: changes of payers' settings, and ends of proposals. All other events
 * change permissions, prices or limits, and raise an alarm, as does an event that this release does
 * not know.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  ...['PolicySet', 'PolicyRevoked'],
  ...['WalletChanged', 'WalletProposalCanceled'],
  // Events of the timelock: the cancellation of an operation, and its salt.
  ...['Cancelled', 'CallSalt'],
]);

export function changesRules(event: SettlementEvent): event is OtherEvent {
  return event.event === 'Other' && !HARMLESS.has(event.name);
}

/**
 * Returns the alarm's subject. It includes the transaction, because the same change may be made
 * twice.
 */
export function subjectOf({ name, txHash, logIndex }: OtherEvent): string {
  return `${name} ${txHash}/${logIndex}`;
}

/** Returns the hashes of those events' transactions that this service has signed. */
async function selectOurs(tx: Tx, events: readonly OtherEvent[]): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ tx_hash: string }>(
    'select tx_hash from chain_attempts where tx_hash = any($1)',
    [events.map(({ txHash }) => txHash)],
  );
  return new Set(rows.map(({ tx_hash }) => tx_hash));
}

/** Returns the events that already have an alarm, resolved or not. */
async function selectReported(
  tx: Tx,
  livemode: boolean,
  events: readonly OtherEvent[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ subject: string }>(
    `select subject from chain_alarms
     where livemode = $1 and kind = 'contract_changed' and subject = any($2)`,
    [livemode, events.map(subjectOf)],
  );
  return new Set(rows.map(({ subject }) => subject));
}

async function resolveAlarms(
  tx: Tx,
  reported: {
    readonly livemode: boolean;
    readonly subjects: readonly string[];
    readonly now: Date;
  },
): Promise<void> {
  await tx.query(
    `update chain_alarms set resolved_at = $3
     where livemode = $1 and kind = 'contract_changed' and subject = any($2)
       and resolved_at is null`,
    [reported.livemode, reported.subjects, reported.now],
  );
}

interface MerchantRow {
  readonly merchant_number: bigint;
  readonly account_id: string;
  /** The current wallet and the previous ones, in lower case. */
  readonly wallets: readonly string[];
}

async function selectMerchants(
  tx: Tx,
  livemode: boolean,
  events: readonly OtherEvent[],
): Promise<ReadonlyMap<number, MerchantRow>> {
  const numbers = events.flatMap(({ details }) =>
    typeof details.merchant === 'number' ? [details.merchant] : [],
  );
  const rows = await tx.query<MerchantRow>(
    `select merchant_number, account_id, array(
       select lower(m.settlement_wallet)
       union
       select lower(w.previous_wallet) from wallet_changes w
       where w.account_id = m.account_id and w.livemode = m.livemode and w.status = 'applied'
     ) as wallets
     from merchant_accounts m
     where livemode = $1 and merchant_number = any($2::bigint[]) and settlement_wallet is not null`,
    [livemode, numbers],
  );
  return new Map(rows.map((row) => [Number(row.merchant_number), row]));
}

/**
 * True if the merchant's own wallet, current or previous, made the proposal. The network's
 * operators then get no alarm.
 */
function isOwnProposal({ name, details }: OtherEvent, merchant: MerchantRow | undefined): boolean {
  if (name !== 'WalletProposed' || merchant === undefined) return false;
  return merchant.wallets.includes(String(details.proposer).toLowerCase());
}

/**
 * A wallet that was proposed for a merchant's money by an address other than the merchant's own
 * wallets.
 */
export interface ForeignProposal {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly merchantNumber: bigint;
  readonly wallet: string;
  /** From this time on, any account can apply the proposal. */
  readonly applicableAt: Date;
}

export interface NoteRulesDeps {
  readonly chain: Chain;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Optional: notifies the merchant in the transaction that raises the alarm. */
  readonly notifyMerchant?: (tx: Tx, proposal: ForeignProposal, now: Date) => Promise<void>;
}

function alarmOf(event: OtherEvent): Alarm {
  const { name, details, contractVersion, txHash, blockNumber } = event;
  const reported = {
    event: name,
    ...details,
    contract_version: contractVersion,
    tx_hash: txHash,
    block_number: blockNumber,
  };
  return { kind: 'contract_changed', subject: subjectOf(event), details: reported };
}

export interface NotedRules {
  /** Events that this service did not cause, whether or not they have an alarm. */
  readonly unexplained: readonly OtherEvent[];
  /**
   * Unexplained events that are new: they have no alarm yet, and are not older than this service.
   */
  readonly news: readonly OtherEvent[];
}

export interface ReadRules {
  readonly events: readonly OtherEvent[];
  /**
   * True if the event is older than this service, as the deployment's events are. Its alarm is then
   * stored as resolved, and it is not reported.
   */
  readonly isOlder: (event: OtherEvent) => boolean;
}

/**
 * Raises one alarm for each change on the contract that was made outside this service: a proposed
 * role or wallet, other rates, a pause. It does not undo the change. Runs in the caller's
 * transaction; after the commit, the caller logs the new alarms.
 */
export async function noteRules(
  tx: Tx,
  deps: Pick<NoteRulesDeps, 'chain' | 'clock' | 'notifyMerchant'>,
  { events, isOlder }: ReadRules,
): Promise<NotedRules> {
  if (events.length === 0) return { unexplained: [], news: [] };
  const { livemode } = deps.chain.config;
  const now = deps.clock.now();
  const ours = await selectOurs(tx, events);
  const reported = await selectReported(tx, livemode, events);
  const merchants = await selectMerchants(tx, livemode, events);
  const merchantOf = ({ details }: OtherEvent) => merchants.get(Number(details.merchant));
  const unexplained = events.filter(
    (event) => !ours.has(event.txHash) && !isOwnProposal(event, merchantOf(event)),
  );
  const fresh = unexplained.filter((event) => !reported.has(subjectOf(event)));
  await insertAlarms(tx, livemode, fresh.map(alarmOf), now);
  const older = fresh.filter(isOlder);
  await resolveAlarms(tx, { livemode, subjects: older.map(subjectOf), now });
  const news = fresh.filter((event) => !older.includes(event));
  for (const { name, details } of news) {
    const merchant = merchants.get(Number(details.merchant));
    if (name !== 'WalletProposed' || merchant === undefined) continue;
    const { account_id: accountId, merchant_number: merchantNumber } = merchant;
    const applicableAt = new Date(Number(details.applicableAt) * 1000);
    const wallet = String(details.wallet);
    const proposal = { accountId, livemode, merchantNumber, wallet, applicableAt };
    await deps.notifyMerchant?.(tx, proposal, now);
  }
  return { unexplained, news };
}

export function logNews(
  { chain, log }: Pick<NoteRulesDeps, 'chain' | 'log'>,
  news: readonly OtherEvent[],
): void {
  const { network } = chain.config;
  for (const { name, txHash } of news) {
    const what = { network, event: name, tx_hash: txHash };
    log.error('the contract was changed outside this service', what);
  }
}
