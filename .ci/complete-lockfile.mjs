// Run after `npm install`: node .ci/complete-lockfile.mjs [folder]
// Without a folder: the root.
//
// npm leaves an optional package out of the lockfile when its registry does not have it (builds
// for other platforms, mostly), and `npm ci` then refuses the lockfile as out of date. This adds
// the missing entries: enough for npm to know that they do not belong on this platform.
import { readFileSync, writeFileSync } from 'node:fs';
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

const lock = JSON.parse(readFileSync(FILE, 'utf8'));
let added = 0;
for (const [place, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const version = range.replace(/^[\^~]/, '');
    // Beside the package that wants it: of some packages two versions are installed.
    const beside = `${place.slice(0, place.lastIndexOf('node_modules/'))}node_modules/${name}`;
    if (lock.packages[`${place}/node_modules/${name}`] ?? lock.packages[beside]) continue;
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
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} entries added`);
