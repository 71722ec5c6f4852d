import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type SpawnedNetwork, spawnNetwork, temporaryDataDir } from '#testing/spawn-network.ts';

const GUIDE = path.join(import.meta.dirname, '../../docs/guides/quickstart.md');
/** A number that has no name on this machine, as in most containers. */
const NOBODY = 54_321;
/** Within the five minutes of the guide, on a machine with other work. */
const STEP_MS = 60_000;

let data: Awaited<ReturnType<typeof temporaryDataDir>>;
let network: SpawnedNetwork;
let folder: string;
let shell: ChildProcess | undefined;

before(async () => {
  data = await temporaryDataDir();
  network = await spawnNetwork({ dataDir: data.path });
  folder = await mkdtemp(path.join(tmpdir(), 'tapline-quickstart-'));
});

after(async () => {
  // It leads a group: its jobs end with it.
  if (shell?.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, 'SIGKILL');
  await network?.stop();
  await rm(folder, { recursive: true, force: true });
  await data?.remove();
});

interface Fence {
  readonly label: string;
  readonly text: string;
}

/** The code of the guide in its order, up to the network of one's own. */
async function fences(): Promise<readonly Fence[]> {
  const [guide = ''] = (await readFile(GUIDE, 'utf8')).split('## A network of your own');
  return [...guide.matchAll(/^```(?:sh|js) ?(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, label = '', text = '']) => ({ label, text }),
  );
}

/** The folders of somebody who has nothing yet, and where possible no name either. */
async function emptyHome(): Promise<{ cwd: string; home: string; uid?: number; gid?: number }> {
  const [cwd, home] = [path.join(folder, 'shop'), path.join(folder, 'home')];
  await chmod(folder, 0o755);
  for (const place of [cwd, home]) await mkdir(place);
  if (process.getuid?.() !== 0) return { cwd, home };
  for (const place of [cwd, home]) await chown(place, NOBODY, NOBODY);
  return { cwd, home, uid: NOBODY, gid: NOBODY };
}

interface Shell {
  /** Types words, and waits for what they bring. */
  type(words: string, brings: RegExp): Promise<void>;
}

function startShell({ cwd, home, ...user }: Awaited<ReturnType<typeof emptyHome>>): Shell {
  // No terminal, and no settings but those that every machine has. No registry answers.
  const env = { PATH: process.env.PATH, HOME: home, npm_config_registry: 'http://127.0.0.1:9/' };
  const child = spawn('sh', [], { cwd, env, detached: true, ...user });
  shell = child;
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      child.emit('said');
    });
  }
  return {
    type: async (words, brings) => {
      said = '';
      child.stdin.write(`${words}\n`);
      const signal = AbortSignal.timeout(STEP_MS);
      while (!brings.test(said)) {
        await once(child, 'said', { signal }).catch(() => assert.fail(`${words}\nsaid: ${said}`));
      }
    },
  };
}

test('the quickstart, word by word, by a user without name, terminal or files', async (t) => {
  const started = performance.now();
  const place = await emptyHome();
  const { type } = startShell(place);
  const [setUp, server, listen, trigger, pay, run, tap, ...rest] = await fences();
  assert.ok(setUp && server && listen && trigger && pay && run && tap && rest.length === 0);
  const { base_url: address, test: mode } = network.sandbox;
  const own = setUp.text
    .replace('https://pay.example/api', address)
    .replace('tlsk_test_…', mode.secret_key);
  assert.ok(own.includes(address) && own.includes(mode.secret_key));
  await type(own, /added \d+ packages/);
  for (const file of [server, pay]) {
    assert.match(file.label, /^\w+\.mjs$/);
    await writeFile(path.join(place.cwd, file.label), file.text);
  }
  await type(listen.text, /Forwarding to http:\/\/127\.0\.0\.1:8788/);
  await type(trigger.text, /^verified: payment\.succeeded evt_\w+$/m);
  t.diagnostic(`verified after ${Math.round((performance.now() - started) / 1_000)} s`);
  await type(run.text, /^pi_\w+ waits at tml_\w+$/m);
  await type(tap.text, /^A-1001 is succeeded$/m);
  const commands = [setUp, listen, trigger].flatMap(({ text }) => text.trim().split('\n'));
  assert.ok(commands.length <= 6, `${commands.length} commands`);
});
