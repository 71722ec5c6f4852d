import { entryHash, GENESIS } from '#audit/audit.ts';
import { type AuditRow, selectAuditLogs, selectEntries } from '#audit/audit-queries.ts';
import { StartError } from '#core/start-error.ts';
import type { Sql } from '#db/database.ts';

/** Number of entries that are read and hashed before other requests get a turn. */
const CHUNK = 1_000;

export type AuditLogReport =
  | {
      readonly auditLog: string;
      readonly intact: true;
      readonly entries: bigint;
      /**
       * The newest entry's hash in hex. A copy stored elsewhere reveals whether newer entries were
       * removed.
       */
      readonly head: string;
    }
  | {
      readonly auditLog: string;
      readonly intact: false;
      readonly entries: bigint;
      /** The first entry whose hash does not match. */
      readonly brokenAt: bigint;
      readonly reason: string;
    };

interface Head {
  readonly sequence: bigint;
  readonly hash: Buffer;
}

function problemOf(row: AuditRow, before: Head): string | null {
  if (row.sequence !== before.sequence + 1n) return `entry ${before.sequence + 1n} is missing`;
  if (!row.previous_hash.equals(before.hash)) return 'it does not follow the entry before';
  if (!row.hash.equals(entryHash(row))) return 'it was changed';
  return null;
}

/**
 * The result for consecutive entries of a log, up to a limit, the log's end or the first mismatch.
 */
export interface Stretch {
  /** The last entry that matches. */
  readonly head: Head;
  readonly broken: { readonly at: bigint; readonly reason: string } | null;
  readonly hasMore: boolean;
}

/** Recomputes the hashes of the entries after `head`. */
async function verifyAfter(sql: Sql, from: { auditLog: string; head: Head }): Promise<Stretch> {
  let { head } = from;
  const rows = await selectEntries(sql, {
    auditLog: from.auditLog,
    after: head.sequence,
    limit: CHUNK,
  });
  for (const row of rows) {
    const reason = problemOf(row, head);
    if (reason !== null) return { head, broken: { at: row.sequence, reason }, hasMore: false };
    head = row;
  }
  return { head, broken: null, hasMore: rows.length === CHUNK };
}

/**
 * Recomputes the hashes of the next {@link CHUNK} entries. The entry `after` itself is trusted, so
 * begin at 0, and continue where the previous call ended.
 */
export async function verifyStretch(
  sql: Sql,
  filter: { readonly auditLog: string; readonly after: bigint },
): Promise<Stretch> {
  const { auditLog, after } = filter;
  const first: Head = { sequence: 0n, hash: GENESIS };
  if (after === 0n) return verifyAfter(sql, { auditLog, head: first });
  const [row] = await selectEntries(sql, { auditLog, after: after - 1n, limit: 1 });
  if (row?.sequence === after) return verifyAfter(sql, { auditLog, head: row });
  return { head: first, broken: { at: after, reason: 'it is missing' }, hasMore: false };
}

/** Reads a log from its beginning, and recomputes every hash. */
export async function verifyAuditLog(sql: Sql, auditLog: string): Promise<AuditLogReport> {
  let head: Head = { sequence: 0n, hash: GENESIS };
  for (;;) {
    const stretch = await verifyAfter(sql, { auditLog, head });
    const { sequence: entries, hash } = stretch.head;
    if (stretch.broken !== null) {
      const { at: brokenAt, reason } = stretch.broken;
      return { auditLog, intact: false, entries, brokenAt, reason };
    }
    if (!stretch.hasMore) return { auditLog, intact: true, entries, head: hash.toString('hex') };
    head = stretch.head;
  }
}

/** A head recorded earlier: `<log> <sequence> <hash>`. In its JSON, the log is called `chain`. */
export interface Anchor {
  readonly chain: string;
  readonly sequence: bigint;
  readonly hash: string;
}

export function anchorLine({ chain, sequence, hash }: Anchor): string {
  return `${chain} ${sequence} ${hash}`;
}

export function parseAnchor(line: string): Anchor | null {
  const [, chain, sequence, hash] = /^(\S+) (\d+) ([0-9a-f]{64})$/.exec(line.trim()) ?? [];
  if (chain === undefined || sequence === undefined || hash === undefined) return null;
  return { chain, sequence: BigInt(sequence), hash };
}

interface WrittenHead {
  readonly chain?: unknown;
  readonly sequence?: unknown;
  readonly hash?: unknown;
}

/** Parses heads in one line of JSON; `null` for any other line. */
function parseAnchorJson(line: string): Anchor[] | null {
  let heads: unknown;
  try {
    ({ heads } = JSON.parse(line) as { heads?: unknown });
  } catch {
    return null;
  }
  if (!Array.isArray(heads)) return null;
  const anchors = heads.map((head: WrittenHead | null) =>
    parseAnchor(`${head?.chain} ${head?.sequence} ${head?.hash}`),
  );
  return anchors.every((anchor) => anchor !== null) ? anchors : null;
}

/**
 * Parses a file of heads: the output of an earlier run, the JSON lines that the service writes
 * daily, or the text of its mail. Ignores empty lines and lines that begin with #.
 * @throws StartError for any other line.
 */
export function parseAnchors(text: string): Anchor[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => {
      const anchor = parseAnchor(line);
      const anchors = anchor === null ? parseAnchorJson(line) : [anchor];
      if (anchors !== null) return anchors;
      throw new StartError(`--anchors: not an anchor: ${line.slice(0, 100)}`);
    });
}

/**
 * True if the anchor's entry still exists with the same hash, so that nothing up to it was removed
 * or rewritten.
 */
export async function holdsAnchor(sql: Sql, anchor: Anchor): Promise<boolean> {
  const { chain: auditLog, sequence, hash } = anchor;
  const [row] = await selectEntries(sql, { auditLog, after: sequence - 1n, limit: 1 });
  return row?.sequence === sequence && row.hash.toString('hex') === hash;
}

/**
 * Verifies all logs, and the anchors if given; prints a line for each.
 * @returns the exit code: 0 if all are intact, otherwise 1.
 */
export async function reportAuditLog(
  sql: Sql,
  output: { readonly anchors: readonly Anchor[]; readonly print: (line: string) => void },
): Promise<0 | 1> {
  let code: 0 | 1 = 0;
  for (const auditLog of await selectAuditLogs(sql)) {
    const report = await verifyAuditLog(sql, auditLog);
    if (report.intact) {
      output.print(`${auditLog} ${report.entries} ${report.head}`);
    } else {
      code = 1;
      output.print(`${auditLog}: BROKEN at entry ${report.brokenAt}: ${report.reason}`);
    }
  }
  for (const anchor of output.anchors) {
    if (await holdsAnchor(sql, anchor)) continue;
    code = 1;
    output.print(`${anchor.chain}: BROKEN: entry ${anchor.sequence} is not the recorded one`);
  }
  return code;
}
