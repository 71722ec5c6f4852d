import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { silentLog } from '#observability/log.ts';
import { freePort, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { connectRpc } from '#settlement/chain/rpc/rpc.ts';
import { installTool, type Tool } from '#testkit/fixtures/core/tools.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import {
  openTemporaryFolder,
  type TemporaryFolder,
} from '#testkit/fixtures/db/temporary-folder.ts';
import {
  type ProviderCourse,
  runBehavior,
  startProviderCourse,
} from '#testkit/fixtures/settlement/provider-course.ts';
import { BEHAVIORS, type BehaviorName } from '#testkit/network/provider-behaviors.ts';
import type { StartNode } from '#testkit/network/test-network.ts';

/**
 * Runs the provider suite on Hardhat, a different chain implementation than in all other tests.
 * Hardhat has its own folder, because it is larger than half of the service.
 */

const BLOCK_MS = 250;
const ROUNDS = 3;
/** Loading takes seconds on a busy machine. */
const READY_MS = 120_000;

let temporary: TemporaryFolder;
let tool: Tool;
let database: TestDatabase;
let course: ProviderCourse;

before(async () => {
  temporary = await openTemporaryFolder('tapline-hardhat');
  const { path: folder } = temporary.folder;
  tool = await installTool('hardhat', path.join(folder, 'tools'));
  database = await testDatabase(12);
  course = await startProviderCourse(database, BLOCK_MS, { startNode: startHardhat });
  course.world.startRelayer();
});

after(async () => {
  await course?.stop();
  await database?.close();
  await temporary.remove();
});

const startHardhat: StartNode = async (chainId) => {
  const { cwd } = tool;
  const port = await freePort();
  const program = tool.installed('hardhat/dist/src/cli.js');
  const args = [program, 'node', '--hostname', '127.0.0.1', '--port', String(port)];
  const env = { ...process.env, CHAIN_ID: String(chainId), HARDHAT_DISABLE_TELEMETRY_PROMPT: '1' };
  const child = spawn(process.execPath, args, { cwd, env, stdio: 'ignore' });
  temporary.endWithUs(child.pid ?? 0);
  const rpcUrl = `http://127.0.0.1:${port}`;
  const rpc = connectRpc({ urls: [rpcUrl], chainId, log: silentLog });
  const answers = () => rpc.probe().then(([one]) => one?.chainId === chainId);
  if (!(await waitUntil(answers, READY_MS))) throw new Error("Hardhat's node did not start");
  await rpc.close();
  return {
    rpcUrl,
    chainId,
    stop: async () => {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
};

describe("payments and refunds are made once on Hardhat's node, although", () => {
  let taps = 0;
  let refunds = 0;

  for (const name of Object.keys(BEHAVIORS) as BehaviorName[]) {
    it(`a provider ${name}`, async () => {
      const result = await runBehavior(course, name, ROUNDS);
      taps += result.taps;
      refunds += result.refunds;
    });
  }

  it('counts them', (t) => {
    t.diagnostic(`Hardhat's node, blocks of ${BLOCK_MS} ms: ${taps} taps, ${refunds} refunds`);
  });
});
