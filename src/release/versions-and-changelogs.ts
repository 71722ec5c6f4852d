/** Versions and changelogs of a release, without I/O. */

/**
 * A version. For the candidate `1.0.0-rc.1`, the candidate number is 1; for a final version, it is
 * null.
 */
interface Version {
  readonly numbers: readonly [number, number, number];
  readonly candidate: number | null;
}

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-rc\.(\d+))?$/;
const OPEN = /^## v(\S+), not released yet\n/m;
const CLOSED = /^## v(\S+), \d{4}-\d\d-\d\d$/gm;

function versionOf(text: string): Version | null {
  const match = VERSION.exec(text);
  if (match === null) return null;
  const [, major, minor, patch, candidate] = match;
  return {
    numbers: [Number(major), Number(minor), Number(patch)],
    candidate: candidate === undefined ? null : Number(candidate),
  };
}

/** Candidates come before their version: 1.0.0-rc.1, 1.0.0-rc.2, 1.0.0. */
function isAfter(one: Version, other: Version): boolean {
  const parts = ({ numbers, candidate }: Version) => [
    ...numbers,
    candidate ?? Number.POSITIVE_INFINITY,
  ];
  const others = parts(other);
  const at = parts(one).findIndex((part, index) => part !== others[index]);
  return at >= 0 && (parts(one)[at] ?? 0) > (others[at] ?? 0);
}

/** Returns the open section's text, up to the next heading; `null` if no section is open. */
function openSection(
  changelog: string,
): { readonly version: string; readonly text: string } | null {
  const match = OPEN.exec(changelog);
  if (match === null) return null;
  const [text = ''] = changelog.slice(match.index + match[0].length).split(/^## /m);
  return { version: match[1] ?? '', text };
}

/** Returns the version of the changelog's open section, which is a release's default version. */
export function nextVersion(changelog: string): string | null {
  return openSection(changelog)?.version ?? null;
}

/**
 * Returns why this version cannot be released now; `null` if it can.
 * @param tags the repository's tags. Tags like `v1.0.0` are releases.
 */
export function whyNotReleased(
  version: string,
  { changelog, tags }: { readonly changelog: string; readonly tags: readonly string[] },
): string | null {
  const parsed = versionOf(version);
  if (parsed === null)
    return `${version || 'An empty text'} is not a version; write 1.0.0 or 1.0.0-rc.1.`;
  const open = openSection(changelog);
  if (open === null) return 'CHANGELOG.md has no section "## v<version>, not released yet".';
  if (!/^[-*] \S/m.test(open.text)) return `The section v${open.version} has no entries.`;
  const headings = [...changelog.matchAll(CLOSED)].map(([, text = '']) => text);
  const names = [...headings, ...tags.map((tag) => tag.replace(/^v/, ''))];
  for (const name of names) {
    const earlier = versionOf(name);
    if (earlier !== null && !isAfter(parsed, earlier)) return `${version} is not after ${name}.`;
  }
  return null;
}

/**
 * Returns the text with its open section closed, under a heading like `## v1.0.0, 2026-12-01`. A
 * text without an open section stays as it is, and `whyEmpty` refuses it later.
 */
export function closed(text: string, name: string): string {
  return text.replace(OPEN, `## ${name}\n`);
}

/** Returns the entries of the section that `closed` closed under this name. */
export function sectionOf(changelog: string, name: string): string {
  const part = changelog.split(/^## /m).find((one) => one.startsWith(`${name}\n`)) ?? '';
  return part.slice(name.length).trim();
}

/**
 * Returns why the page's section that a release closed is missing or empty; `null` if it has
 * entries.
 */
export function whyEmpty(page: string, text: string, name: string): string | null {
  if (sectionOf(text, name) !== '') return null;
  const [tag = ''] = name.split(',');
  const before = page.endsWith('api-changes.md')
    ? 'npm run api-changes writes it'
    : `"## ${tag}, not released yet"`;
  return `${page} has no section with entries for ${tag} (${before}).`;
}

/** Returns a package's changelog with its open entries moved to the package's current version. */
export function closedPackage(changelog: string, version: string): string {
  const plain = changelog.replace(`## ${version} (unreleased)\n`, `## ${version}\n`);
  const match = /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(plain);
  if (match === null) return plain;
  const [whole, entries = ''] = match;
  const heading = `## ${version}\n`;
  const rest = plain.replace(whole, '');
  if (entries.trim() === '') return rest;
  if (!rest.includes(heading)) return plain.replace(whole, () => `${heading}${entries}`);
  return rest.replace(`${heading}\n`, () => `${heading}\n${entries.trim()}\n`);
}
