import { type ReactNode, useCallback, useState } from 'react';
import { Notice } from '../../ui/notice.tsx';

type Job = () => Promise<void>;

interface PrinterJob {
  readonly busy: boolean;
  readonly run: (job: Job) => Promise<void>;
  /** An alert if the last job failed, because a toast may be gone when the cashier looks. */
  readonly problem: ReactNode;
}

export function usePrinterJob(words: string): PrinterJob {
  const [state, setState] = useState<'ready' | 'busy' | 'failed'>('ready');
  const run = useCallback(async (job: Job) => {
    setState('busy');
    await job().then(
      () => setState('ready'),
      () => setState('failed'),
    );
  }, []);
  const problem =
    state === 'failed' ? (
      <Notice tone="bad" role="alert">
        {words}
      </Notice>
    ) : null;
  return { busy: state === 'busy', run, problem };
}
