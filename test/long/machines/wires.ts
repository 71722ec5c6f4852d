import { sh } from '../shell-commands.ts';

/**
 * The network of the simulated machines: each has a namespace of its own, with the guide's address,
 * on one bridge, which has one link to this machine.
 */

const ROOM = 'tlroom';
/** This machine's address as seen from the simulated ones. Clients and chains run here. */
export const OUTSIDE = '10.0.0.1';

export interface Wire {
  readonly name: string;
  readonly address: string;
  /** The words that run a command in the machine's network. */
  readonly inside: readonly string[];
  /** Sends a signal to every process on the machine. */
  signal(which: string): Promise<void>;
  /** Cuts the network in both directions. */
  cutOff(): Promise<void>;
  connect(): Promise<void>;
}

/** Returns why machines cannot be connected here, or `null`. */
export async function whyNoWires(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'namespaces need root';
  const made = await sh(`ip netns add ${ROOM}-try && ip netns del ${ROOM}-try`).catch(() => null);
  if (made === null) return 'network namespaces are forbidden here';
  const taken = await sh(`ip route show root ${OUTSIDE}/24 | grep -v ${ROOM}0 || true`);
  return taken === '' ? null : `the addresses of the guide are in use here: ${taken}`;
}

async function connectWire(name: string, number: number): Promise<Wire> {
  const space = `${ROOM}-${name}`;
  const address = `10.0.0.1${number}`;
  await sh(
    [
      `ip netns add ${space}`,
      `ip -n ${ROOM} link add ${name} type veth peer name eth0 netns ${space}`,
      `ip -n ${ROOM} link set ${name} master room up`,
      `ip -n ${space} link set lo up`,
      `ip -n ${space} addr add ${address}/24 dev eth0`,
      `ip -n ${space} link set eth0 up`,
    ].join(' && '),
  );
  const turn = async (way: 'up' | 'down') =>
    void (await sh(`ip -n ${ROOM} link set ${name} ${way}`));
  return {
    ...{ name, address, inside: ['ip', 'netns', 'exec', space] },
    // Some processes have already ended.
    signal: async (which) =>
      void (await sh(`ip netns pids ${space} | xargs -r kill -${which} 2>/dev/null || true`)),
    cutOff: () => turn('down'),
    connect: () => turn('up'),
  };
}

/** Connects machines with these names. Removes the remains of killed runs first. */
export async function openWires(names: readonly string[]): Promise<Wire[]> {
  await closeWires();
  await sh(
    [
      `ip netns add ${ROOM}`,
      `ip -n ${ROOM} link add room type bridge`,
      `ip -n ${ROOM} link set room up`,
      `ip link add ${ROOM}0 type veth peer name outside netns ${ROOM}`,
      `ip -n ${ROOM} link set outside master room up`,
      `ip addr add ${OUTSIDE}/24 dev ${ROOM}0`,
      `ip link set ${ROOM}0 up`,
    ].join(' && '),
  );
  const wires: Wire[] = [];
  for (const [index, name] of names.entries()) wires.push(await connectWire(name, index + 1));
  return wires;
}

/** Kills what runs on the machines, and removes their network. */
export async function closeWires(): Promise<void> {
  const spaces = (await sh('ip netns list')).match(new RegExp(`^${ROOM}\\S*`, 'gm')) ?? [];
  for (const space of spaces) {
    await sh(`ip netns pids ${space} | xargs -r kill -9`).catch(() => {});
    await sh(`ip netns del ${space}`).catch(() => {});
  }
  await sh(`ip link del ${ROOM}0`).catch(() => {});
}
