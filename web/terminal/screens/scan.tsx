import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { scannedText } from '#core/name-rules.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { readCamera } from '../reader/camera.ts';
import type { CameraProblem } from '../reader/read-codes.ts';
import { NotLoaded } from './use-loaded.tsx';
import './scan.css';
import { t } from '../../ui/text/t.ts';

export interface ScanDialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly onCode: (text: string) => void;
}

/** Shows the camera until a code is found. */
export function ScanDialog({ title, onClose, onCode }: ScanDialogProps): ReactNode {
  const video = useRef<HTMLVideoElement>(null);
  const [problem, setProblem] = useState<CameraProblem | null>(null);
  const [attempt, setAttempt] = useState(0);
  // An effect event, so that the camera keeps running when the surrounding components render again.
  const found = useEffectEvent(onCode);
  useEffect(() => {
    const end = new AbortController();
    if (video.current !== null && attempt >= 0) {
      // Reports one code only, because a slow device may read the same picture again before the
      // dialog closes.
      const onFirst = (text: string) => {
        end.abort();
        found(scannedText(text));
      };
      void readCamera(video.current, { onCode: onFirst, onProblem: setProblem }, end.signal);
    }
    return () => end.abort();
  }, [attempt]);
  return (
    <Dialog title={title} onClose={onClose}>
      {problem === null ? (
        <video ref={video} className="scan-video" muted playsInline />
      ) : (
        <NotLoaded
          words={t(`till.camera.${problem}`)}
          onRetry={() => {
            setProblem(null);
            setAttempt(attempt + 1);
          }}
        />
      )}
      <Button onClick={onClose}>{t('till.done')}</Button>
    </Dialog>
  );
}
