import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { generatePrivateKey } from 'viem/accounts';
import { type SharedSandbox, startSharedSandbox } from '../../testkit/network/shared-sandbox.ts';

/** The facilitator on a network that gives up payments too late for x402 clients. */

const COMMAND = path.join(import.meta.dirname, '../../x402/bin/tapline-x402.js');

let shared: SharedSandbox;

before(async () => {
  shared = await startSharedSandbox({ SETTLEMENT_TIMEOUT_SECONDS: '81' });
});

after(() => shared?.close());

test('the command ends with one line if the network gives up payments too late', async () => {
  const { base_url: baseUrl, account, test: mode } = shared.sandbox;
  const response = await fetch(`${baseUrl}/payer/v1/networks`);
  type Networks = { data: { settlement_timeout_seconds: number }[] };
  const { data } = (await response.json()) as Networks;
  assert.deepEqual(new Set(data.map((one) => one.settlement_timeout_seconds)), new Set([81]));
  const env = {
    PATH: process.env.PATH ?? '',
    TAPLINE_BASE_URL: baseUrl,
    TAPLINE_API_KEY: mode.secret_key,
    TAPLINE_ACCOUNT: account,
    TAPLINE_TERMINAL: mode.agent_terminal,
    X402_PRIVATE_KEY: generatePrivateKey(),
    X402_RPC_URL: mode.rpc_url,
    PORT: '0',
  };
  const [code, output, errors] = await new Promise<[unknown, string, string]>((resolve) => {
    execFile(process.execPath, [COMMAND], { env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve([error?.code, stdout, stderr]);
    });
  });
  assert.equal(
    errors,
    "The network's SETTLEMENT_TIMEOUT_SECONDS is 81. x402 needs 80 or less, because its clients " +
      'wait 90 s.\n',
  );
  assert.deepEqual([code, output], [1, '']);
});
