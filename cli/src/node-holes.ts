interface SecurityRelease {
  readonly published: string;
  readonly cve: string;
  /** The first fixed version of each release line, ascending. Lines between them get no fix. */
  readonly fixed: readonly string[];
}

/** As of 2026-11-30. Add a release when Node publishes it. */
export const SECURITY_RELEASES: readonly SecurityRelease[] = [
  {
    published: '2026-10-21',
    cve: 'CVE-2026-111497 (Brotli decoder) and others',
    fixed: ['22.23.4', '24.22.1', '26.12.1'],
  },
  {
    published: '2026-11-11',
    cve: 'CVE-2026-126051 (TLS server) and others',
    fixed: ['22.23.5', '24.22.3'],
  },
];

const numbersOf = (version: string) => version.split('.').map(Number);

function isBefore(version: string, other: string): boolean {
  const [a, b] = [numbersOf(version), numbersOf(other)];
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

/** Returns the version that fixes it here: of the same line, or else of the next fixed one. */
function fixFor(version: string, fixed: readonly string[]): string | null {
  const line = numbersOf(version)[0] ?? 0;
  const next = fixed.find((one) => (numbersOf(one)[0] ?? 0) >= line);
  return next !== undefined && isBefore(version, next) ? next : null;
}

/** Returns a sentence about the known security holes of this Node; `null` if none are known. */
export function knownHoles(version: string): string | null {
  const holes = SECURITY_RELEASES.flatMap(({ cve, fixed }) => {
    const fix = fixFor(version, fixed);
    return fix === null ? [] : [{ cve, fix }];
  });
  const [first, ...more] = holes.map(({ fix }) => fix);
  if (first === undefined) return null;
  const update = more.reduce((last, fix) => (isBefore(last, fix) ? fix : last), first);
  const names = holes.map(({ cve }) => cve).join('; ');
  return `Node.js ${version} has known security holes: ${names}. Update to ${update} or newer.`;
}
