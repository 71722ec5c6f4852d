import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosProcess } from '#testkit/simulation/chaos/chaos-process.ts';
import { Gate, type Way } from '#testkit/simulation/chaos/chaos-wire.ts';

/** A message between a process and its database or a node, in either direction. */
export interface Message {
  readonly process: string;
  /** Either `database`, or the network whose node is at the other end. */
  readonly wire: string;
  readonly way: Way;
  readonly text: string;
}

/** The moment at which a fault struck: a message, and the milliseconds since it passed. */
export interface Moment extends Message {
  readonly thenMs: number;
}

export interface Strike {
  readonly fault: string;
  /** `null` if no message passed shortly before the fault. */
  readonly moment: Moment | null;
}

/** A fault and its targets. */
export interface Blow {
  readonly fault: string;
  readonly all: readonly ChaosProcess[];
  /**
   * Processes whose messages can define the moment. A fault that strikes processes strikes these.
   */
  readonly targets: readonly ChaosProcess[];
  readonly strike: (targets: readonly ChaosProcess[]) => Promise<void>;
}

export type Timetable = ReturnType<typeof openTimetable>;

/**
 * Maximum time between a message and a fault. After a longer time, the message does not define the
 * fault's moment.
 */
const WINDOW_MS = 30;
/**
 * Time for which a replay waits for a moment. If the moment does not come, the fault strikes
 * anyway.
 */
const WAIT_MS = 8_000;
/** Time for which a gate stays closed. Longer than the delivery of a signal takes. */
const GATE_MS = 50;

interface Heard extends Message {
  readonly at: number;
}

/**
 * Returns the role of a process, such as `worker` for `worker-2`. Moments compare roles, because
 * the worker that holds a sender differs between runs.
 */
function roleOf(process: string): string {
  return process.replace(/-\d+$/, '');
}

function isSame(moment: Moment, heard: Message): boolean {
  return (
    roleOf(moment.process) === roleOf(heard.process) &&
    moment.wire === heard.wire &&
    moment.way === heard.way &&
    moment.text === heard.text
  );
}

/**
 * Counts messages by text. Of the recent messages, the one with the rarest text identifies a moment
 * best.
 */
function openEar() {
  const counts = new Map<string, number>();
  const recent: Heard[] = [];
  const listeners = new Set<(heard: Heard) => void>();
  const countOf = ({ wire, text }: Message) => counts.get(`${wire} ${text}`) ?? 0;
  return {
    listeners,
    hear: (message: Message) => {
      const heard = { ...message, at: performance.now() };
      counts.set(`${message.wire} ${message.text}`, countOf(message) + 1);
      recent.push(heard);
      while ((recent[0]?.at ?? heard.at) < heard.at - WINDOW_MS) recent.shift();
      for (const listen of listeners) listen(heard);
    },
    momentOf: (names: ReadonlySet<string>): Moment | null => {
      const now = performance.now();
      const near = recent.filter((one) => names.has(one.process) && one.at >= now - WINDOW_MS);
      const [rarest] = near.sort((a, b) => countOf(a) - countOf(b) || b.at - a.at);
      if (rarest === undefined) return null;
      const { at, ...message } = rarest;
      return { ...message, thenMs: Math.round((now - at) * 10) / 10 };
    },
  };
}

type Ear = ReturnType<typeof openEar>;

/**
 * Waits for a recorded moment.
 * @returns the process that reached it; `null` if none did in time
 */
function waitFor(ear: Ear, moment: Moment): Promise<string | null> {
  return new Promise((resolve) => {
    const end = (process: string | null) => {
      clearTimeout(timer);
      ear.listeners.delete(listen);
      resolve(process);
    };
    const listen = (heard: Heard) => {
      if (isSame(moment, heard)) end(heard.process);
    };
    const timer = setTimeout(() => end(null), WAIT_MS);
    ear.listeners.add(listen);
  });
}

/** Swaps the recorded target with the process that reached the moment. */
function inPlaceOf(
  targets: readonly ChaosProcess[],
  processes: readonly ChaosProcess[],
  { recorded, met }: { readonly recorded: string; readonly met: string },
): ChaosProcess[] {
  const named = (name: string) => processes.filter((process) => process.name === name);
  return targets.flatMap((process) => {
    if (process.name === recorded) return named(met);
    return process.name === met ? named(recorded) : [process];
  });
}

/**
 * Records the message at which each fault strikes. Given the strikes of an earlier run, repeats
 * them: each fault waits until a process of the same role sends the same message, and holds that
 * message while it strikes.
 */
export function openTimetable(recorded: readonly Strike[] | null) {
  const ear = openEar();
  const gates = new Map<string, Gate>();
  /**
   * Returns the gate of a process. It closes when a fault strikes, so that the process does not get
   * ahead of the fault.
   */
  const gateOf = (process: string) => {
    const gate = gates.get(process) ?? new Gate();
    gates.set(process, gate);
    return gate;
  };
  const strikes: Strike[] = [];
  const met = { hits: 0, of: 0 };
  const fall = async ({ strike }: Blow, targets: readonly ChaosProcess[]) => {
    const struck = strike(targets);
    await Promise.race([struck.catch(() => {}), sleep(GATE_MS)]);
    for (const gate of gates.values()) gate.open();
    await struck;
  };
  const replay = async (blow: Blow, moment: Moment) => {
    met.of++;
    const process = await waitFor(ear, moment);
    if (process === null) return fall(blow, blow.targets);
    met.hits++;
    if (moment.thenMs >= 1) await sleep(moment.thenMs);
    gateOf(process).close();
    const names = { recorded: moment.process, met: process };
    return fall(blow, inPlaceOf(blow.targets, blow.all, names));
  };
  return {
    gateOf,
    hear: ear.hear,
    /** The faults so far, each with the moment at which it struck. */
    strikes: strikes as readonly Strike[],
    /** Returns the number of faults with a recorded moment, and how many struck at it. */
    met: () => met,
    /** Strikes immediately. In a replay, waits until the recorded moment recurs. */
    strike: async (blow: Blow) => {
      const earlier = recorded?.[strikes.length];
      if (earlier !== undefined && earlier.fault === blow.fault && earlier.moment !== null) {
        strikes.push(earlier);
        return replay(blow, earlier.moment);
      }
      const names = new Set(blow.targets.map(({ name }) => name));
      strikes.push({ fault: blow.fault, moment: ear.momentOf(names) });
      return fall(blow, blow.targets);
    },
  };
}
