import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { cidrs } from '#settings/read-setting.ts';
import { SETTING_NAMES } from '#settings/setting-names.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { listen } from '#testkit/network/listen.ts';

/** Checks the deployment files as far as that is possible without deploying. */

const ROOT = path.join(import.meta.dirname, '../..');
const DEPLOY = path.join(ROOT, 'deploy');
/** Limit of `systemd-analyze security` in tenths: 3.0. Node's JIT compiler costs a few points. */
const EXPOSURE = 30;
/** Time that a process may need besides DRAIN_SECONDS (docs/configure.md). */
const STOP_SECONDS = 15;
/**
 * Variables of third-party programs: Compose and its images, Patroni, etcd, HAProxy, Kubernetes.
 */
const OTHER_PROGRAMS = new RegExp(
  '^(POSTGRES_|PATRONI_|ETCD_|HA_|BACKUP_|TAPLINE_HOST$|TAPLINE_IMAGE$|CADDY_IMAGE$|REDIS_IMAGE$|' +
    '(TAPLINE_)?(OWNER|APP)_PASSWORD$|ON_ERROR_STOP$|SIGNER_CERTIFICATE$|NODE_EXTRA_CA_CERTS$|' +
    'COMPOSE_PROJECT_NAME$|NET_BIND_SERVICE$|AF_)',
);
const run = promisify(execFile);

/** Returns the program's output, or `null` if it is not installed. */
async function runIfThere(program: string, args: readonly string[], cwd = ROOT) {
  return run(program, args, { cwd }).catch((error) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

const read = (file: string) => readFile(path.join(DEPLOY, file), 'utf8');

const KUSTOMIZATION = 'kubernetes/kustomization.yaml';
const KUBERNETES = ['kustomization', 'api', 'worker', 'registrar', 'network-policy'];

/** Matches names with an underscore that are assigned a value, in every notation of these files. */
const NAMED = /(?<![\w$./-])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?=\s?[=:](?!\/))|name: ([A-Z_0-9]+)$/gm;

function strangeNames(text: string): string[] {
  const known = new Set<string>(SETTING_NAMES);
  const lines = text.replaceAll(/^\s*[#;].*$/gm, '');
  const names = [...lines.matchAll(NAMED)].map(([, given, listed]) => given ?? listed ?? '');
  return names.filter((name) => !known.has(name) && !OTHER_PROGRAMS.test(name));
}

test('deployment files set only known settings, of ours or another program', async () => {
  let files = 0;
  for await (const file of glob(
    '{container,kubernetes,systemd,ha,backup,pgbouncer}/**/*.{yaml,yml,example,service,cfg,ini}',
    { cwd: DEPLOY },
  )) {
    files++;
    assert.deepEqual(strangeNames(await read(file)), [], file);
  }
  assert.ok(files >= 12, `only ${files} files were found`);
  assert.deepEqual(strangeNames(await read('container/Dockerfile')), []);
  assert.deepEqual(strangeNames('  - TRUSTED_PROXYS=10.0.0.0/8\n  - name: DATABASE_URI\n'), [
    'TRUSTED_PROXYS',
    'DATABASE_URI',
  ]);
});

test("an empty line of tapline.env does not override the cluster's settings", async () => {
  for (const role of ['api', 'worker', 'registrar']) {
    const text = await read(`kubernetes/${role}.yaml`);
    const containers = text.slice(text.indexOf('      containers:'));
    const [, sources = ''] = /envFrom:\n((?: +- .*\n)+)/.exec(containers) ?? [];
    assert.match(sources, /configMapRef: \{ name: tapline-settings \}\n$/, role);
  }
});

test('nothing interrupts a migration in a cluster', async () => {
  for (const role of ['api', 'worker', 'registrar']) {
    const text = await read(`kubernetes/${role}.yaml`);
    const [, init = ''] = /initContainers:\n([\s\S]*?)\n {6}containers:/.exec(text) ?? [];
    assert.match(init, /command: \["node", "src\/ops\/migrate-command\.ts"\]/, role);
    assert.doesNotMatch(init, /Probe/, role);
  }
});

test('each container’s log is bounded, and no file must exist before init', async () => {
  const [, services = ''] = (await read('container/compose.yaml')).split(
    /^(?:services|volumes):$/m,
  );
  const long = [...services.matchAll(/^ {2}([\w-]+):.*\n((?: {4}.*\n| *\n| {2}#.*\n)*)/gm)];
  assert.ok(long.length >= 10, `only ${long.length} services were found`);
  for (const [, name, body = ''] of long) {
    const once = /profiles: \[steps\]|entrypoint: \["chown"/.test(body);
    if (!once) assert.match(body, /logging: \*logging|<<: \*(tapline|api)/, name);
  }
  assert.doesNotMatch(services, /env_file: (\[|\w)/, 'a file that must be there');
  assert.match(services, /settings-command\.ts"\]\n +command: \["init", .*"--environment"\]/);
  const ignored = await readFile(path.join(ROOT, '.dockerignore'), 'utf8');
  assert.match(ignored, /^!\.env\.example$/m, 'init reads the example');
});

test('each container that mounts the database finds its files with every PostgreSQL', async () => {
  const compose = await read('container/compose.yaml');
  const [, services = ''] = compose.split(/^(?:services|volumes):$/m);
  const mounts = /- database:(\S+)/.exec(services)?.[1] ?? '';
  assert.match(
    services,
    new RegExp(`PGDATA: &data ${mounts}$`, 'm'),
    'the mount is the data folder',
  );
  const bodies = services.split(/^ {2}(?=[\w-]+:)/m);
  const mounting = bodies.filter((body) => /volumes: (&|\*)database/.test(body));
  assert.equal(mounting.length, 3);
  for (const body of mounting) assert.match(body, /PGDATA: [&*]data/, body.split('\n')[0]);
});

test('a gateway replaces the ingress and its network policy, and ends no stream', async () => {
  const component = await read('kubernetes/gateway/kustomization.yaml');
  assert.match(component, /\$patch: delete\n.*\n +kind: Ingress\n +metadata:\n +name: tapline$/m);
  assert.match(component, /name: tapline-api\n[\s\S]*envoy-gateway-system[\s\S]*port: 4242/);
  const [gateway = '', route = ''] = (await read('kubernetes/gateway/gateway.yaml')).split('---');
  const api = await read('kubernetes/api.yaml');
  for (const name of ['tapline-tls', 'pay.example.com']) assert(api.includes(name), name);
  assert.match(gateway, /protocol: HTTPS\n +hostname: pay\.example\.com\n.*\n.*tapline-tls/);
  assert.match(
    route,
    /hostnames: \[pay\.example\.com\][\s\S]*name: tapline, port: 80[\s\S]*request: 0s/,
  );
});

test('the image has each folder that the service reads', async () => {
  const ignored = await readFile(path.join(ROOT, '.dockerignore'), 'utf8');
  const inImage = new Set([...ignored.matchAll(/^!([^/\n]+)/gm)].map(([, name]) => name));
  const named = new Set<string>();
  for await (const file of glob('src/**/*.ts', { cwd: ROOT })) {
    if (file.endsWith('.test.ts')) continue;
    const text = await readFile(path.join(ROOT, file), 'utf8');
    const up = '../'.repeat(file.split('/').length - 1);
    for (const [, name = ''] of text.matchAll(new RegExp(`'${up}([\\w.-]+)`, 'g'))) named.add(name);
  }
  assert.ok(named.has('texts') && named.has('migrations'), [...named].join(' '));
  named.delete('node_modules');
  const left = [...named].filter((name) => !inImage.has(name) && existsSync(path.join(ROOT, name)));
  assert.deepEqual(left, []);
});

test('init in the image ignores what compose sets itself', async (t) => {
  const folder = testFolder(t);
  const command = path.join(ROOT, 'src/ops/settings-command.ts');
  const said = async (flags: readonly string[]) => {
    const args = [command, 'init', '--folder', folder, ...flags];
    const env = { ...process.env, DATABASE_DURABILITY: 'of-the-environment' };
    const ran = run(process.execPath, args, { env });
    return ran.then(
      ({ stdout }) => stdout,
      (error: { readonly stdout: string }) => error.stdout,
    );
  };
  assert.doesNotMatch(await said([]), /DATABASE_DURABILITY/);
  assert.match(await said(['--environment']), /DATABASE_DURABILITY/);
});

test('a cluster admits only the ingress, and trusts no network by default', async () => {
  const policies = (await read('kubernetes/network-policy.yaml')).split('---\n');
  assert.equal(policies.length, 2);
  for (const policy of policies) {
    const rules = [...policy.matchAll(/^ {4}- (from|ports):/gm)].map(([, first]) => first);
    assert.deepEqual(rules, ['from'], 'a rule without `from` lets every pod in');
  }
  assert.match(policies[1] ?? '', /kubernetes\.io\/metadata\.name: ingress [\s\S]*port: 4242/);
  const [, proxies = ''] = /TRUSTED_PROXIES=(\S+)/.exec(await read(KUSTOMIZATION)) ?? [];
  assert.throws(() => cidrs({ TRUSTED_PROXIES: proxies }, 'TRUSTED_PROXIES'), {
    name: 'StartError',
    message: /^TRUSTED_PROXIES: \S+ is neither an address nor a CIDR range$/,
  });
});

test('in a cluster a signer is reached over TLS, and its folder is its own', async () => {
  assert.match(await read(KUSTOMIZATION), /TAPLINE_DATA_DIR=\/data\/\w+/);
  for (const role of ['worker', 'registrar', 'watch']) {
    const text = await read(`kubernetes/${role}.yaml`);
    const [, name] = /name: NODE_EXTRA_CA_CERTS[\s\S]*?name: ([\w-]+), key: path/.exec(text) ?? [];
    assert.match(text, new RegExp(`configMap: \\{ name: ${name}, optional: true \\}`), role);
    assert.match(text, /name: signer-certificate, mountPath: \/signer-certificates/, role);
  }
  const signer = await read('kubernetes/signer.yaml');
  assert.match(signer, /signer -- certificate[\s\S]*path=\/signer-certificates\/tls\.crt/);
  const compose = await read('container/compose.yaml');
  assert.match(compose, /signer-certificate: \{ condition: service_completed_successfully \}/);
  assert.match(compose, /NODE_EXTRA_CA_CERTS: \$\{SIGNER_CERTIFICATE:-\}/);
});

test('every supervisor allows the drain time and fifteen seconds before it kills', async () => {
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
  for (const role of ['worker', 'registrar']) {
    const [, files = ''] =
      new RegExp(`"${role}"\\]\\n.*\\n +env_file:\\n((?: +- .*\\n)+)`).exec(compose) ?? [];
    const named = [...files.matchAll(/path: (\S+),/g)].map(([, name]) => name);
    assert.deepEqual(named, ['tapline.env', `${role}.env`]);
  }
  for (const role of ['api', 'worker', 'registrar']) {
    const text = await read(`kubernetes/${role}.yaml`);
    const containers = text.slice(text.indexOf('      containers:'));
    const secrets = [...containers.matchAll(/secretRef: \{\s*name: (\S+?)\s*\}/g)];
    const own = role === 'api' ? [] : [`tapline-${role}`];
    assert.deepEqual(
      secrets.map(([, name]) => name),
      ['tapline', ...own],
    );
  }
});

test('the systemd units are sandboxed as far as Node allows', async (t) => {
  for (const name of ['tapline@.service', 'tapline-migrate.service', 'tapline-signer.service']) {
    const unit = path.join(DEPLOY, 'systemd', name);
    const args = ['security', '--offline=true', `--threshold=${EXPOSURE}`, unit];
    const ran = await runIfThere('systemd-analyze', args);
    if (ran === null) return t.skip('no systemd-analyze (Debian: apt install systemd)');
    assert.match(ran.stdout, /Overall exposure level/);
  }
});

test('a slow etcd demotes no primary, and a hung primary stops before the next', async () => {
  const text = await read('ha/patroni.yml');
  const number = (name: string) => Number(new RegExp(`^ +${name}: (\\d+)$`, 'm').exec(text)?.[1]);
  const [ttl, wait, retry] = [number('ttl'), number('loop_wait'), number('retry_timeout')];
  assert.ok(ttl >= wait + 2 * retry, 'Patroni would shorten them');
  assert.ok(ttl - number('safety_margin') > wait + retry, 'the watchdog fires at a slow answer');
  assert.ok(number('safety_margin') >= 2, 'the watchdog fires when another may lead already');
  for (const name of ['synchronous_mode', 'synchronous_mode_strict', 'failsafe_mode']) {
    assert.match(text, new RegExp(`^ +${name}: true$`, 'm'));
  }
  assert.match(text, /^ +mode: required$/m);
  // The new primary's first commit waits for a standby, so neither the retry interval nor the slot
  // may delay the standby.
  assert.match(text, /^ +wal_retrieve_retry_interval: 500ms$/m);
  assert.match(text, /^ +use_slots: false$/m);
});

test('the guide installs the tool that Patroni archives with', async () => {
  const patroni = await read('ha/patroni.yml');
  const [, program = ''] = /archive_command: (\S+) %p/.exec(patroni) ?? [];
  const guide = await read('../docs/backup.md');
  assert.ok(guide.includes(`install -m 0755 deploy/ha/pgbackrest-push.sh ${program}\n`), program);
});

test('systemd never stops restarting a process', async () => {
  assert.match(await read('systemd/tapline@.service'), /^StartLimitIntervalSec=0$/m);
});

test('compose.yaml is valid, and names missing settings', async (t) => {
  const folder = testFolder(t);
  await cp(path.join(DEPLOY, 'container'), folder, { recursive: true });
  for (const name of ['tapline', 'worker', 'registrar']) {
    await writeFile(path.join(folder, `${name}.env`), '');
  }
  const version = (await runIfThere('docker-compose', ['version', '--short']))?.stdout ?? '0';
  if (Number.parseInt(version.replace('v', ''), 10) < 2) return t.skip('it needs Compose 2.24');
  const config = ['-f', 'compose.yaml', 'config'];
  const without = runIfThere('docker-compose', config, folder);
  const missing = await without.catch((error: { readonly stderr: string }) => error.stderr);
  if (missing === null) return t.skip('docker-compose is not installed');
  assert.match(String(missing), /(_PASSWORD|TAPLINE_HOST) is missing/);
  const example = await readFile(path.join(folder, 'env.example'), 'utf8');
  const env = example.replaceAll(/^(\w+_PASSWORD)=$/gm, '$1=secret1');
  await writeFile(path.join(folder, '.env'), env);
  const ran = await runIfThere('docker-compose', config, folder);
  for (const service of ['api-1', 'api-2', 'worker', 'registrar', 'caddy', 'database', 'redis']) {
    assert.match(ran?.stdout ?? '', new RegExp(`^  ${service}:$`, 'm'));
  }
  // The service connects as a role that may change rows, migrations as one that may change tables.
  for (const role of ['tapline_app', 'tapline_owner']) {
    assert.ok(ran?.stdout.includes(`postgresql://${role}:secret1@database/tapline`), role);
  }
});

test('every Kubernetes file is YAML with the required fields', async (t) => {
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

test('the component `database` adds DATABASE_URL and keeps the other variables', async (t) => {
  const folder = testFolder(t);
  await cp(path.join(DEPLOY, 'kubernetes'), path.join(folder, 'kubernetes'), { recursive: true });
  const overlay = path.join(folder, 'overlay');
  await mkdir(overlay);
  await writeFile(
    path.join(overlay, 'kustomization.yaml'),
    'resources: [../kubernetes]\ncomponents: [../kubernetes/database]\n',
  );
  const ran = await runIfThere('kubectl', ['kustomize', overlay]);
  if (ran === null) return t.skip('kubectl is not installed');
  const built = ran.stdout.split('---\n');
  const variablesOf = (role: string) => {
    const one = built.find((text) =>
      text.includes(
        `kind: Deployment\nmetadata:\n  labels:\n    app.kubernetes.io/name: ${role}\n`,
      ),
    );
    const lists = [...(one ?? '').matchAll(/^ {8}env:\n((?: {8}[- ] .*\n)+)/gm)];
    return lists.map(([, list = '']) =>
      [...list.matchAll(/^ {8}- name: (\w+)$/gm)].map(([, name]) => name).sort(),
    );
  };
  const all = ['DATABASE_URL', 'NODE_EXTRA_CA_CERTS'];
  assert.deepEqual(variablesOf('tapline-api'), [['DATABASE_URL'], ['DATABASE_URL']]);
  assert.deepEqual(variablesOf('tapline-worker'), [all, ['DATABASE_URL']]);
  assert.deepEqual(variablesOf('tapline-registrar'), [all, ['DATABASE_URL']]);
});

interface Locked {
  readonly integrity?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

test('every package that npm ci fetches has a hash, for other platforms too', async () => {
  let files = 0;
  for await (const file of glob('**/package-lock.json', {
    cwd: ROOT,
    exclude: (name) => name.split(path.sep).includes('node_modules'),
  })) {
    files++;
    const text = await readFile(path.join(ROOT, file), 'utf8');
    assert.doesNotMatch(text, /"resolved": ?"https?:/, `${file} names no registry`);
    const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, Locked>> };
    const bare = Object.entries(packages).filter(
      ([position, { integrity, link, inBundle }]) =>
        position.includes('node_modules/') && !link && !inBundle && integrity === undefined,
    );
    assert.deepEqual(
      bare.map(([position]) => position),
      [],
      `${file}: run node .ci/complete-lockfile.mjs`,
    );
  }
  assert(files >= 5, `only ${files} lockfiles were found`);
});

test('packages locked for Linux x64 are locked for arm64 and macOS, too', async () => {
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

test('a container is healthy while its process answers 200, and no body is decoded', async (t) => {
  let status = 200;
  const server = await listen(
    createServer((_request, response) => {
      response.writeHead(status, { location: '/', 'content-encoding': 'br' }).end('not Brotli');
    }),
  );
  t.after(() => server.close());
  const recorder = `Object.defineProperty(require('node:zlib'), 'createBrotliDecompress', {
    value: () => process.exit(3),
  });`;
  for (const file of ['container/Dockerfile', 'container/compose.yaml']) {
    const [, code = ''] = /"-e",\s*"([^"]+)"/.exec(await read(file)) ?? [];
    const check = `${recorder}${code.replace('http://127.0.0.1:9464', server.url)}`;
    const exits: number[] = [];
    for (status of [200, 503, 302]) {
      const done = run(process.execPath, ['-e', check]);
      exits.push(
        await done.then(
          () => 0,
          ({ code: exit }: { code: number }) => exit,
        ),
      );
    }
    assert.deepEqual(exits, [0, 1, 1], file);
    const away = code.replace(':9464', ':1');
    await assert.rejects(run(process.execPath, ['-e', away]), { code: 1 }, file);
  }
});

test('every load balancer keeps a process during a pause of the database', async () => {
  const files = ['container/Caddyfile', 'ha/Caddyfile', 'ha/keepalived.conf', 'cells/haproxy.cfg'];
  for (const file of [...files, 'kubernetes/api.yaml']) {
    const probes = [...(await read(file)).matchAll(/\/readyz(\S*)/g)];
    assert.ok(probes.length > 0, file);
    for (const [, query = ''] of probes) assert.match(query, /^\?grace=10\b/, file);
  }
  const [, probe = ''] =
    /readinessProbe:\n([\s\S]*?)\n {10}\S/.exec(await read('kubernetes/api.yaml')) ?? [];
  // One late answer of a busy process must not remove it.
  assert.match(probe, /failureThreshold: [3-9]/);
});
