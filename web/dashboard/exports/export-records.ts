/**
 * This module tracks which rows of an export have arrived, so that the download can resume after
 * the last one.
 */

export type ExportFormat = 'csv' | 'csv_atoms' | 'jsonl';

export interface Received {
  readonly rows: number;
  /** Id of the last complete row, or `null` before the first. */
  readonly lastId: string | null;
  readonly lastCreated: string | null;
}

export interface RecordCutter {
  /**
   * Takes the next piece of the response.
   * @returns the complete records received so far, with their line ends.
   */
  take(text: string): string;
  /**
   * Drops the incomplete record after a broken response, so that it is requested again. If no row
   * was complete, the header is also requested again.
   */
  dropRest(): void;
  readonly received: Received;
}

/** Returns a decoder that keeps the byte order mark, without which spreadsheets misread UTF-8. */
export function exportDecoder(): TextDecoderStream {
  return new TextDecoderStream('utf-8', { ignoreBOM: true });
}

const QUOTE = '"';

/** Returns the end of the last complete record. Quoted CSV cells may contain line breaks. */
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

/** Returns the first two cells, which are id and time in every export. */
function firstCells(record: string, format: ExportFormat): [id: string, created: string] | null {
  if (format === 'jsonl') {
    const { id, created } = JSON.parse(record) as { id: string; created: string };
    return [id, created];
  }
  const [, id, created] = /^"?([a-z]+_[0-9A-Za-z]+)"?,"?([^",]+)"?/.exec(record) ?? [];
  return id === undefined || created === undefined ? null : [id, created];
}

/** Returns the last record. It begins after a line end that is not inside a cell. */
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

/**
 * Returns the progress from 0 to 1, or `null` if unknown. Measures it by time, because rows arrive
 * newest first.
 */
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
