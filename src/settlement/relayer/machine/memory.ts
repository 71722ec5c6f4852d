import {
  NOTHING_SEEN,
  type NowSource,
  nowOf,
  seeChain,
} from '#settlement/relayer/machine/chain-view.ts';
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

// The only file that assigns what a process knows of its chain, its lanes and their transactions.
// Everything else observes, and reads the newest values.

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What a process knows when it starts: nothing. */
export function createState(
  deps: RelayerDeps & Pick<RelayerState, 'owner' | 'configured'>,
): RelayerState {
  let view = NOTHING_SEEN;
  const state: Writable<RelayerState> = {
    leaseMs: LEASE_MS,
    ...deps,
    ...view,
    lanes: new Map(),
    recentBlocks: new Map(),
    deferred: new Map(),
    sightings: new Map(),
    see: (observation) => {
      view = seeChain(view, observation);
      Object.assign(state, view);
    },
    hold: (lane) => {
      state.lanes = new Map([...state.lanes, [lane.lane, lane]]);
    },
    letGo: (...numbers) => {
      state.lanes = new Map([...state.lanes].filter(([number]) => !numbers.includes(number)));
    },
    observeAll: (observation, head) => {
      const all = [...state.lanes.values()].flatMap((lane) =>
        [...lane.open.values()].map((transaction) => ({ lane, transaction })),
      );
      return all.flatMap(({ lane, transaction }): Owing[] => {
        const effects = lane.observe(transaction, observation, head);
        return effects.length === 0 ? [] : [{ lane, transaction, effects }];
      });
    },
  };
  return state;
}

/** A lane that was just leased, without what its rows say is open. */
export function createLane(
  relayer: NowSource,
  leased: ConfiguredLane & Pick<HeldLane, 'lane' | 'fence' | 'isStopped'>,
): HeldLane {
  let sender = newSender(leased.isStopped);
  const held: Writable<HeldLane> = {
    ...leased,
    ...sender,
    open: new Map(),
    get status() {
      return statusOf(sender, held.open);
    },
    see: (observation) => {
      sender = stepSender(sender, observation);
      Object.assign(held, sender);
    },
    add: (transactions) => {
      held.open = new Map([...held.open, ...transactions.map((one) => [one.nonce, one] as const)]);
    },
    observe: (which, observation, head) => {
      const known = held.open.get(which.nonce);
      if (known?.id !== which.id) return [];
      const { transaction, effects } = step(known, observation, nowOf(relayer, head));
      const open = new Map(held.open);
      if (transaction.phase === 'done') open.delete(transaction.nonce);
      else open.set(transaction.nonce, transaction);
      held.open = open;
      return effects;
    },
  };
  return held;
}
