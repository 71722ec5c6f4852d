import { type ChainView, NOTHING_SEEN, seeChain } from '#settlement/relayer/machine/chain-view.ts';
import { nowOf } from '#settlement/relayer/machine/now.ts';
import { newSender, statusOf, stepSender } from '#settlement/relayer/machine/sender.ts';
import {
  type ConfiguredLane,
  type HeldLane,
  LEASE_MS,
  type Owing,
  type RelayerDeps,
  type RelayerState,
} from '#settlement/relayer/machine/state.ts';
import { step } from '#settlement/relayer/machine/step.ts';
import type { OpenTransaction } from '#settlement/relayer/machine/transaction.ts';

// The only file that assigns what a process knows of its chain, its lanes and their transactions.
// Everything else observes, and reads the newest values.

type Source = Pick<RelayerState, 'chain' | keyof ChainView>;
type KeptView = Pick<RelayerState, 'see' | keyof ChainView>;
type KeptLanes = Pick<RelayerState, 'lanes' | 'hold' | 'letGo' | 'observeAll'>;

/** What a process knows when it starts: nothing. */
export function createState(
  deps: RelayerDeps & Pick<RelayerState, 'owner' | 'configured' | 'pollNow'>,
): RelayerState {
  return assemble(keepView(), keepLanes(), {
    leaseMs: LEASE_MS,
    ...deps,
    toldHeads: new Map(),
    firstSeen: new Map(),
    deferred: new Map(),
    sightings: new Map(),
  });
}

/** One object of several, whose getters stay getters. */
function assemble<A extends object, B extends object, C extends object>(
  first: A,
  second: B,
  third: C,
): A & B & C {
  const descriptors = {
    ...Object.getOwnPropertyDescriptors(first),
    ...Object.getOwnPropertyDescriptors(second),
    ...Object.getOwnPropertyDescriptors(third),
  };
  return Object.defineProperties({}, descriptors) as A & B & C;
}

function keepView(): KeptView {
  let view = NOTHING_SEEN;
  return {
    get head() {
      return view.head;
    },
    get conflict() {
      return view.conflict;
    },
    get spread() {
      return view.spread;
    },
    get fees() {
      return view.fees;
    },
    get tips() {
      return view.tips;
    },
    get announced() {
      return view.announced;
    },
    get marks() {
      return view.marks;
    },
    get rhythm() {
      return view.rhythm;
    },
    get sight() {
      return view.sight;
    },
    see: (observation) => {
      view = seeChain(view, observation);
    },
  };
}

function keepLanes(): KeptLanes {
  let lanes: ReadonlyMap<number, HeldLane> = new Map();
  return {
    get lanes() {
      return lanes;
    },
    hold: (lane) => {
      lanes = new Map([...lanes, [lane.lane, lane]]);
    },
    letGo: (...numbers) => {
      lanes = new Map([...lanes].filter(([number]) => !numbers.includes(number)));
    },
    observeAll: (observation, head) => {
      const all = [...lanes.values()].flatMap((lane) =>
        [...lane.open.values()].map((transaction) => ({ lane, transaction })),
      );
      return all.flatMap(({ lane, transaction }): Owing[] => {
        const effects = lane.observe(transaction, observation, head);
        return effects.length === 0 ? [] : [{ lane, transaction, effects }];
      });
    },
  };
}

/** A lane that was just leased, without what its rows say is open. */
export function createLane(
  relayer: Source,
  leased: ConfiguredLane & Pick<HeldLane, 'lane' | 'fence' | 'isStopped'>,
): HeldLane {
  let sender = newSender(leased.isStopped);
  let open: ReadonlyMap<bigint, OpenTransaction> = new Map();
  const { lane, role, address, account, signsElsewhere, fence } = leased;
  return {
    ...{ lane, role, address, account, signsElsewhere, fence },
    get isStopped() {
      return sender.isStopped;
    },
    get isDraining() {
      return sender.isDraining;
    },
    get isStarved() {
      return sender.isStarved;
    },
    get paymentsLeft() {
      return sender.paymentsLeft;
    },
    get isSignerAsked() {
      return sender.isSignerAsked;
    },
    get status() {
      return statusOf(sender, open);
    },
    get open() {
      return open;
    },
    see: (observation) => {
      sender = stepSender(sender, observation);
    },
    add: (transactions) => {
      open = new Map([...open, ...transactions.map((one) => [one.nonce, one] as const)]);
    },
    observe: (which, observation, head) => {
      const known = open.get(which.nonce);
      if (known?.id !== which.id) return [];
      const { transaction, effects } = step(known, observation, nowOf(relayer, head));
      open = withNewest(open, transaction);
      return effects;
    },
  };
}

function withNewest(
  open: ReadonlyMap<bigint, OpenTransaction>,
  transaction: ReturnType<typeof step>['transaction'],
): ReadonlyMap<bigint, OpenTransaction> {
  const next = new Map(open);
  if (transaction.phase === 'done') next.delete(transaction.nonce);
  else next.set(transaction.nonce, transaction);
  return next;
}
