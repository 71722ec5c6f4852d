import type { ContractShape } from '#app/api-contract-shape.ts';
import type { Doc } from '#http/openapi-schemas.ts';

/** Writes docs/guides/api-changes.md: the additions to the merchant API, release by release. */

const TITLE = '# What is new in the API';
const INTRODUCTION = `This page lists what each release added to the merchant API. Existing programs
keep working, because nothing that they rely on was removed.`;
const NEXT = '## Not yet released';
const NOTHING = 'Nothing yet.';

/** Matches a field of a response; its capture leaves out the status and a list's envelope. */
const MEMBER = /^\d+\.(?:data\[\]\.)?(.+)$/;
/** The tag of operations that return objects of other resources. */
const TEST_HELPERS = 'test_helpers';
/**
 * Leaves out error responses: they are the same everywhere, and the page of error codes explains
 * them.
 */
const LEAST_ERROR = 400;

interface Line {
  /** `POST /v1/refunds`, or `event payment.succeeded`. */
  readonly owner: string;
  /** The line without its owner; empty for the operation itself. */
  readonly rest: string;
}

function toLine(text: string): Line {
  const [method = '', path = '', ...rest] = text.split(' ');
  return { owner: `${method} ${path}`, rest: rest.join(' ') };
}

function summaryOf(document: Doc, owner: string): string {
  const [method = '', path = ''] = owner.split(' ');
  const item = (document.paths as Doc)[path] as Doc | undefined;
  return String((item?.[method.toLowerCase()] as Doc | undefined)?.summary ?? '');
}

/** Returns the resource, such as `payment_intents`, for all operations below its path. */
function resourceOf(owner: string): string {
  return owner.split('/')[2] ?? owner;
}

function listed(names: readonly string[]): string {
  return [...new Set(names)].map((name) => `\`${name}\``).join(', ');
}

/** Leaves out fields and values of objects that are themselves new. */
function outermost(names: readonly string[]): string[] {
  const all = new Set(names);
  return [...all].filter((name) => {
    const parts = name.split(/(?=\.|\[| = )/);
    return !parts.some((_, end) => end > 0 && all.has(parts.slice(0, end).join('')));
  });
}

function table(head: string, rows: ReadonlyMap<string, readonly string[]>): string[] {
  if (rows.size === 0) return [];
  const lines = [...rows].map(([name, names]) => `| \`${name}\` | ${listed(outermost(names))} |`);
  return [head, '|---|---|', ...lines, ''];
}

function grouped(
  lines: readonly Line[],
  keyOf: (line: Line) => string,
  nameOf: (line: Line) => string | null,
): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const line of lines) {
    const name = nameOf(line);
    if (name === null || keyOf(line) === TEST_HELPERS) continue;
    const names = groups.get(keyOf(line)) ?? [];
    groups.set(keyOf(line), [...names, name]);
  }
  return groups;
}

/** Returns a parameter in a merchant's notation: `body.amount integer`, `query status = paid`. */
function parameterOf({ rest }: Line): string | null {
  const [location = '', name = '', ...more] = rest.split(' ');
  if (location.startsWith('body.')) return location.slice('body.'.length);
  if (location !== 'query' && location !== 'header') return null;
  return more[0] === '=' ? `${name} = ${more[1]}` : name;
}

function fieldOf({ rest }: Line): string | null {
  const [location = ''] = rest.split(' ');
  if (Number.parseInt(location, 10) >= LEAST_ERROR) return null;
  return MEMBER.exec(location)?.[1] ?? null;
}

/**
 * Returns the additions from `before` to `after`, as Markdown without a heading; empty if there are
 * none.
 */
export function changesSince(before: ContractShape, after: ContractShape, document: Doc): string {
  const known = new Set([...before.promises].map((text) => toLine(text).owner));
  const added = [...after.promises].filter((line) => !before.promises.has(line)).map(toLine);
  const operations = added.filter(({ owner, rest }) => rest === '' && !known.has(owner));
  const events = added.filter(({ owner }) => owner.startsWith('event ') && !known.has(owner));
  const inOld = added.filter(({ owner }) => known.has(owner) && !owner.startsWith('event '));
  const eventNames = listed(events.map(({ owner }) => owner.slice('event '.length)));
  return [
    ...(operations.length === 0 ? [] : ['| new operation | |', '|---|---|']),
    ...operations.map(({ owner }) => `| \`${owner}\` | ${summaryOf(document, owner)} |`),
    ...(operations.length === 0 ? [] : ['']),
    ...table(
      '| operation | new parameters and values |',
      grouped(inOld, ({ owner }) => owner, parameterOf),
    ),
    ...table(
      '| resource | new fields |',
      grouped(inOld, ({ owner }) => resourceOf(owner), fieldOf),
    ),
    ...(eventNames === '' ? [] : [`New event types: ${eventNames}.`, '']),
  ].join('\n');
}

/** Returns the page's sections of released versions, which no longer change. */
function released(page: string): string {
  return /^## v[\s\S]*$/m.exec(page)?.[0] ?? '';
}

/** Returns the page with its unreleased additions replaced. */
export function withChanges(page: string, changes: string): string {
  const parts = [TITLE, INTRODUCTION, NEXT, changes.trim() || NOTHING, released(page).trim()];
  return `${parts.join('\n\n').trimEnd()}\n`;
}

/**
 * Returns the page with the additions under the heading of a release, such as `v0.2.0, 2026-12-01`.
 */
export function asReleased(page: string, version: string, changes: string): string {
  const section = [`## ${version}`, changes.trim() || NOTHING, released(page)];
  return withChanges(section.join('\n\n'), '');
}
