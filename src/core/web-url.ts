import type { AddressInfo } from 'node:net';

interface Reached {
  readonly publicUrl: string | null;
  readonly port: number;
  /** The address at which phones on the local network reach a sandbox; null if there is none. */
  readonly lan?: { readonly host: string; readonly port: number } | null;
}

/**
 * Returns the base URL of the web apps, without a trailing slash. Without a public address, that is
 * the local network's address, or this machine at its actual port (`PORT=0` picks a free one).
 */
export function webUrlOf(
  { publicUrl, port, lan }: Reached,
  bound: AddressInfo | string | null = null,
): string {
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '');
  if (lan != null) return `https://${lan.host}:${lan.port}`;
  const boundPort = bound === null || typeof bound === 'string' ? port : bound.port;
  return `http://127.0.0.1:${boundPort}`;
}
