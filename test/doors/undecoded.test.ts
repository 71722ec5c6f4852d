import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { privateKeyToAccount } from 'viem/accounts';
import { askCell } from '#cells/ask-other-cells.ts';
import { silentLog } from '#observability/log.ts';
import { checkReceipt } from '#ops/check-receipt.ts';
import { plainFetch } from '#outgoing/plain-fetch.ts';
import { askFeeds } from '#prices/ask-rate-feeds.ts';
import { connectRpc } from '#sandbox/json-rpc.ts';
import { createPost } from '#settlement/chain/rpc/rpc-post.ts';
import { subscribeHeads } from '#settlement/chain/rpc/subscribe-heads.ts';
import { checkSigner, readRemoteKey } from '#settlement/remote-signer.ts';
import { usedNoncesAt } from '#signer/ask-used-nonces.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import {
  ENCODED,
  recordDecoders,
  startEncodingServer,
} from '#testkit/network/encoded-responses.ts';
import { DeviceApi } from '../../reader/src/device-api.ts';
import { receiptText } from '../../reader/src/printing/printer.ts';
import { findNetwork } from '../../x402/src/payer.ts';
import { openToken } from '../../x402/src/transfer-usdc.ts';

/** Other servers' responses are never decoded by our programs, whatever the servers compress. */

const ROOT = path.join(import.meta.dirname, '../..');
const ADDRESS = `0x${'1'.repeat(40)}` as const;
const ACCOUNT = privateKeyToAccount(`0x${'1'.repeat(64)}`);
const NONCE = `0x${'1'.repeat(64)}` as const;
const WAIT_MS = 200;

const decoders = recordDecoders();

const server = openForTests(startEncodingServer);
beforeEach(() => {
  server.accepted.length = 0;
  decoders.length = 0;
});

async function watchHeads(): Promise<void> {
  const heads = subscribeHeads(server.url.replace('http', 'ws'), () => {}, silentLog);
  await sleep(WAIT_MS);
  heads.stop();
}

async function postToNode(): Promise<unknown> {
  const ceiling = { take: async () => {} } as never;
  const post = createPost({ url: server.url, headers: {}, timeoutMs: 1_000, ceiling });
  const posted = await post.send([{ method: 'eth_chainId', params: [] }], false);
  await post.close();
  return posted;
}

function isUsed(): Promise<unknown> {
  const facts = { rpcUrl: server.url, chainId: 1, usdc: ADDRESS, domain: {} as never };
  const options = { factories: [], onError: () => {} };
  return openToken(facts, ACCOUNT, options).isUsed({ from: ADDRESS, nonce: NONCE } as never);
}

/** A request of each part of the programs that sends some. */
const REQUESTS: Readonly<Record<string, () => Promise<unknown>>> = {
  'the service, to any address': () => plainFetch(server.url),
  'the service, to another cell': () =>
    askCell({} as never, { cell: 2, url: server.url }, { path: '/x', body: {} }),
  'the service, to rate feeds': () => askFeeds([server.url, server.url], new Date()),
  'the service, to a node': postToNode,
  'the service, to a node’s WebSocket': watchHeads,
  'the service, to a remote signer': () =>
    checkSigner(readRemoteKey(`${server.url}/${ADDRESS}`, 'token', 'KEY')),
  'the sandbox, to its node': () => connectRpc(server.url)('eth_chainId'),
  'a command, to a node': () => checkReceipt({ proof: { chain_id: 1 } } as never, server.url),
  'the signer, to nodes': usedNoncesAtServer,
  'the facilitator, to the network': () => findNetwork(server.url, false),
  'the facilitator, to a node': isUsed,
  'the reader, to the network': () => DeviceApi.pair(server.url, 'AAAA-AAAA'),
  'the reader, for a receipt': () => receiptText(`${server.url}/r`, { width: 32, ms: 1_000 }),
};

function usedNoncesAtServer(): Promise<unknown> {
  return usedNoncesAt([server.url, server.url], { address: ADDRESS, chainId: 1 })();
}

for (const way of Object.keys(ENCODED) as (keyof typeof ENCODED)[]) {
  for (const [who, send] of Object.entries(REQUESTS)) {
    test(`${who}: no response is decoded (${way})`, async () => {
      server.sends = way;
      await send().catch(() => {});
      assert.ok(server.accepted.length > 0, 'a request was sent');
      assert.deepEqual(decoders, []);
      for (const one of server.accepted) assert.ok(one === undefined || one === 'identity', one);
    });
  }
}

/** Runs a program that names the decoders that it created. */
function runRecorded(program: readonly string[]): Promise<string> {
  const recorder = pathToFileURL(path.join(ROOT, 'testkit/network/encoded-responses.ts'));
  const preload = `import { recordDecoders } from '${recorder}';
    const all = recordDecoders(); process.on('exit', () => console.log('decoders: ' + all));`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, ...program];
  const env = { ...process.env, TAPLINE_API_KEY: `tlsk_test_${'a'.repeat(30)}` };
  const own = { ...env, TAPLINE_BASE_URL: `${server.url}/api`, HOME: '/nonexistent' };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT, env: own }, (_, stdout, stderr) => {
      resolve(stdout + stderr);
    });
  });
}

test('the command line decodes no response', async () => {
  const command = path.join(ROOT, 'cli/bin/tapline.js');
  const runs = [
    ...(['br', 'gzip, br', 'redirect'] as const).map((way) => [way, 'doctor'] as const),
    ...[['br', 'get', 'pay_1'] as const, ['br', 'payments', 'list'] as const],
  ];
  for (const [way, ...words] of runs) {
    server.sends = way;
    const said = await runRecorded([command, ...words]);
    assert.match(said, /^decoders: $/m, `${words}: ${said}`);
  }
  assert.ok(server.accepted.length >= runs.length, `${server.accepted.length} requests`);
  server.sends = 'br';
  const program = ['--input-type=module', '-e', `await fetch('${server.url}').catch(() => {})`];
  assert.match(await runRecorded(program), /^decoders: \w+/m, 'the recorder sees decoders');
});
