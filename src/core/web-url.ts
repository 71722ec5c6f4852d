import type { AddressInfo } from 'node:net';

interface Reached {
  readonly publicUrl: string | null;
  readonly port: number;
  /** Where phones on the network reach a sandbox; null: nowhere. */
  readonly lan?: { readonly host: string; readonly port: number } | null;
}

/**
 * Where people reach the web apps, without a slash at its end. Without a public address this
 * machine, at the port that it was given (`PORT=0` takes a free one).
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
