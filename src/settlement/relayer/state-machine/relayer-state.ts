import { channel } from 'node:diagnostics_channel';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { type Log, logWith } from '#observability/log.ts';
import { type Alarm, insertAlarms } from '#settlement/alarms.ts';
import type { Block, Chain } from '#settlement/chain/chain.ts';
import type { ConfiguredSender } from '#settlement/chain/fees/configure-senders.ts';
import type { Hex, RequestKind } from '#settlement/chain-requests.ts';
import {
  type ChainView,
  NOTHING_SEEN,
  nowOf,
} from '#settlement/relayer/state-machine/chain-view.ts';
import { step } from '#settlement/relayer/state-machine/decide-transaction-step.ts';
import {
  NEW_SENDER,
  type SenderChange,
  type SenderFacts,
  type SenderStatus,
  statusOf,
} from '#settlement/relayer/state-machine/sender-status.ts';
import type {
  Effect,
  Observation,
  OpenTransaction,
} from '#settlement/relayer/state-machine/transaction.ts';

/** Publishes each step to recorders. Costs nothing if there is no subscriber. */
export const steps = channel('tapline.relayer.steps');

export interface RelayerDeps extends ProcessContext {
  readonly chain: Chain;
  /**
   * The length of a lease: after a worker dies, other workers leave its senders alone for this
   * long.
   */
  readonly leaseMs?: number;
}

export type OnError = (name: string, error: unknown) => void;

/** Longer than a process may pause, and short enough for customers at a counter. */
export const LEASE_MS = 6_000;

/**
 * This process's knowledge of one network. This state is a cache; the rows of chain_transactions
 * and chain_requests are authoritative. Only this file assigns its fields: observations of
 * transactions through `step`, and readings of the chain through `see`. Values that were read
 * before an `await` may be outdated afterwards.
 */
export interface RelayerState extends Required<RelayerDeps>, ChainView {
  /** The name under which this process holds leases. */
  readonly owner: string;
  readonly livemode: boolean;
  /** A log whose entries name the network. */
  readonly log: Log;
  readonly configured: readonly ConfiguredSender[];
  readonly senders: ReadonlyMap<number, HeldSender>;
  see(change: Partial<ChainView>): void;
  hold(sender: HeldSender): void;
  /**
   * Drops senders from memory. Senders that this process still holds are then read again from their
   * rows.
   */
  letGo(...senders: readonly number[]): void;
  /** Like {@link HeldSender.observe}, for all open transactions of this process. */
  observeAll(observation: Observation, head?: Block): readonly Owing[];
  /** Raises alarms in the database transaction that causes them. */
  raise(tx: Tx, alarms: readonly Alarm[]): Promise<void>;
  /** Wakes the senders, because jobs were queued again. */
  wakeSenders(): void;
  /** The newest blocks that nodes returned or announced, by hash. */
  readonly recentBlocks: Map<string, RecentBlock>;
  /** Jobs to retry, in the order in which they failed, with the process time of the retry. */
  readonly deferred: Map<bigint, { readonly kind: RequestKind; readonly retryAt: number }>;
  /** By sender: transactions that nodes have reported for a nonce that we have not used. */
  readonly sightings: Map<number, readonly Sighting[]>;
}

export interface RecentBlock extends Pick<Block, 'number' | 'time'> {
  readonly hash: string;
  readonly parentHash: string;
  /** The time at which this process first learned of the block. */
  readonly seenAt: Date;
}

/** An open transaction, as it was when it was read, and its sender. */
export interface Held {
  readonly sender: HeldSender;
  readonly transaction: OpenTransaction;
}

/** Identifies a transaction; its sender holds the newest value. */
export type TransactionRef = Pick<OpenTransaction, 'id' | 'nonce'>;

export interface Owing {
  readonly sender: HeldSender;
  readonly transaction: TransactionRef;
  readonly effects: readonly Effect[];
}

export interface HeldSender extends ConfiguredSender, SenderFacts {
  readonly relayer: RelayerState;
  readonly sender: number;
  readonly fencingToken: bigint;
  readonly status: SenderStatus;
  /** By nonce: transactions that are stored and not known to be mined. */
  readonly open: ReadonlyMap<bigint, OpenTransaction>;
  /** Adds transactions whose rows are committed. */
  add(transactions: readonly OpenTransaction[]): void;
  /**
   * Applies an observation to a transaction, at `head` or else at the last head that was followed.
   * It has no effect if the transaction is no longer open.
   */
  observe(which: TransactionRef, observation: Observation, head?: Block): Owing;
  see(change: SenderChange): void;
}

export function openOf({ senders }: Pick<RelayerState, 'senders'>): Held[] {
  return [...senders.values()].flatMap((sender) =>
    [...sender.open.values()].map((transaction) => ({ sender, transaction })),
  );
}

/** Returns a sender's open transactions by nonce, the order in which they must be sent. */
export function inNonceOrder(sender: Pick<HeldSender, 'open'>): OpenTransaction[] {
  return [...sender.open.values()].sort((a, b) => (a.nonce < b.nonce ? -1 : 1));
}

/** Returns the newest values of the given transactions, without those that are no longer open. */
export function stillOpen(
  { open }: Pick<HeldSender, 'open'>,
  which: readonly TransactionRef[],
): OpenTransaction[] {
  return which.flatMap(({ id, nonce }) => {
    const transaction = open.get(nonce);
    return transaction?.id === id ? [transaction] : [];
  });
}

/**
 * A transaction that a node (`host`) reported at this nonce, and the process time of the report.
 */
export interface Sighting {
  readonly hash: Hex;
  readonly nonce: bigint;
  readonly host: string;
  readonly at: number;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export function createState(
  deps: RelayerDeps & Pick<RelayerState, 'owner' | 'configured'>,
): RelayerState {
  const { livemode, network } = deps.chain.config;
  const state: Writable<RelayerState> = {
    leaseMs: LEASE_MS,
    ...deps,
    ...NOTHING_SEEN,
    livemode,
    log: logWith(deps.log, { network }),
    senders: new Map(),
    recentBlocks: new Map(),
    deferred: new Map(),
    sightings: new Map(),
    see: (change) => {
      Object.assign(state, change);
    },
    hold: (sender) => {
      state.senders = new Map([...state.senders, [sender.sender, sender]]);
    },
    letGo: (...numbers) => {
      state.senders = new Map([...state.senders].filter(([number]) => !numbers.includes(number)));
    },
    raise: (tx, alarms) => insertAlarms(tx, livemode, alarms, deps.clock.now()),
    wakeSenders: () => deps.wakeups.send('chain-requests', network),
    observeAll: (observation, head) =>
      openOf(state).map(({ sender, transaction }) =>
        sender.observe(transaction, observation, head),
      ),
  };
  return state;
}

/** Creates a sender that was just leased. Its open transactions are read afterwards. */
export function createSender(
  leased: ConfiguredSender & Pick<HeldSender, 'relayer' | 'sender' | 'fencingToken' | 'isStopped'>,
): HeldSender {
  const held: Writable<HeldSender> = {
    ...NEW_SENDER,
    ...leased,
    open: new Map(),
    get status() {
      return statusOf(held, held.open);
    },
    see: (change) => {
      Object.assign(held, change);
    },
    add: (transactions) => {
      held.open = new Map([...held.open, ...transactions.map((one) => [one.nonce, one] as const)]);
    },
    observe: (which, observation, head) => {
      const known = held.open.get(which.nonce);
      if (known?.id !== which.id) return { sender: held, transaction: which, effects: [] };
      const now = nowOf(held.relayer, head);
      const after = step(known, observation, now);
      if (steps.hasSubscribers) steps.publish({ before: known, observation, now, after });
      const { transaction, effects } = after;
      const open = new Map(held.open);
      if (transaction.phase === 'done') open.delete(transaction.nonce);
      else open.set(transaction.nonce, transaction);
      held.open = open;
      return { sender: held, transaction: which, effects };
    },
  };
  return held;
}
