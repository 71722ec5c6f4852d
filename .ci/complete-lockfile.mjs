// Run after `npm install`: node .ci/complete-lockfile.mjs [folder]
// Without a folder: the root. In other folders it writes a package a line.
//
// npm leaves an optional package out of the lockfile when its registry does not have it (builds
// for other platforms, mostly), and `npm ci` then refuses the lockfile as out of date. This adds
// the missing entries: enough for npm to know that they do not belong on this platform. Then it
// has npm resolve what has no hash, in a folder of its own: without one, `npm ci` on another
// platform would take whatever it is given.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');
const FILE = path.resolve(ROOT, process.argv[2] ?? '.', 'package-lock.json');
const OS = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'openharmony',
  'win32',
  'windows',
  'netbsd',
  'openbsd',
  'sunos',
  'aix',
];
const CPU = {
  amd64: 'x64',
  x64: 'x64',
  arm64: 'arm64',
  arm: 'arm',
  ia32: 'ia32',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  loong64: 'loong64',
  mips64el: 'mips64el',
};

/** What the name of a platform's package says of it, for example `binding-linux-arm64-musl`. */
function platformOf(name) {
  const words = name.split(/[-/]/);
  const os = words.find((word) => OS.includes(word));
  const cpu = words.find((word) => Object.hasOwn(CPU, word));
  return {
    ...(cpu === undefined ? { cpu: ['none'] } : { cpu: [CPU[cpu]] }),
    ...(os === undefined ? { os: ['none'] } : { os: [os === 'windows' ? 'win32' : os] }),
    ...(words.includes('musl') ? { libc: ['musl'] } : {}),
  };
}

/** `node_modules/a/node_modules/@b/c` is the place of `@b/c`. */
function nameAt(place) {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Entries of the registry without a hash. */
function unhashed(packages) {
  return Object.entries(packages).filter(
    ([place, entry]) =>
      place.includes('node_modules/') &&
      entry.integrity === undefined &&
      !entry.link &&
      !entry.inBundle,
  );
}

/** By `name@version`, as npm resolves them; what its registry does not have is left out. */
function hashesOf(specs) {
  const folder = mkdtempSync(path.join(tmpdir(), 'lockfile-'));
  try {
    const optionalDependencies = Object.fromEntries(
      specs.map((spec, index) => [`of-${index}`, `npm:${spec}`]),
    );
    const wanted = { name: 'hashes', version: '0.0.0', private: true, optionalDependencies };
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify(wanted));
    const args = ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    const { packages } = JSON.parse(readFileSync(path.join(folder, 'package-lock.json'), 'utf8'));
    return new Map(
      specs.map((spec, index) => [spec, packages[`node_modules/of-${index}`]?.integrity]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Whether a package finds another one: in its own folder, or in one above. */
function isInstalled(packages, place, name) {
  const parts = place.split('/');
  return (
    parts.some((_, up) => {
      const folder = [...parts.slice(0, parts.length - up), 'node_modules', name].join('/');
      return packages[folder] !== undefined;
    }) || packages[`node_modules/${name}`] !== undefined
  );
}

/** The root's as npm writes it; of what only tests install one package a line, to keep it small. */
function textOf({ packages, ...rest }) {
  if (process.argv[2] === undefined) return `${JSON.stringify({ ...rest, packages }, null, 2)}\n`;
  const lines = Object.entries(packages).map(
    ([place, entry]) => `${JSON.stringify(place)}: ${JSON.stringify(entry)}`,
  );
  const head = Object.entries(rest).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
  return `{\n${head.join(',\n')},\n"packages": {\n${lines.join(',\n')}\n}\n}\n`;
}

const lock = JSON.parse(readFileSync(FILE, 'utf8'));
let added = 0;
for (const [place, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const version = range.replace(/^[\^~]/, '');
    // Beside the package that wants it: of some packages two versions are installed.
    const beside = `${place.slice(0, place.lastIndexOf('node_modules/'))}node_modules/${name}`;
    if (isInstalled(lock.packages, place, name)) continue;
    const { dev } = entry;
    lock.packages[beside] = {
      version,
      ...platformOf(name),
      ...(dev ? { dev } : {}),
      optional: true,
    };
    added++;
  }
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)),
);
const bare = unhashed(lock.packages);
const specOf = ([place, entry]) => `${entry.name ?? nameAt(place)}@${entry.version}`;
const hashes = bare.length === 0 ? new Map() : hashesOf([...new Set(bare.map(specOf))]);
for (const one of bare) {
  const [place, { version, ...entry }] = one;
  const integrity = hashes.get(specOf(one));
  // Where npm would write it.
  if (integrity !== undefined) lock.packages[place] = { version, integrity, ...entry };
}
const left = unhashed(lock.packages).map(specOf);
writeFileSync(FILE, textOf(lock));
console.log(`${added} entries added, ${bare.length - left.length} hashes`);
if (left.length > 0) {
  console.error(`The registry has no hash of ${left.join(', ')}.`);
  process.exitCode = 1;
}
