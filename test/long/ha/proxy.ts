import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#sandbox/find-and-stop-processes.ts';

const CONFIG = path.join(import.meta.dirname, '../../../deploy/ha/haproxy.cfg');
/** HAProxy checks every machine once within this time. */
const STARTED_MS = 500;

/** HAProxy of deploy/ha on this machine, for test programs. */
export interface Proxy {
  /** Ports on 127.0.0.1, as configured. */
  readonly primary: number;
  readonly standby: number;
  readonly process: ChildProcess;
}

/** @param network The first three numbers of the machines' addresses, which end in 11 to 13. */
export async function startProxy(network: string): Promise<Proxy> {
  const [primary, standby, pooled] = [await freePort(), await freePort(), await freePort()];
  const machines = Object.fromEntries([1, 2, 3].map((n) => [`HA_DB${n}`, `${network}.1${n}`]));
  const ports = {
    HA_PRIMARY_PORT: String(primary),
    HA_STANDBY_PORT: String(standby),
    HA_POOLED_PORT: String(pooled),
  };
  const env = { ...process.env, ...machines, ...ports };
  const proxy = spawn('haproxy', ['-db', '-f', CONFIG], { env, stdio: 'ignore' });
  await sleep(STARTED_MS);
  return { primary, standby, process: proxy };
}
