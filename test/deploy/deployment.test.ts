import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { SETTING_NAMES } from '#settings/setting-names.ts';

/** The files that a service is deployed with, as far as they can be tried without deploying. */

const ROOT = path.join(import.meta.dirname, '../..');
const DEPLOY = path.join(ROOT, 'deploy');
/** `systemd-analyze security`: 3.0, in tenths. Node's just-in-time compiler costs a little. */
const EXPOSURE = 30;
/** What a process may take besides DRAIN_SECONDS (docs/operate.md). */
const STOP_SECONDS = 15;
const NOT_SETTINGS = new Set([
  'POSTGRES_USER',
  'POSTGRES_DB',
  'TAPLINE_HOST',
  'TAPLINE_IMAGE',
  'REDIS_IMAGE',
]);
const run = promisify(execFile);

/** What the program wrote; null: it is not installed. */
async function runIfThere(program: string, args: readonly string[], cwd = ROOT) {
  return run(program, args, { cwd }).catch((error) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

const read = (file: string) => readFile(path.join(DEPLOY, file), 'utf8');

const KUBERNETES = ['kustomization', 'api', 'worker', 'registrar', 'network-policy'];
const FILES = [
  'container/Dockerfile',
  'container/compose.yaml',
  'systemd/tapline@.service',
  ...KUBERNETES.map((name) => `kubernetes/${name}.yaml`),
];

test('deployment files set only what is a setting', async () => {
  const known = new Set<string>([...SETTING_NAMES, ...NOT_SETTINGS]);
  let found = 0;
  for (const file of FILES) {
    const text = await read(file);
    for (const [, name = ''] of text.matchAll(
      /\b((?:TAPLINE|DATABASE|REDIS|DRAIN|OPS|NODE|TRUSTED|CHAIN)_[A-Z_]+)\b ?[=:]/g,
    )) {
      found++;
      assert(known.has(name), `${file} sets ${name}`);
    }
  }
  assert(found >= 10, `only ${found} settings were found`);
});

test('what ends a process gives it its draining and fifteen seconds', async () => {
  const waits: Readonly<Record<string, readonly [RegExp, string]>> = {
    'container/compose.yaml': [/stop_grace_period: (\d+)s/, 'container/compose.yaml'],
    'systemd/tapline@.service': [/TimeoutStopSec=(\d+)/, 'container/compose.yaml'],
    'kubernetes/api.yaml': [/GracePeriodSeconds: (\d+)/, 'kubernetes/kustomization.yaml'],
  };
  for (const [file, [pattern, settings]] of Object.entries(waits)) {
    const [, seconds] = pattern.exec(await read(file)) ?? [];
    const [, drain] = /DRAIN_SECONDS[:=]\s*"?(\d+)/.exec(await read(settings)) ?? [];
    assert(Number(seconds) >= Number(drain) + STOP_SECONDS, `${file}: ${seconds} of ${drain}`);
  }
});

test('only the registrar has the registrar key, in every way to deploy', async () => {
  const compose = await read('container/compose.yaml');
  assert.match(compose, /"registrar"\]\n.*\n +env_file: \[tapline\.env, registrar\.env\]/);
  assert.match(compose, /"worker"\]\n.*\n +env_file: \[tapline\.env, worker\.env\]/);
  for (const role of ['api', 'worker', 'registrar']) {
    const secrets = [
      ...(await read(`kubernetes/${role}.yaml`)).matchAll(/secretRef: \{\s*name: (\S+?)\s*\}/g),
    ];
    const own = role === 'api' ? [] : [`tapline-${role}`];
    assert.deepEqual(
      secrets.map(([, name]) => name),
      ['tapline', ...own],
    );
  }
});

test('the unit of systemd is closed as far as Node allows', async (t) => {
  const unit = path.join(DEPLOY, 'systemd/tapline@.service');
  const args = ['security', '--offline=true', `--threshold=${EXPOSURE}`, unit];
  const ran = await runIfThere('systemd-analyze', args);
  if (ran === null) return t.skip('systemd-analyze is not installed (Debian: apt install systemd)');
  assert.match(ran.stdout, /Overall exposure level/);
});

test('compose.yaml is one, and says what it lacks', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-compose-'));
  t.after(() => rm(folder, { recursive: true }));
  await cp(path.join(DEPLOY, 'container'), folder, { recursive: true });
  for (const name of ['tapline', 'worker', 'registrar']) {
    await writeFile(path.join(folder, `${name}.env`), '');
  }
  const config = ['-f', 'compose.yaml', 'config'];
  const without = runIfThere('docker-compose', config, folder);
  const missing = await without.catch((error: { readonly stderr: string }) => error.stderr);
  if (missing === null) return t.skip('docker-compose is not installed');
  assert.match(String(missing), /POSTGRES_PASSWORD|TAPLINE_HOST/);
  const example = await readFile(path.join(folder, 'env.example'), 'utf8');
  const env = example.replace(/^POSTGRES_PASSWORD=$/m, 'POSTGRES_PASSWORD=secret1');
  await writeFile(path.join(folder, '.env'), env);
  const ran = await runIfThere('docker-compose', config, folder);
  for (const service of ['api-1', 'api-2', 'worker', 'registrar', 'caddy', 'database', 'redis']) {
    assert.match(ran?.stdout ?? '', new RegExp(`^  ${service}:$`, 'm'));
  }
  assert.match(ran?.stdout ?? '', /postgresql:\/\/tapline:secret1@database\/tapline/);
});

test('every Kubernetes file is YAML with what it must have', async (t) => {
  const files = KUBERNETES.map((name) => path.join(DEPLOY, `kubernetes/${name}.yaml`));
  const program =
    'import json,sys,yaml; files=sys.argv[1:]; ' +
    'print(json.dumps([d for f in files for d in yaml.safe_load_all(open(f))]))';
  const ran = await runIfThere('python3', ['-c', program, ...files]).catch(() => null);
  if (ran === null) return t.skip('python3-yaml is not installed');
  const documents: { kind: string; spec: { template: { spec: Record<string, unknown> } } }[] =
    JSON.parse(ran.stdout);
  const pods = documents.filter(({ kind }) => kind === 'Deployment');
  assert.equal(pods.length, 3);
  for (const { spec } of pods) {
    const [container] = spec.template.spec.containers as Record<string, Record<string, unknown>>[];
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      assert(container?.[probe] !== undefined, probe);
    }
    assert.equal(container?.securityContext?.readOnlyRootFilesystem, true);
  }
  assert.equal(documents.filter(({ kind }) => kind === 'PodDisruptionBudget').length, 2);
});

interface Locked {
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

test('what the lockfile has for Linux on x64 it has for arm64 and for macOS too', async () => {
  const text = await readFile(path.join(ROOT, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, Locked>> };
  const names = Object.entries(packages).flatMap(([name, { os, cpu, libc }]) =>
    os === undefined || libc?.includes('musl') ? [] : [{ name, on: `${os[0]} ${cpu?.[0]}` }],
  );
  const families = names.filter(({ on }) => on === 'linux x64');
  assert(families.length >= 5, `only ${families.length} packages for one platform were found`);
  for (const { name } of families) {
    const family = name.slice(0, name.lastIndexOf('linux'));
    const served = names.filter((one) => one.name.startsWith(family)).map(({ on }) => on);
    for (const platform of ['linux arm64', 'darwin arm64', 'darwin x64']) {
      assert(served.includes(platform), `${name} has nothing for ${platform}`);
    }
  }
});
