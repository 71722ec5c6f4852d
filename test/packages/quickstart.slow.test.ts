import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { type OwnNetwork, startOwnNetwork } from '#testkit/network/spawn-network.ts';

const GUIDE = path.join(import.meta.dirname, '../../docs/guides/quickstart.md');
/** A user id without a name on this machine, as in most containers. */
const NOBODY = 54_321;
/** Time limit of a step, below the guide's five minutes, allowing for a busy machine. */
const STEP_MS = 60_000;

const isRoot = process.getuid?.() === 0;

const folder = testFolder();
let network: OwnNetwork;
let shell: ChildProcess | undefined;

before(async () => {
  network = await startOwnNetwork();
});

after(() => network?.close());

/** Kills the process group, so that its jobs end, too. */
async function endShell(): Promise<void> {
  if (shell?.pid === undefined || (shell.exitCode ?? shell.signalCode) !== null) return;
  const ended = once(shell, 'close');
  process.kill(-shell.pid, 'SIGKILL');
  await ended;
}

interface CodeBlock {
  readonly label: string;
  readonly text: string;
}

/** Returns the code between these headings of the guide, in order. */
async function codeBlocks(from: string, to: string): Promise<readonly CodeBlock[]> {
  const [, rest = ''] = (await readFile(GUIDE, 'utf8')).split(from);
  const [part = ''] = rest.split(to);
  return [...part.matchAll(/^```\w+ ?(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, label = '', text = '']) => ({ label, text }),
  );
}

const OTHERS = '## In Python, PHP or Go';
const OWN_NETWORK = '## A network of your own';

/** Puts this network's URL and key into the guide's first lines. */
function withSettings(text: string): string {
  const { base_url: address, test: mode } = network.sandbox;
  const filled = text
    .replace('https://pay.example/api', address)
    .replace('tlsk_test_…', mode.secret_key);
  assert.ok(filled.includes(address) && filled.includes(mode.secret_key));
  return filled;
}

/** A new user's shell and its working folder. */
interface Machine {
  readonly cwd: string;
  readonly home: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly uid?: number;
  readonly gid?: number;
  /** The output that `PROOF` must have on this machine. */
  readonly is: RegExp;
}

/** Prints the user, terminal, home folder and other users. */
const PROOF = 'id; tty; ls -A "$HOME"; ls /etc/passwd';

/** Creates empty folders. As root, gives them to a user ID without a name. */
async function emptyFolders(name: string): Promise<{ cwd: string; home: string }> {
  const [cwd, home] = [path.join(folder, name, 'shop'), path.join(folder, name, 'home')];
  await chmod(folder, 0o755);
  for (const setup of [cwd, home]) {
    await mkdir(setup, { recursive: true });
    if (isRoot) await chown(setup, NOBODY, NOBODY);
  }
  return { cwd, home };
}

async function bareMachine(): Promise<Machine> {
  const setup = await emptyFolders('bare');
  if (!isRoot) return { ...setup, command: ['sh'], is: /^not a tty\n\/etc\/passwd$/m };
  const is = new RegExp(`^uid=${NOBODY} gid=.*\nnot a tty\n/etc/passwd$`, 'm');
  return { ...setup, uid: NOBODY, gid: NOBODY, command: ['sh'], is };
}

/**
 * A container without an engine: namespaces for mounts, processes and host names, and a root with
 * the system's programs, Node.js, npm and the folder, but without /etc, user name, terminal or
 * capabilities. It shares the machine's network.
 */
const CONTAINER = `set -eu
root=$1 shop=$2 node=$3 npm=$4
mount -t tmpfs none "$root"
cd "$root"
mkdir usr proc dev tmp home shop opt opt/npm opt/bin
for name in bin lib lib64; do [ ! -e /$name ] || ln -s usr/$name $name; done
mount --bind /usr usr && mount --bind "$shop" shop && mount --bind "$npm" opt/npm
mount -t proc none proc
for name in null random urandom zero; do : > dev/$name; mount --bind /dev/$name dev/$name; done
: > opt/bin/node && mount --bind "$node" opt/bin/node
for name in npm npx; do
  printf '#!/bin/sh\nexec node /opt/npm/bin/%s-cli.js "$@"\n' $name > opt/bin/$name
done
chmod 755 opt/bin/np* && chmod 1777 tmp && chown ${NOBODY}:${NOBODY} home
hostname container
exec chroot . setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups --no-new-privs \
  --bounding-set=-all env -i PATH=/opt/bin:/usr/bin:/bin HOME=/home \
  npm_config_registry="$npm_config_registry" sh -c 'cd /shop && exec sh'`;

async function container(): Promise<Machine> {
  const setup = await emptyFolders('container');
  const root = path.join(folder, 'container/root');
  await mkdir(root);
  const { stdout } = await promisify(execFile)('sh', ['-c', 'readlink -f "$(command -v npm)"']);
  const npm = path.join(path.dirname(stdout.trim()), '..');
  const own = ['--mount', '--pid', '--fork', '--kill-child', '--uts', '--ipc', 'sh', '-c'];
  const node = await realpath(process.execPath);
  return {
    ...setup,
    command: ['unshare', ...own, CONTAINER, 'sh', root, setup.cwd, node, npm],
    is: new RegExp(`^uid=${NOBODY} gid=.*\nnot a tty\n.*/etc/passwd.*No such file`, 'm'),
  };
}

interface Shell {
  /** Types a command and waits for its output. */
  type(words: string, brings: RegExp): Promise<void>;
}

function startShell({ cwd, home, command: [program, ...args], ...user }: Machine): Shell {
  // The shell has only basic environment variables, and a registry that never answers.
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, npm_config_registry: 'http://127.0.0.1:9/' },
    ...{ PIP_NO_INDEX: '1', GOPROXY: 'off' },
  };
  const child = spawn(program, args, { cwd, env, detached: true, ...user });
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

const MACHINES: readonly (readonly [string, () => Promise<Machine>, skip: boolean])[] = [
  ['by a user without name, terminal or files', bareMachine, false],
  ['in a container without a terminal', container, !isRoot],
];

for (const [number, [where, machine, skip]] of MACHINES.entries()) {
  test(`the quickstart, word by word, ${where}`, { skip }, async (t) => {
    const started = performance.now();
    const setup = await machine();
    const { type } = startShell(setup);
    t.after(endShell);
    await type(PROOF, setup.is);
    const order = `A-100${number + 1}`;
    const guide = await codeBlocks('# Quickstart', OTHERS);
    const own = guide
      .filter(({ text }) => !text.startsWith('curl '))
      .map(({ label, text }) => ({ label, text: text.replaceAll('A-1001', order) }));
    const [setUp, server, listen, trigger, pay, run, tap, ...rest] = own;
    assert.ok(setUp && server && listen && trigger && pay && run && tap && rest.length === 0);
    await type(withSettings(setUp.text), /added \d+ packages/);
    for (const file of [server, pay]) {
      assert.match(file.label, /^\w+\.mjs$/);
      await writeFile(path.join(setup.cwd, file.label), file.text);
    }
    await type(listen.text, /Forwarding to http:\/\/127\.0\.0\.1:8788/);
    await type(trigger.text, /^verified: payment\.succeeded evt_\w+$/m);
    t.diagnostic(`verified after ${Math.round((performance.now() - started) / 1_000)} s`);
    await type(run.text, /^pi_\w+ waits at tml_\w+$/m);
    await type(tap.text, new RegExp(`^${order} is succeeded$`, 'm'));
    const commands = [setUp, listen, trigger].flatMap(({ text }) => text.trim().split('\n'));
    assert.ok(commands.length <= 6, `${commands.length} commands`);
  });
}

/** Waits until the server runs, as a user does. Go compiles its standard library first. */
const UNTIL_LISTENING =
  'until curl -so /dev/null http://127.0.0.1:8788; do sleep 0.2; done; echo listening';

/** The programs of each language. */
const LANGUAGES: Readonly<Record<string, readonly string[]>> = {
  Python: ['curl', 'pip', 'python3'],
  PHP: ['curl', 'unzip', 'php'],
  Go: ['curl', 'unzip', 'go'],
};

for (const [language, programs] of Object.entries(LANGUAGES)) {
  test(`a verified webhook in ${language}, in at most six commands`, async (t) => {
    for (const program of programs) {
      const result = await promisify(execFile)('sh', ['-c', `command -v ${program}`]).catch(
        () => 0,
      );
      if (result === 0) return t.skip(`${program} is not on this machine`);
    }
    const started = performance.now();
    const setup = await emptyFolders(language);
    const { type } = startShell({ ...setup, command: ['sh'], is: /./ });
    t.after(endShell);
    const [setUp] = await codeBlocks(OTHERS, '### Python');
    const own = await codeBlocks(`### ${language}\n`, language === 'Go' ? OWN_NETWORK : '\n### ');
    const [, , listen, trigger] = await codeBlocks('# Quickstart', OTHERS);
    const forward = listen?.text.split('\n').find((line) => line.includes('--forward-to'));
    assert.ok(setUp && trigger && forward && own.length >= 2);
    await type(withSettings(setUp.text), /added \d+ package/);
    const commands = own.at(-1)?.text ?? '';
    for (const { label, text } of own.slice(0, -1)) {
      assert.match(label, /^(?:server|go)\.\w+$/);
      await writeFile(path.join(setup.cwd, label), text);
    }
    await type(commands, /$/);
    await type(forward, /Forwarding to http:\/\/127\.0\.0\.1:8788/);
    await type(UNTIL_LISTENING, /^listening$/m);
    await type(trigger.text, /^verified: payment\.succeeded evt_\w+$/m);
    t.diagnostic(`verified after ${Math.round((performance.now() - started) / 1_000)} s`);
    const typed = [setUp.text, commands, forward, trigger.text].flatMap((text) =>
      text.trim().split('\n'),
    );
    assert.ok(typed.length <= 6, `${typed.length} commands`);
  });
}
