import { useCallback } from 'react';
import { saveFile } from '../../ui/save-file.ts';
import { cutRecords, type ExportFormat, exportDecoder, shareOf } from './export-records.ts';
import { type DownloadJob, type DownloadRun, openFile, useDownload } from './use-download.ts';

function exportJob(url: string, format: ExportFormat): DownloadJob {
  const cutter = cutRecords(format);
  // Stored as Blob parts, because browsers move a large Blob to disk.
  const parts: Blob[] = [];
  let bytes = 0;
  let newest: string | null = null;
  let oldest: string | null = null;
  /** ID of the export's last row, from the first response's header. */
  let lastId: string | null = null;
  let fileName = `export.${format}`;
  /**
   * Throws if the response is incomplete: a proxy may end a truncated one as if it were complete.
   */
  const requireWhole = () => {
    const { lastId: came } = cutter.received;
    if (lastId === null || lastId === 'none' || came === lastId) return;
    throw new Error('the answer ended before its last row');
  };
  return {
    receive: async (signal, show) => {
      const address = new URL(url);
      const { lastId: after } = cutter.received;
      if (after !== null) address.searchParams.set('after', after);
      const { body, headers, name } = await openFile(address.href, signal);
      oldest ??= headers.get('Oldest-Row-Created');
      lastId ??= headers.get('Oldest-Row');
      fileName = name ?? fileName;
      const reader = body.pipeThrough(exportDecoder()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return requireWhole();
        const whole = cutter.take(value);
        if (whole === '') continue;
        const part = new Blob([whole]);
        parts.push(part);
        bytes += part.size;
        newest ??= cutter.received.lastCreated;
        show();
      }
    },
    // Drops an incomplete record; drops everything if no record is complete.
    dropBroken: () => {
      cutter.dropRest();
      if (cutter.received.lastId !== null) return;
      parts.length = 0;
      bytes = 0;
    },
    progress: () => {
      const { rows, lastCreated: last } = cutter.received;
      return { rows, bytes, share: shareOf({ newest, last, oldest }) };
    },
    save: () => saveFile(parts, fileName),
  };
}

/** After a broken connection only the incomplete row is loaded again. */
export function useExport(url: string, format: ExportFormat): DownloadRun {
  return useDownload(useCallback(() => exportJob(url, format), [url, format]));
}
