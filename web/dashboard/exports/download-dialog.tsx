import type { ReactNode } from 'react';
import { withoutIsolates } from '#i18n/bidi-isolates.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { formatNumber, percentText } from '../../ui/numbers.ts';
import { sizeWords } from '../../ui/size-words.ts';
import type { Tone } from '../../ui/status.tsx';
import { t } from '../../ui/text/t.ts';
import type { DownloadRun, DownloadState } from './use-download.ts';

export interface DownloadDialogProps {
  readonly title: string;
  readonly run: DownloadRun;
  /** What "Continue" does. */
  readonly brokenText: string;
  readonly onClose: () => void;
}

const TONES: Readonly<Record<DownloadState['is'], Tone>> = {
  asking: 'info',
  coming: 'info',
  broken: 'warn',
  refused: 'bad',
  done: 'good',
};

/** Shows the rows as they arrive. A broken download can be continued. */
export function DownloadDialog({
  title,
  run,
  brokenText,
  onClose,
}: DownloadDialogProps): ReactNode {
  const { state, resume } = run;
  const { is, rows, bytes, share, words } = state;
  return (
    <Dialog title={title} onClose={onClose}>
      <Notice tone={TONES[is]} role="status">
        <strong>{t(`dashboard.export_state.${is}`)}</strong>
        <p>
          {words ??
            t('dashboard.export.rows', {
              count: rows,
              size: withoutIsolates(sizeWords(bytes)),
            })}
        </p>
      </Notice>
      {is === 'coming' || is === 'asking' || is === 'broken' ? (
        <progress
          className="wide"
          aria-label={t('dashboard.export.progress')}
          max={1}
          {...(share === null ? {} : { value: share })}
        >
          {share === null
            ? t('dashboard.export.downloading')
            : percentText(formatNumber(Math.round(share * 100)))}
        </progress>
      ) : null}
      {is === 'broken' ? <p>{brokenText}</p> : null}
      <div className="row">
        {is === 'broken' ? (
          <Button kind="primary" onClick={resume}>
            {t('dashboard.export.continue')}
          </Button>
        ) : null}
        <Button onClick={onClose}>
          {is === 'done' ? t('desk.button.done') : t('dashboard.export.stop')}
        </Button>
      </div>
    </Dialog>
  );
}
