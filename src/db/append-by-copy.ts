import type pg from 'pg';
import { codeOf, type Database } from '#db/database.ts';

/**
 * Collects log rows and appends them by COPY over its own connection, at half the cost of an INSERT
 * from JSON. Waiting rows are kept as bytes, because thousands of objects that live for a quarter
 * of a second burden the garbage collector. The commit does not wait for the disk, so a crash may
 * lose the last rows.
 */
export interface RowAppender<R> {
  /** Returns false if the row was dropped because too many are waiting. */
  add(row: R): boolean;
  /** The number of rows that wait for the next flush. */
  readonly waiting: number;
  /**
   * Stores the waiting rows. Call it again only after it has finished. A row that the table refuses
   * does not affect the others.
   * @returns the number of refused rows
   * @throws if the waiting rows were lost
   */
  flush(): Promise<number>;
  close(): Promise<void>;
}

type CopyValue = string | number | boolean | Date | null;

interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

// Characters to escape. PostgreSQL's text cannot hold NUL, so it becomes U+FFFD.
const SPECIAL = /[\\\n\r\t\0]/;
const ALL_SPECIAL = new RegExp(SPECIAL, 'g');
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\0': '\ufffd',
};

function copyText(value: CopyValue): string {
  if (value === null) return '\\N';
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'string') return String(value);
  if (!SPECIAL.test(value)) return value;
  return value.replaceAll(ALL_SPECIAL, (character) => ESCAPES[character] ?? '');
}

const NEW_LINE = 0x0a;
/** SQLSTATE classes of an invalid row: bad values (22) or a violated constraint (23). */
const ROW_FAULT = /^2[23]/;
/** Maximum size of a row. Logged texts are cut to a few hundred characters each. */
const MAX_ROW_BYTES = 16 * 1024;

/** Creates a query object that runs COPY, which node-postgres does not offer. */
function copyQuery(text: string, data: Buffer, done: (error: Error | null) => void) {
  return {
    submit: (connection: CopyConnection) => connection.query(text),
    handleCopyInResponse: (connection: CopyConnection) => {
      connection.sendCopyFromChunk(data);
      connection.endCopyFrom();
    },
    handleCommandComplete: () => {},
    handleReadyForQuery: () => done(null),
    handleError: (error: Error) => done(error),
  };
}

/**
 * Stores rows. If one is invalid, retries each half separately, down to the single invalid row,
 * which is dropped.
 * @returns the number of dropped rows
 */
async function store(copy: (data: Buffer) => Promise<void>, data: Buffer): Promise<number> {
  try {
    await copy(data);
    return 0;
  } catch (error) {
    if (!ROW_FAULT.test(codeOf(error))) throw error;
    const middle = data.indexOf(NEW_LINE, Math.floor((data.length - 1) / 2)) + 1;
    const end = middle < data.length ? middle : data.lastIndexOf(NEW_LINE, data.length - 2) + 1;
    if (end === 0) return 1;
    return (await store(copy, data.subarray(0, end))) + (await store(copy, data.subarray(end)));
  }
}

/** @param maxBytes limit for the waiting rows. Two buffers of this size are allocated. */
export function openRowAppender<R extends { readonly [N in keyof R]: CopyValue }>(
  db: Database,
  into: { readonly name: string; readonly columns: string },
  maxBytes: number,
): RowAppender<R> {
  const text = `copy ${into.name} (${into.columns}) from stdin`;
  const names = into.columns.split(', ') as (keyof R)[];
  let client: pg.Client | null = null;
  let filling = Buffer.allocUnsafe(maxBytes);
  let spare = Buffer.allocUnsafe(maxBytes);
  let length = 0;
  let rows = 0;

  const connect = async () => {
    const next = await db.connect();
    next.on('end', () => {
      if (client === next) client = null;
    });
    await next.query('set synchronous_commit = off');
    client = next;
    return next;
  };
  const copy = async (data: Buffer) => {
    const connected = client ?? (await connect());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const done = (error: Error | null) => (error === null ? resolve() : reject(error));
    connected.query(copyQuery(text, data, done) as unknown as pg.Submittable);
    await promise;
  };
  return {
    add: (row) => {
      if (length > maxBytes - MAX_ROW_BYTES) return false;
      let line = '';
      for (const name of names) line += `${copyText(row[name])}\t`;
      length += filling.write(line, length);
      // Replaces the tab after the last value with the end of the line.
      filling[length - 1] = NEW_LINE;
      rows++;
      return true;
    },
    get waiting() {
      return rows;
    },
    flush: async () => {
      const data = filling.subarray(0, length);
      const hasRows = rows > 0;
      [filling, spare, length, rows] = [spare, filling, 0, 0];
      return hasRows ? store(copy, data) : 0;
    },
    close: async () => {
      await client?.end();
    },
  };
}
