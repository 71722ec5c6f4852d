import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { present } from '../../src/core/assert.ts';
import { freePort } from '../../src/sandbox/find-and-stop-processes.ts';
import { openForTests } from '../../testkit/fixtures/core/open-for-tests.ts';
import { testFolder } from '../../testkit/fixtures/core/test-folder.ts';
import { openSharedSandbox } from '../../testkit/network/shared-sandbox.ts';
import { addTestTerminal } from '../../web/testing/till.ts';
import { DeviceApi } from '../src/device-api.ts';
import { registerFile, savePairing } from '../src/till-settings.ts';
import { TestRegister } from './test-register.ts';
import { ASK, authorization } from './zvt-talk.ts';

const shared = openForTests(openSharedSandbox);

const COMMAND = import.meta.resolve('../../reader/src/command.ts');
const PROGRAM = `import { main } from '${COMMAND}';
  process.exitCode = await main(process.argv.slice(1), process.env);`;
const argumentsOf = (options: readonly string[]) => [
  ...['--input-type=module', '-e', PROGRAM, '--', ...options],
];

/** Starts a reader, and waits until it serves this many registers. */
async function startReader(options: readonly string[], registers: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, argumentsOf(options), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout);
  for (let waiting = 0; waiting < registers; ) {
    const [line] = await once(lines, 'line');
    if (JSON.parse(String(line)).status === 'waiting_for_register') waiting += 1;
  }
  return child;
}

/** A terminal of its own with a paired reader's file and a free port. */
async function counter(name: string) {
  const { sandbox } = shared;
  const { id: terminal, deviceKey } = await addTestTerminal(sandbox, name);
  const file = path.join(testFolder(), `${name}.json`);
  await savePairing(file, { server: sandbox.web_url, device_key: deviceKey, terminal });
  return { file, port: await freePort(), api: new DeviceApi(sandbox.web_url, deviceKey) };
}

test('two registers at one reader each sell at their own terminal', async () => {
  const counters = [await counter('bar'), await counter('door')];
  const options = counters.flatMap(({ port, file }) => ['--zvt', `${port}=${file}`]);
  const reader = await startReader([...options, '--json'], 2);
  const sales = counters.map(async ({ port, file, api }, index) => {
    const register = await TestRegister.connect(port);
    register.send(ASK.register);
    await register.until(/^060f0a1900/);
    register.send(authorization(110 + index));
    await register.until(/^04ff010a/);
    const { sale } = JSON.parse(await readFile(registerFile(file), 'utf8'));
    const value = present(shared.sandbox.test.passes.ok, 'ok');
    await api.tap(sale.intent, { type: 'nfc_id', value }, `several-${index}`);
    assert.match(await register.until(/^040f..2700/), new RegExp(`04000000000${110 + index}0b`));
    const { data } = await api.payments('limit=10', new AbortController().signal);
    assert.deepEqual(
      data.map(({ presentment }) => presentment?.amount),
      [110 + index],
    );
    await register.cut();
  });
  await Promise.all(sales);
  const [{ file } = present(counters[0], 'a counter')] = counters;
  const second = spawnSync(process.execPath, argumentsOf(['--zvt', `${await freePort()}=${file}`]));
  assert.equal(second.status, 1);
  assert.equal(String(second.stderr), `Another reader uses ${registerFile(file)}.\n`);
  const ended = once(reader, 'exit');
  reader.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});
