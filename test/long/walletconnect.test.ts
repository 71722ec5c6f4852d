import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type WebSocket, WebSocketServer } from 'ws';
import { type SharedSandbox, startSharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { openBrowser, type TestBrowser, type TestWindow } from '../../web/testing/browser.ts';
import { askForPayment, fund } from '../../web/testing/payer.ts';
import { addTestTerminal, paymentsOf } from '../../web/testing/till.ts';
import type { WalletData } from './walletconnect/wallet.ts';

/**
 * A wallet on another device pays through WalletConnect: the unmodified library of
 * src/web/walletconnect on both sides, and our own relay between them. The test never contacts the
 * company's relay.
 */

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
const PROJECT = '0123456789abcdef'.repeat(2);
const PULLED = 2_511_250n;

interface Posted {
  readonly topic: string;
  readonly message: string;
  readonly tag: number;
}

/** Forwards each message to all subscribers of its topic, even those that subscribe later. */
class Relay {
  #server: WebSocketServer | null = null;
  readonly #topics = new Map<WebSocket, Set<string>>();
  readonly #posted: (Posted & { readonly from: WebSocket })[] = [];
  readonly projects = new Set<string>();

  async start(): Promise<string> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    this.#server = server;
    server.on('connection', (socket, { url = '' }) => {
      this.projects.add(new URL(url, 'ws://relay').searchParams.get('projectId') ?? '');
      this.#topics.set(socket, new Set());
      socket.on('message', (data) => this.#hear(socket, JSON.parse(String(data))));
      socket.on('close', () => this.#topics.delete(socket));
    });
    await once(server, 'listening');
    return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  stop(): void {
    for (const socket of this.#topics.keys()) socket.terminate();
    this.#server?.close();
  }

  #hear(socket: WebSocket, { id, method, params }: Asked): void {
    if (method === undefined) return;
    const result = this.#answer(socket, method, params);
    socket.send(JSON.stringify({ id, jsonrpc: '2.0', result }));
  }

  #answer(socket: WebSocket, method: string, params: Asked['params']): unknown {
    switch (method) {
      case 'irn_subscribe':
        return this.#subscribe(socket, String(params.topic));
      case 'irn_batchSubscribe':
        return params.topics?.map((topic) => this.#subscribe(socket, topic));
      case 'irn_publish':
        this.#post(socket, params as unknown as Posted);
        return true;
      case 'wc_proposeSession':
        this.#subscribe(socket, String(params.pairingTopic));
        this.#post(socket, {
          topic: String(params.pairingTopic),
          message: String(params.sessionProposal),
          tag: 1100,
        });
        return true;
      case 'wc_approveSession':
        this.#subscribe(socket, String(params.sessionTopic));
        this.#post(socket, {
          topic: String(params.pairingTopic),
          message: String(params.sessionProposalResponse),
          tag: 1101,
        });
        this.#post(socket, {
          topic: String(params.sessionTopic),
          message: String(params.sessionSettlementRequest),
          tag: 1102,
        });
        return true;
      case 'irn_batchFetchMessages':
      case 'irn_fetchMessages':
        return { messages: [], hasMore: false };
      default:
        return true;
    }
  }

  #subscribe(socket: WebSocket, topic: string): string {
    this.#topics.get(socket)?.add(topic);
    const kept = this.#posted.filter((one) => one.topic === topic && one.from !== socket);
    setImmediate(() => {
      for (const one of kept) tell(socket, one);
    });
    return `sub-${topic}`;
  }

  #post(from: WebSocket, { topic, message, tag }: Posted): void {
    this.#posted.push({ topic, message, tag, from });
    for (const [socket, topics] of this.#topics) {
      if (socket !== from && topics.has(topic)) tell(socket, { topic, message, tag });
    }
  }
}

interface Asked {
  readonly id: number;
  readonly method?: string;
  readonly params: Readonly<Record<string, unknown>> & { readonly topics?: readonly string[] };
}

let told = 0;

function tell(socket: WebSocket, { topic, message, tag }: Posted): void {
  const id = Date.now() * 1000 + told++;
  const data = { topic, message, tag, publishedAt: Date.now() };
  const params = { id: `sub-${topic}`, data };
  socket.send(JSON.stringify({ id, jsonrpc: '2.0', method: 'irn_subscription', params }));
}

/** Opens a wallet app on another device. */
function openWallet(data: WalletData): Worker {
  return new Worker(path.join(import.meta.dirname, 'walletconnect/wallet.ts'), {
    workerData: data,
  });
}

const relay = new Relay();
let relayUrl: string;
let shared: SharedSandbox;
let browser: TestBrowser;

before(async () => {
  await run('npm', ['run', 'walletconnect'], { cwd: ROOT });
  relayUrl = await relay.start();
  const env = { WALLETCONNECT_PROJECT_ID: PROJECT, WALLETCONNECT_RELAY_URL: relayUrl };
  [shared, browser] = await Promise.all([startSharedSandbox(env), openBrowser()]);
});

after(async () => {
  await browser?.close();
  await shared?.close();
  relay.stop();
});

/** Clicks the button and passes the code to the wallet. */
async function invite(window: TestWindow, key: Hex, says: WalletData['says']) {
  const { page } = window;
  await page.getByRole('button', { name: 'Pay with WalletConnect' }).click();
  const link = page.getByRole('link', { name: 'Open a wallet app on this device' });
  await link.waitFor();
  const uri = (await link.getAttribute('href')) ?? '';
  assert.match(uri, /^wc:[0-9a-f]{64}@2\?/);
  return openWallet({ uri, relayUrl, projectId: PROJECT, key, says });
}

for (const [name, isTag] of [
  ['a pay link', false],
  ['a tag', true],
] as const) {
  test(`a wallet on another device pays ${name}`, async () => {
    const { sandbox } = shared;
    const terminal = await addTestTerminal(sandbox);
    const key = generatePrivateKey();
    await fund(sandbox, privateKeyToAccount(key), PULLED);
    const { url } = await askForPayment(sandbox, terminal);
    const window = await browser.open();
    await window.page.goto(isTag ? terminal.tagUrl : url);
    const wallet = await invite(window, key, 'yes');
    await window.page.getByText('Paid', { exact: true }).waitFor();
    const payments = await paymentsOf(sandbox, terminal);
    assert.equal(payments.length, 1);
    assert.ok(relay.projects.has(PROJECT));
    window.checkClean();
    await Promise.all([window.close(), wallet.terminate()]);
  });
}

for (const says of ['no to the page', 'no to the payment'] as const) {
  test(`nothing is charged when its owner says ${says}, and another try pays`, async () => {
    const { sandbox } = shared;
    const terminal = await addTestTerminal(sandbox);
    const key = generatePrivateKey();
    await fund(sandbox, privateKeyToAccount(key), PULLED);
    const { url } = await askForPayment(sandbox, terminal);
    const window = await browser.open();
    await window.page.goto(url);
    const first = await invite(window, key, says);
    await window.page.getByText('You did not approve this payment in your wallet.').waitFor();
    assert.equal((await paymentsOf(sandbox, terminal)).length, 0);
    const second = await invite(window, key, 'yes');
    await window.page.getByText('Paid', { exact: true }).waitFor();
    for (const wallet of [first, second]) await wallet.terminate();
    await window.close();
  });
}

test('an empty wallet is declined with a reason', async () => {
  const { sandbox } = shared;
  const terminal = await addTestTerminal(sandbox);
  const { url } = await askForPayment(sandbox, terminal);
  const window = await browser.open();
  await window.page.goto(url);
  const wallet = await invite(window, generatePrivateKey(), 'yes');
  await window.page.getByRole('alert').getByText('Declined').waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 0);
  await Promise.all([window.close(), wallet.terminate()]);
});
