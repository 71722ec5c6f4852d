import { spawn } from 'node:child_process';
import {
  type ClientRequest,
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { request } from 'node:https';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#sandbox/find-and-stop-processes.ts';
import { listen } from '#testkit/network/listen.ts';
import { startMailServer } from '#testkit/network/mail-server.ts';
import { startTcpProxy } from '#testkit/network/tcp-proxy.ts';
import type { ChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import { chaosEnv } from '#testkit/simulation/chaos/chaos-process.ts';
import type { Undo } from './rig.ts';
import { OUTSIDE } from './wires.ts';

/** Services outside the simulated machines: chains, a mail server, merchants, a pager. */

/** The address that keepalived assigns to one of the machines. */
export const SHARED_ADDRESS = '10.0.0.10';
export const HOST_NAME = 'pay.example.com';
const ANSWER_MS = 30_000;
const PROXY = path.join(import.meta.dirname, '../../../deploy/ha/haproxy.cfg');
/** HAProxy checks every machine once within this time. */
const CHECKED_MS = 500;

/** Makes a local port reachable from the machines. @returns host and port. */
export async function publish(port: number, undo: Undo): Promise<string> {
  const proxy = await startTcpProxy(port, OUTSIDE);
  undo.push(proxy.close);
  return `${OUTSIDE}:${proxy.port}`;
}

/** Settings that only the operator knows. */
export async function outsideSettings(
  ground: ChaosGround,
  undo: Undo,
): Promise<Record<string, string>> {
  const mail = await startMailServer();
  undo.push(mail.stop);
  const fromThere = async (url: string) => {
    const { protocol, port } = new URL(url);
    return `${protocol}//${await publish(Number(port), undo)}`;
  };
  const [testnet = '', mainnet = ''] = await Promise.all(
    ground.chains.map(({ config }) => fromThere(config.rpcUrls[0] ?? '')),
  );
  return {
    ...chaosEnv(ground),
    ...{ CHAIN_TESTNET_RPC_URL: testnet, CHAIN_MAINNET_RPC_URL: mainnet },
    ...{ CHAIN_TESTNET_WS_URL: 'auto', CHAIN_MAINNET_WS_URL: 'auto' },
    ...{ SMTP_URL: await fromThere(mail.url), MAIL_FROM: 'no-reply@example.com' },
    TAPLINE_PUBLIC_URL: `https://${HOST_NAME}`,
  };
}

interface Front {
  readonly ca: string;
  readonly host: string;
  readonly servername: string;
}

/** Passes a request on, and the response back. */
export function passOn(incoming: IncomingMessage, answer: ServerResponse, onward: ClientRequest) {
  onward.on('response', (response: IncomingMessage) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.on('error', () => answer.destroy()).pipe(answer);
  });
  onward.on('timeout', () => onward.destroy());
  onward.on('error', () => answer.destroy());
  incoming.pipe(onward);
}

/**
 * Opens a local address that forwards to the shared one, for programs that cannot be given a
 * certificate authority. It accepts only certificates that `ca` has signed for the host name.
 */
export async function openFrontDoor(front: Front, undo: Undo): Promise<string> {
  const server = createHttpServer((incoming, answer) => {
    const { method, url } = incoming;
    const headers = { ...incoming.headers, host: front.servername };
    const to = { ...front, agent: false, timeout: ANSWER_MS, method, path: url, headers };
    passOn(incoming, answer, request(to));
  });
  const { url, close } = await listen(server);
  undo.push(close);
  return url;
}

/** Starts an HAProxy that leads to the machines' current primary. @returns its port. */
export async function openWayToPrimary(undo: Undo): Promise<number> {
  const machines = Object.fromEntries([1, 2, 3].map((n) => [`HA_DB${n}`, `${OUTSIDE}${n}`]));
  const [primary, standby, pooled] = [await freePort(), await freePort(), await freePort()];
  const ports = {
    ...{ HA_PRIMARY_PORT: `${primary}`, HA_STANDBY_PORT: `${standby}` },
    HA_POOLED_PORT: `${pooled}`,
  };
  const env = { ...process.env, ...machines, ...ports };
  const proxy = spawn('haproxy', ['-db', '-f', PROXY], { env, stdio: 'ignore' });
  undo.push(() => proxy.kill('SIGKILL'));
  await sleep(CHECKED_MS);
  return primary;
}

/** A notification with an alert that was not reported before. */
export interface Notice {
  /** `performance.now()` at arrival. */
  readonly at: number;
  readonly receiver: string;
  readonly names: readonly string[];
  readonly links: readonly string[];
}

interface SentAlert {
  readonly status: string;
  readonly fingerprint: string;
  readonly startsAt: string;
  readonly labels: { readonly alertname: string };
  readonly annotations: { readonly runbook_url: string };
}

/** Receives Alertmanager's notifications for pager and tickets. @returns the pager's URL. */
export async function openPager(notices: Notice[], undo: Undo, host = OUTSIDE): Promise<string> {
  const told = new Set<string>();
  const server = createHttpServer(async (incoming, answer) => {
    const sent = (await json(incoming)) as { receiver: string; alerts: SentAlert[] };
    const fresh = sent.alerts.filter(({ status, fingerprint, startsAt }) => {
      const key = `${sent.receiver} ${fingerprint} ${startsAt}`;
      const isNew = status === 'firing' && !told.has(key);
      told.add(key);
      return isNew;
    });
    const names = [...new Set(fresh.map(({ labels }) => labels.alertname))];
    const links = fresh.map(({ annotations }) => annotations.runbook_url);
    const { receiver } = sent;
    if (fresh.length > 0) notices.push({ at: performance.now(), receiver, names, links });
    answer.end();
  });
  const { url, close } = await listen(server, host);
  undo.push(close);
  return `${url}/`;
}
