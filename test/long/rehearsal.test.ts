import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { silentLog } from '#core/log.ts';
import { newKey } from '#ops/deploy-contract.ts';
import { openTemporaryFolder } from '#sandbox/temporary-folder.ts';
import { startThrowawayChain } from '#sandbox/throwaway-chain.ts';
import { connectRpc } from '#settlement/chain/rpc.ts';
import { startScriptedNode } from '#testing/scripted-node.ts';

const RUN = path.join(import.meta.dirname, '../rehearsal/run.ts');
const CHAIN_ID = 41_300;

async function rehearse(args: readonly string[], key: string) {
  const child = spawn(process.execPath, [RUN, '--network', 'testnet', ...args]);
  child.stdin.end(key);
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    child.exitCode ?? once(child, 'exit'),
  ]);
  return { stdout, stderr, code: child.exitCode };
}

test('a rehearsal pays, refunds and withdraws on an unknown chain', async () => {
  const chain = await startThrowawayChain({ chainId: CHAIN_ID, blockTime: 1 });
  const out = await openTemporaryFolder('tapline-rehearsal');
  try {
    const { key, address } = newKey();
    const rpc = connectRpc({ urls: [chain.rpcUrl], chainId: CHAIN_ID, log: silentLog });
    await rpc.call('anvil_setBalance', [address, '0x8ac7230489e80000']);
    const { path: folder } = out.folder;
    const asked = ['--rpc-url', chain.rpcUrl, '--test-token', '--out', folder];
    const { code, stdout, stderr } = await rehearse(asked, key);
    assert.equal(code, 0, stderr);
    const [name = ''] = (await readdir(folder)).filter((one) => one.endsWith('.md'));
    const report = await readFile(path.join(folder, name), 'utf8');
    assert.equal(stdout.trim(), report.trim());
    assert.match(report, /No public chain was reached/);
    assert.match(report, /\| payment 3, from the tap to the result \| [\d.]+ \| \d+ \| 0\.0\d+ \|/);
    assert.match(report, /atoms that the shop may still withdraw: 1100000/);
    const left = BigInt((await rpc.call('eth_getBalance', [address, 'latest'])) as string);
    assert.ok(left > 9n * 10n ** 18n, 'what the senders did not need came back');
    await rpc.close();
  } finally {
    await chain.stop();
    await out.remove();
  }
});

test('a rehearsal spends no real money', async () => {
  const node = await startScriptedNode('base', 8453);
  const { code, stderr } = await rehearse(['--rpc-url', node.url], newKey().key);
  node.stop();
  assert.equal(code, 1);
  assert.equal(stderr.trim(), 'chain 8453 is base: a rehearsal spends no real money');
});
