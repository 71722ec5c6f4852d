import { useCallback, useEffect, useRef, useState } from 'react';
import { t } from '../../ui/text/t.ts';
import {
  cutRecords,
  type ExportFormat,
  exportDecoder,
  type RecordCutter,
  shareOf,
} from './export-records.ts';
import { saveFile } from './save-file.ts';

/** The number of times that a broken download is resumed before the user is asked. */
const TRIES = 5;
const AGAIN_AFTER_MS = 1_000;
/** Limits how often the progress is redrawn. */
const SHOW_EVERY_MS = 200;

export interface ExportState {
  readonly is: 'asking' | 'coming' | 'broken' | 'refused' | 'done';
  readonly rows: number;
  readonly bytes: number;
  /** From 0 to 1, or `null` if unknown. */
  readonly share: number | null;
  readonly words: string | null;
}

const BEGIN: ExportState = { is: 'asking', rows: 0, bytes: 0, share: null, words: null };

export interface ExportRun {
  readonly state: ExportState;
  /** Resumes after the last complete row. */
  resume(): void;
}

/** One download, over as many responses as it takes. */
interface Job {
  readonly url: string;
  readonly cutter: RecordCutter;
  /** Browsers move the parts of a large Blob to disk. */
  readonly parts: Blob[];
  bytes: number;
  newest: string | null;
  oldest: string | null;
  /** Id of the row after which the export is complete. */
  lastId: string | null;
  fileName: string;
}

function newJob(url: string, format: ExportFormat): Job {
  const parts = { cutter: cutRecords(format), parts: [], bytes: 0, newest: null, oldest: null };
  return { url, ...parts, lastId: null, fileName: `export.${format}` };
}

function stateOf(job: Job, is: ExportState['is'], words: string | null = null): ExportState {
  const { rows, lastCreated: last } = job.cutter.received;
  const { bytes, newest, oldest } = job;
  return { is, rows, bytes, share: is === 'done' ? 1 : shareOf({ newest, last, oldest }), words };
}

function urlOf({ url, cutter }: Job): URL {
  const address = new URL(url);
  const { lastId } = cutter.received;
  if (lastId !== null) address.searchParams.set('after', lastId);
  return address;
}

/** Returns the service's error message. A retry would be refused as well. */
async function refusalOf(answer: Response): Promise<string> {
  const body = (await answer.json().catch(() => null)) as { error?: { message?: string } } | null;
  return (
    body?.error?.message ??
    t('dashboard.use_export.the_service_answered', { status: answer.status })
  );
}

class Refused extends Error {}

async function receive(job: Job, signal: AbortSignal, show: () => void): Promise<void> {
  const answer = await fetch(urlOf(job), { signal });
  if (answer.status >= 400 && answer.status < 500) throw new Refused(await refusalOf(answer));
  if (!answer.ok || answer.body === null) throw new Error(`answered ${answer.status}`);
  job.oldest ??= answer.headers.get('Oldest-Row-Created');
  job.lastId ??= answer.headers.get('Oldest-Row');
  const named = /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '');
  job.fileName = named?.[1] ?? job.fileName;
  const reader = answer.body.pipeThrough(exportDecoder()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return requireWhole(job);
    const whole = job.cutter.take(value);
    if (whole === '') continue;
    const part = new Blob([whole]);
    job.parts.push(part);
    job.bytes += part.size;
    job.newest ??= job.cutter.received.lastCreated;
    show();
  }
}

/** Throws if the response is incomplete: a proxy may end a truncated one as if it were complete. */
function requireWhole({ lastId, cutter }: Job): void {
  const { lastId: came } = cutter.received;
  if (lastId === null || lastId === 'none' || came === lastId) return;
  throw new Error('the answer ended before its last row');
}

/** Drops an incomplete record, or everything if no row is complete. */
function dropBroken(job: Job): void {
  job.cutter.dropRest();
  if (job.cutter.received.lastId !== null) return;
  job.parts.length = 0;
  job.bytes = 0;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));

/**
 * Downloads an export with progress. After a broken connection only the incomplete row is loaded
 * again.
 */
export function useExport(url: string, format: ExportFormat): ExportRun {
  const [state, setState] = useState(BEGIN);
  const job = useRef<Job | null>(null);
  const stop = useRef(new AbortController());
  const run = useCallback(async () => {
    job.current ??= newJob(url, format);
    const own = job.current;
    const { signal } = stop.current;
    let shown = 0;
    const show = () => {
      if (performance.now() - shown < SHOW_EVERY_MS) return;
      shown = performance.now();
      setState(stateOf(own, 'coming'));
    };
    for (let tries = 0; tries < TRIES; tries++) {
      const before = own.cutter.received.rows;
      try {
        await receive(own, signal, show);
        saveFile(own.parts, own.fileName);
        return setState(stateOf(own, 'done'));
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Refused) return setState(stateOf(own, 'refused', error.message));
        dropBroken(own);
        // A download that makes progress gets new attempts.
        if (own.cutter.received.rows > before) tries = 0;
        await pause();
      }
    }
    setState(stateOf(own, 'broken'));
  }, [url, format]);
  useEffect(() => {
    stop.current = new AbortController();
    job.current = null;
    void run();
    return () => stop.current.abort();
  }, [run]);
  return { state, resume: () => void run() };
}
