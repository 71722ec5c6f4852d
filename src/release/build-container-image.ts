import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { makeContext, type Stage, stagesOf } from '#release/dockerfile.ts';

/**
 * Builds the image of a release with a container engine. Without an engine, the Dockerfile's stages
 * run in a root folder that borrows this machine's system folders. The result then has everything
 * that the image adds to its base, without the base.
 */

const run = promisify(execFile);
const DOCKERFILE = 'deploy/container/Dockerfile';
const BUILD_MS = 1_800_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;
/** This machine's folders that replace the base image. */
const BORROWED = ['usr', 'bin', 'sbin', 'lib', 'lib64', 'etc', 'dev', 'proc'];
/**
 * The borrowed folders that stay writable. The others are mounted read-only, so that a build cannot
 * change this machine.
 */
const WRITABLE = ['dev', 'proc'];
const HELPERS = 'opt/release';

export interface ImageWanted {
  /** The tagged tree. */
  readonly folder: string;
  readonly out: string;
  readonly version: string;
  readonly revision: string;
  /** The base image; `null` for the Dockerfile's. */
  readonly base: string | null;
}

export interface Image {
  readonly file: string;
  readonly what: string;
  readonly isReproducible: boolean;
}

async function isAnswering(program: string): Promise<boolean> {
  return run(program, ['info'], { timeout: 30_000 }).then(
    () => true,
    () => false,
  );
}

async function engineHere(): Promise<string | null> {
  for (const program of ['docker', 'podman', 'buildah']) {
    if (await isAnswering(program)) return program;
  }
  return null;
}

/** Builds the image with an engine and saves it as one file. */
async function buildWith(engine: string, input: ImageWanted): Promise<Image> {
  const { folder, out, version, revision, base } = input;
  const name = `tapline:${version}`;
  const file = `tapline-image-${version}.tar`;
  const target = path.join(out, file);
  const args = { RELEASE: version, REVISION: revision, ...(base === null ? {} : { BASE: base }) };
  const given = Object.entries(args).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
  const options = { cwd: folder, timeout: BUILD_MS, maxBuffer: OUTPUT_BYTES };
  await run(engine, ['build', ...given, '-f', DOCKERFILE, '-t', name, '.'], options);
  const save =
    engine === 'buildah'
      ? ['push', name, `docker-archive:${target}:${name}`]
      : ['save', '-o', target, name];
  await run(engine, save, options);
  const what = `The image ${name}, built by ${engine}: docker load -i ${file}`;
  return { file, what, isReproducible: false };
}

/**
 * Mounts the borrowed folders in a separate mount namespace, so that no mount remains afterwards.
 */
const IN_ROOT = `root=$(readlink -f "$1") folder=$2 cache=$3; shift 3
for name in ${BORROWED.join(' ')}; do
  [ -e "/$name" ] || continue
  if [ -L "/$name" ]; then [ -L "$root/$name" ] || cp -a "/$name" "$root/$name"; continue; fi
  mkdir -p "$root/$name"
  mount --rbind "/$name" "$root/$name"
  case $name in ${WRITABLE.join('|')}) continue;; esac
  awk -v at="$root/$name" '$5 == at || index($5, at "/") == 1 { print $5 }' /proc/self/mountinfo |
    while read -r mounted; do mount -o remount,bind,ro "$mounted"; done
done
mkdir -p -m 1777 "$root/tmp"
mkdir -p "$cache" "$root/${HELPERS}/cache"
mount --bind "$cache" "$root/${HELPERS}/cache"
exec chroot "$root" /bin/sh -ec "cd $folder && $1"`;

/** A stage's root folder, and its working folder in there. */
export interface Root {
  readonly place: string;
  readonly folder: string;
}

/** Runs a command of a `RUN` line in a stage's root folder. */
type RunCommand = (root: Root, command: string) => Promise<void>;

/** Variables that npm needs to reach its registry: npm's settings, proxies and certificates. */
const PASSED = /^(npm_config_\w+|(https?|all|no)_proxy|NODE_EXTRA_CA_CERTS)$/i;
/**
 * Settings that name this machine's files and folders. `npm run` always sets them, but a stage
 * lacks these folders, so they are left out.
 */
const PLACES =
  /^npm_config_(cache|(user|global)config|(local_|global_)?prefix|init_module|node_gyp)$/i;

/**
 * Returns those of this process's variables that a stage's commands get. Secrets of the shell are
 * not among them.
 */
function passedEnv(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => PASSED.test(name) && !PLACES.test(name),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']));
}

const settingOf = async (name: string) => (await run('npm', ['config', 'get', name])).stdout.trim();

export async function runIn({ place, folder }: Root, command: string): Promise<void> {
  const env = {
    ...passedEnv(),
    PATH: `/${HELPERS}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
    HOME: `/${HELPERS}/home`,
    npm_config_cache: `/${HELPERS}/cache`,
  };
  const args = ['--mount', '--propagation', 'private', 'sh', '-ec', IN_ROOT, 'sh'];
  await run('unshare', [...args, place, folder, await settingOf('cache'), command], {
    ...{ env, timeout: BUILD_MS, maxBuffer: OUTPUT_BYTES },
  });
}

/** Puts Node.js and npm, which the base image would provide, where `runIn` looks for them. */
async function putNode(folder: string): Promise<void> {
  const helpers = path.join(folder, HELPERS);
  const { stdout } = await run('sh', [
    '-c',
    'dirname "$(dirname "$(readlink -f "$(which npm)")")"',
  ]);
  await mkdir(path.join(helpers, 'bin'), { recursive: true });
  await mkdir(path.join(helpers, 'home'));
  await cp(process.execPath, path.join(helpers, 'bin/node'));
  await cp(stdout.trim(), path.join(helpers, 'npm'), { recursive: true });
  const npm = path.join(helpers, 'bin/npm');
  await writeFile(npm, `#!/bin/sh\nexec node /${HELPERS}/npm/bin/npm-cli.js "$@"\n`);
  await chmod(npm, 0o755);
  const settings = await settingOf('userconfig');
  await cp(settings, path.join(helpers, 'home/.npmrc')).catch(() => {});
}

/** Copies the files that `COPY` names, from the build's context or another stage's root. */
async function copyInto(root: Root, words: string, from: { context: string; stages: Places }) {
  const [, stage, rest = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(words) ?? [];
  const names = rest.split(' ');
  const to = names.pop() ?? '';
  const source = stage === undefined ? from.context : (from.stages.get(stage) ?? '');
  for (const name of names) {
    const target = path.join(root.place, to.startsWith('/') ? '' : root.folder, to);
    const isFile = name !== '.' && stage === undefined;
    const whole = isFile ? path.join(target, path.basename(name)) : target;
    await mkdir(path.dirname(whole), { recursive: true });
    await run('cp', ['-a', '-T', path.join(source, name), whole]);
  }
}

type Places = Map<string, string>;

interface Sources {
  readonly context: string;
  readonly stages: Places;
  readonly runCommand: RunCommand;
}

async function runStage(stage: Stage, imageRoot: string, from: Sources) {
  await mkdir(imageRoot, { recursive: true });
  await putNode(imageRoot);
  let folder = '/';
  for (const { name, words } of stage.instructions) {
    if (name === 'WORKDIR') {
      folder = words;
      await mkdir(path.join(imageRoot, folder), { recursive: true });
    }
    if (name === 'COPY') await copyInto({ place: imageRoot, folder }, words, from);
    if (name === 'RUN') await from.runCommand({ place: imageRoot, folder }, words);
  }
}

/**
 * Options that make the same files give the same bytes: sorted, and without times and user names.
 */
const PACKED = [
  ...['--sort=name', '--mtime=@0', '--numeric-owner', '--format=gnu', '--hard-dereference'],
  ...['--use-compress-program=gzip -n -6'],
];

/**
 * Runs all stages of the Dockerfile of `folder` in root folders below `imageRoot`.
 * @returns the root folder of the last stage.
 */
export async function runStages(
  folder: string,
  imageRoot: string,
  runCommand: RunCommand = runIn,
): Promise<string> {
  const context = path.join(imageRoot, 'context');
  await makeContext(folder, context);
  const stages: Places = new Map();
  const text = await readFile(path.join(folder, DOCKERFILE), 'utf8');
  for (const stage of stagesOf(text)) {
    const root = path.join(imageRoot, `root-${stage.name}`);
    await runStage(stage, root, { context, stages, runCommand });
    stages.set(stage.name, root);
  }
  return stages.get('') ?? '';
}

export async function buildRoot({ folder, out, version }: ImageWanted): Promise<Image> {
  const imageRoot = await mkdtemp(path.join(tmpdir(), 'tapline-image-'));
  try {
    const root = await runStages(folder, imageRoot);
    const file = `tapline-root-${version}.tar.gz`;
    const own = ['app', 'data', 'signer-certificates'];
    const packed = ['-C', root, '-cf', path.join(out, file), ...PACKED, ...own];
    await run('tar', packed, { timeout: BUILD_MS });
    const what = 'What the image has above its base (no container engine was available)';
    return { file, what, isReproducible: true };
  } finally {
    await rm(imageRoot, { recursive: true, force: true, maxRetries: 5 });
  }
}

export async function whyNoRoot(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'no container engine answers, and a root folder needs root';
  const has = await run('sh', ['-c', 'command -v unshare chroot mount tar gzip']).catch(() => null);
  return has === null ? 'unshare, chroot, mount, tar or gzip is missing' : null;
}

/**
 * Builds the image, or as much of it as this machine can.
 * @returns the image, or the reason why it cannot be built.
 */
export async function buildImage(input: ImageWanted): Promise<Image | string> {
  const engine = await engineHere();
  if (engine !== null) return buildWith(engine, input);
  return (await whyNoRoot()) ?? buildRoot(input);
}
