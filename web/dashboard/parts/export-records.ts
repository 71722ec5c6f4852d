/** Which rows of an export have come, so that it can go on behind the last one. */

export type ExportFormat = 'csv' | 'csv_atoms' | 'jsonl';

export interface Received {
  readonly rows: number;
  /** The id of the last whole row; null: none has come. */
  readonly lastId: string | null;
  readonly lastCreated: string | null;
}

export interface RecordCutter {
  /** @returns the whole records of what has come so far, with their line ends. */
  take(text: string): string;
  /**
   * A broken answer: what was cut in two comes again. Before the first row, all of it does, with
   * its heading.
   */
  dropRest(): void;
  readonly received: Received;
}

/** Keeps the byte order mark, without which spreadsheets take UTF-8 for another encoding. */
export function exportDecoder(): TextDecoderStream {
  return new TextDecoderStream('utf-8', { ignoreBOM: true });
}

const QUOTE = '"';

/** The end of the last whole record. In CSV a cell may hold line breaks, between quotes. */
function endOfRecords(text: string, format: ExportFormat): number {
  if (format === 'jsonl') return text.lastIndexOf('\n') + 1;
  let isQuoted = false;
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === QUOTE) isQuoted = !isQuoted;
    else if (text[at] === '\n' && !isQuoted) end = at + 1;
  }
  return end;
}

function countRecords(text: string, format: ExportFormat): number {
  if (format === 'jsonl') return text.split('\n').length - 1;
  let isQuoted = false;
  let count = 0;
  for (const character of text) {
    if (character === QUOTE) isQuoted = !isQuoted;
    else if (character === '\n' && !isQuoted) count++;
  }
  return count;
}

/** Id and time stand first in each kind of export. */
function firstCells(record: string, format: ExportFormat): [id: string, created: string] | null {
  if (format === 'jsonl') {
    const { id, created } = JSON.parse(record) as { id: string; created: string };
    return [id, created];
  }
  const [, id, created] = /^"?([a-z]+_[0-9A-Za-z]+)"?,"?([^",]+)"?/.exec(record) ?? [];
  return id === undefined || created === undefined ? null : [id, created];
}

/** The last record, which begins behind a line end that is no part of a cell. */
function lastRecord(text: string, format: ExportFormat): string {
  const body = text.replace(/\r?\n$/, '');
  if (format === 'jsonl') return body.slice(body.lastIndexOf('\n') + 1);
  const cut = endOfRecords(body, format);
  return body.slice(cut);
}

export function cutRecords(format: ExportFormat): RecordCutter {
  let rest = '';
  let isHeader = format !== 'jsonl';
  let received: Received = { rows: 0, lastId: null, lastCreated: null };
  return {
    take: (text) => {
      rest += text;
      const end = endOfRecords(rest, format);
      const whole = rest.slice(0, end);
      rest = rest.slice(end);
      if (whole === '') return '';
      const count = countRecords(whole, format) - (isHeader ? 1 : 0);
      isHeader = false;
      const cells = firstCells(lastRecord(whole, format), format);
      const [lastId, lastCreated] = cells ?? [received.lastId, received.lastCreated];
      received = { rows: received.rows + count, lastId, lastCreated };
      return whole;
    },
    dropRest: () => {
      rest = '';
      if (received.lastId === null) isHeader = format !== 'jsonl';
    },
    get received() {
      return received;
    },
  };
}

/** How far it is, 0 to 1, by time: the newest row comes first. null: nobody can say. */
export function shareOf(dates: {
  readonly newest: string | null;
  readonly last: string | null;
  readonly oldest: string | null;
}): number | null {
  if (dates.newest === null || dates.last === null || dates.oldest === null) return null;
  const [newest, last, oldest] = [dates.newest, dates.last, dates.oldest].map((at) =>
    Date.parse(at),
  );
  const all = (newest ?? 0) - (oldest ?? 0);
  if (all <= 0) return null;
  return Math.min(1, Math.max(0, ((newest ?? 0) - (last ?? 0)) / all));
}
