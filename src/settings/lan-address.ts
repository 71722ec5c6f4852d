import { networkInterfaces } from 'node:os';
import { StartError } from '#core/start-error.ts';

/** The address at which phones on the same network reach a sandbox started with `--lan`. */
export interface Lan {
  /** This machine's address on the network. */
  readonly host: string;
  readonly port: number;
}

/**
 * Returns the first address that other machines can reach. Only IPv4, because people may have to
 * type the address.
 */
function ownAddress(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;
}

/** @throws StartError if this machine is on no network. */
export function lanOf(port: number): Lan {
  const host = ownAddress();
  if (host === null) throw new StartError('--lan: this machine has no IPv4 address on a network');
  // Use the next port, so that scripts on this machine can still use plain HTTP.
  return { host, port: port === 0 ? 0 : port + 1 };
}
