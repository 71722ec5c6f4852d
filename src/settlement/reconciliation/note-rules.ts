import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Database, Tx } from '#db/database.ts';
import { type Alarm, insertAlarms } from '#settlement/alarms.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { OtherEvent, SettlementEvent } from '#settlement/contract/contract-events.ts';

/** What changes who may do what, at which price, up to which sum, and to which wallet. */
const RULES: ReadonlySet<string> = new Set([
  ...['SettlingPaused', 'RefundingPaused'],
  ...['RatesScheduled', 'RatesApplied', 'RatesCanceled'],
  ...['CeilingScheduled', 'CeilingChanged'],
  ...['GrantAnnounced', 'GrantCanceled', 'LastRevocationAnnounced'],
  ...['RoleGranted', 'RoleRevoked', 'RoleAdminChanged'],
  ...['WalletProposed', 'WalletProposalsDropped', 'PayoutsHeld', 'FeesCollected'],
  'unknown',
]);

export function changesRules(event: SettlementEvent): event is OtherEvent {
  return event.event === 'Other' && RULES.has(event.name);
}

/** The transaction is part of it: the same step may be done twice. */
function subjectOf({ name, txHash, logIndex }: OtherEvent): string {
  return `${name} ${txHash}/${logIndex}`;
}

/** Events that this service's own bytes explain, or an alarm tells already, resolved or not. */
async function selectKnown(
  tx: Tx,
  livemode: boolean,
  events: readonly OtherEvent[],
): Promise<{ readonly hashes: ReadonlySet<string>; readonly subjects: ReadonlySet<string> }> {
  const [ours, told] = await Promise.all([
    tx.query<{ tx_hash: string }>('select tx_hash from chain_attempts where tx_hash = any($1)', [
      events.map(({ txHash }) => txHash),
    ]),
    tx.query<{ subject: string }>(
      `select subject from chain_alarms
       where livemode = $1 and kind = 'contract_changed' and subject = any($2)`,
      [livemode, events.map(subjectOf)],
    ),
  ]);
  return {
    hashes: new Set(ours.map(({ tx_hash }) => tx_hash)),
    subjects: new Set(told.map(({ subject }) => subject)),
  };
}

async function resolveAlarms(
  tx: Tx,
  told: {
    readonly livemode: boolean;
    readonly subjects: readonly string[];
    readonly now: Date;
  },
): Promise<void> {
  await tx.query(
    `update chain_alarms set resolved_at = $3
     where livemode = $1 and kind = 'contract_changed' and subject = any($2)
       and resolved_at is null`,
    [told.livemode, told.subjects, told.now],
  );
}

interface MerchantRow {
  readonly merchant_number: bigint;
  readonly account_id: string;
  readonly settlement_wallet: string;
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
    `select merchant_number, account_id, settlement_wallet from account_modes
     where livemode = $1 and merchant_number = any($2::bigint[]) and settlement_wallet is not null`,
    [livemode, numbers],
  );
  return new Map(rows.map((row) => [Number(row.merchant_number), row]));
}

/** What a merchant's own wallet proposes is the merchant's own affair. */
function isOwnProposal({ name, details }: OtherEvent, merchant: MerchantRow | undefined): boolean {
  if (name !== 'WalletProposed' || merchant === undefined) return false;
  return merchant.settlement_wallet.toLowerCase() === String(details.proposer).toLowerCase();
}

/** A wallet that somebody else wants to be paid a merchant's money to. */
export interface ForeignProposal {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly wallet: string;
  /** From then on anybody can put it into force. */
  readonly applicableAt: Date;
}

export interface NoteRulesDeps {
  readonly chain: Chain;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Tells the merchant, in the transaction of the alarm; absent: nobody is told. */
  readonly tellMerchant?: (tx: Tx, proposal: ForeignProposal, now: Date) => Promise<void>;
}

function alarmOf(event: OtherEvent): Alarm {
  const { name, details, txHash, blockNumber } = event;
  const told = { event: name, ...details, tx_hash: txHash, block_number: blockNumber };
  return { kind: 'contract_changed', subject: subjectOf(event), details: told };
}

/**
 * Tells a person of each step on the contract that somebody made past this service: an announced
 * role or wallet, other rates, a pause. Nothing is stopped by it. One alarm for each, once.
 *
 * @param read `isFirst`: nothing was read before. It holds the deployment itself, and what was done
 *   before this service watched: that is written down, and no news.
 */
export async function noteRules(
  deps: NoteRulesDeps,
  read: { readonly events: readonly OtherEvent[]; readonly isFirst: boolean },
): Promise<void> {
  const { events } = read;
  if (events.length === 0) return;
  const { livemode, network } = deps.chain.config;
  const now = deps.clock.now();
  const found = await deps.db.transaction(async (tx) => {
    const { hashes, subjects } = await selectKnown(tx, livemode, events);
    const merchants = await selectMerchants(tx, livemode, events);
    const merchantOf = ({ details }: OtherEvent) => merchants.get(Number(details.merchant));
    const unexplained = events.filter(
      (event) =>
        !hashes.has(event.txHash) &&
        !subjects.has(subjectOf(event)) &&
        !isOwnProposal(event, merchantOf(event)),
    );
    await insertAlarms(tx, livemode, unexplained.map(alarmOf), now);
    if (read.isFirst) {
      await resolveAlarms(tx, { livemode, subjects: unexplained.map(subjectOf), now });
      return [];
    }
    for (const { name, details } of unexplained) {
      const accountId = merchants.get(Number(details.merchant))?.account_id;
      if (name !== 'WalletProposed' || accountId === undefined) continue;
      const applicableAt = new Date(Number(details.applicableAt) * 1000);
      const proposal = { accountId, livemode, wallet: String(details.wallet), applicableAt };
      await deps.tellMerchant?.(tx, proposal, now);
    }
    return unexplained;
  });
  for (const { name, txHash } of found) {
    const what = { network, event: name, tx_hash: txHash };
    deps.log.error('the contract was changed past this service', what);
  }
}
