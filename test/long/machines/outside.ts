import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect, createServer } from 'node:net';
import { json } from 'node:stream/consumers';
import { listen } from '#testkit/network/listen.ts';
import { startMailServer } from '#testkit/network/mail-server.ts';
import type { ChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import { chaosEnv } from '#testkit/simulation/chaos/chaos-process.ts';
import { startProxy } from '../ha/proxy.ts';
import { OUTSIDE } from './room.ts';

/** Services outside the simulated machines: chains, a mail server, merchants, a pager. */

/** The address that keepalived assigns to one of the machines. */
export const SHARED_ADDRESS = '10.0.0.10';
export const HOST_NAME = 'pay.example.com';
const ANSWER_MS = 30_000;

export type Undo = (() => unknown)[];

/** Makes a local port reachable at this address. @returns the URL. */
export async function publish(port: number, undo: Undo, address = OUTSIDE): Promise<string> {
  const server = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    socket.on('error', () => onward.destroy()).pipe(onward);
    onward.on('error', () => socket.destroy()).pipe(socket);
  });
  const published = await listen(server, address);
  undo.push(published.close);
  return `${address}:${published.port}`;
}

/** Settings that only the operator knows. `address`: where the machines reach local services. */
export async function outsideSettings(
  ground: ChaosGround,
  undo: Undo,
  address = OUTSIDE,
): Promise<Record<string, string>> {
  const mail = await startMailServer();
  undo.push(mail.stop);
  const fromThere = async (url: string) => {
    const { protocol, port } = new URL(url);
    return `${protocol}//${await publish(Number(port), undo, address)}`;
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

/**
 * Opens a local address that forwards to the shared one, for programs that cannot be given a
 * certificate authority. It accepts only certificates that `ca` has signed for the host name.
 */
export async function openFrontDoor(front: Front, undo: Undo): Promise<string> {
  const server = createHttpServer((incoming, answer) => {
    const onward = request({
      ...front,
      ...{ agent: false, timeout: ANSWER_MS },
      ...{ method: incoming.method, path: incoming.url },
      headers: { ...incoming.headers, host: front.servername },
    });
    onward.on('response', (response: IncomingMessage) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.on('error', () => answer.destroy()).pipe(answer);
    });
    onward.on('timeout', () => onward.destroy());
    onward.on('error', () => answer.destroy());
    incoming.pipe(onward);
  });
  const { url, close } = await listen(server);
  undo.push(close);
  return url;
}

/** Starts an HAProxy that leads to the machines' current primary. @returns its port. */
export async function openWayToPrimary(undo: Undo): Promise<number> {
  const proxy = await startProxy(OUTSIDE.slice(0, OUTSIDE.lastIndexOf('.')));
  undo.push(() => proxy.process.kill('SIGKILL'));
  return proxy.primary;
}

/** A notification with an alert that was not reported before. */
export interface Notice {
  /** `performance.now()` at arrival. */
  readonly at: number;
  readonly receiver: string;
  readonly names: readonly string[];
}

interface SentAlert {
  readonly status: string;
  readonly fingerprint: string;
  readonly startsAt: string;
  readonly labels: { readonly alertname: string };
}

/**
 * Receives Alertmanager's notifications for pager and tickets. @returns the URL at which the
 * machines reach this pager.
 */
export async function openPager(notices: Notice[], undo: Undo): Promise<string> {
  const told = new Set<string>();
  const server = createHttpServer(async (incoming, answer) => {
    const sent = (await json(incoming)) as { receiver: string; alerts: SentAlert[] };
    const fresh = sent.alerts.filter(({ status, fingerprint, startsAt }) => {
      const key = `${sent.receiver} ${fingerprint} ${startsAt}`;
      const isNew = status === 'firing' && !told.has(key);
      told.add(key);
      return isNew;
    });
    const names = new Set(fresh.map(({ labels }) => labels.alertname));
    if (fresh.length > 0) {
      notices.push({ at: performance.now(), receiver: sent.receiver, names: [...names] });
    }
    answer.end();
  });
  const { url, close } = await listen(server, OUTSIDE);
  undo.push(close);
  return `${url}/`;
}
