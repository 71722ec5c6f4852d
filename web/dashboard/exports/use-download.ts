import { useCallback, useEffect, useRef, useState } from 'react';
import { t } from '../../ui/text/t.ts';

/** Number of tries without progress before the download stops and the user can resume it. */
const TRIES = 5;
const AGAIN_AFTER_MS = 1_000;
/** Limits how often the progress is redrawn. */
const SHOW_EVERY_MS = 200;

export interface DownloadState {
  readonly is: 'asking' | 'coming' | 'broken' | 'refused' | 'done';
  readonly rows: number;
  readonly bytes: number;
  /** From 0 to 1, or `null` if unknown. */
  readonly share: number | null;
  readonly words: string | null;
}

const BEGIN: DownloadState = { is: 'asking', rows: 0, bytes: 0, share: null, words: null };

export interface DownloadRun {
  readonly state: DownloadState;
  resume(): void;
}

/** A file that is downloaded in as many responses as necessary. */
export interface DownloadJob {
  /** Requests the missing part. Rejects if the response breaks off. */
  receive(signal: AbortSignal, show: () => void): Promise<void>;
  /**
   * Discards the incomplete end of a broken response, so that the next request can continue there.
   */
  dropBroken(): void;
  progress(): Pick<DownloadState, 'rows' | 'bytes' | 'share'>;
  save(): void;
}

class Refused extends Error {}

/** Returns the service's error message. A retry would be refused as well. */
async function refusalOf(answer: Response): Promise<string> {
  const body = (await answer.json().catch(() => null)) as { error?: { message?: string } } | null;
  return (
    body?.error?.message ??
    t('dashboard.use_export.the_service_answered', { status: answer.status })
  );
}

/** Requests a file. @throws if the response has no body. */
export async function openFile(url: string, signal: AbortSignal) {
  const answer = await fetch(url, { signal });
  if (answer.status >= 400 && answer.status < 500) throw new Refused(await refusalOf(answer));
  if (!answer.ok || answer.body === null) throw new Error(`answered ${answer.status}`);
  const { body, headers } = answer;
  const named = /filename="([^"]+)"/.exec(headers.get('Content-Disposition') ?? '');
  return { body, headers, name: named?.[1] ?? null };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));

/**
 * Downloads a file with progress, and saves it.
 * @param begin Must be the same function on every render: a new one restarts the download.
 */
export function useDownload(begin: () => DownloadJob): DownloadRun {
  const [state, setState] = useState(BEGIN);
  const job = useRef<DownloadJob | null>(null);
  const stop = useRef(new AbortController());
  const run = useCallback(async () => {
    job.current ??= begin();
    const own = job.current;
    const { signal } = stop.current;
    const say = (is: DownloadState['is'], words: string | null = null) => {
      const { rows, bytes, share } = own.progress();
      setState({ is, rows, bytes, share: is === 'done' ? 1 : share, words });
    };
    let shown = 0;
    const show = () => {
      if (performance.now() - shown < SHOW_EVERY_MS) return;
      shown = performance.now();
      say('coming');
    };
    for (let tries = 0; tries < TRIES; tries++) {
      const before = own.progress().rows;
      try {
        await own.receive(signal, show);
        own.save();
        return say('done');
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Refused) return say('refused', error.message);
        own.dropBroken();
        // Progress resets the count of tries.
        if (own.progress().rows > before) tries = 0;
        await pause();
      }
    }
    say('broken');
  }, [begin]);
  useEffect(() => {
    stop.current = new AbortController();
    job.current = null;
    void run();
    return () => stop.current.abort();
  }, [run]);
  return { state, resume: () => void run() };
}
