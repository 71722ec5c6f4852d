import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { scannedText } from '#core/name-rules.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { readBarcodes, readCamera } from '../reader/camera.ts';
import type { CameraProblem, Light } from '../reader/read-codes.ts';
import { NotLoaded } from './use-loaded.tsx';
import './scan.css';
import { t } from '../../ui/text/t.ts';

export interface ScanDialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly onCode: (text: string) => void;
  /** True for codes that the dialog can use, if there are several in the picture. */
  readonly isOwn?: (text: string) => boolean;
  /** True to read barcodes instead of QR codes. */
  readonly barcodes?: boolean;
}

/** Shows the camera until a code is found. */
export function ScanDialog(props: ScanDialogProps): ReactNode {
  const { title, onClose, onCode, isOwn, barcodes = false } = props;
  const [light, setLight] = useState<Light | null>(null);
  const video = useRef<HTMLVideoElement>(null);
  const [problem, setProblem] = useState<CameraProblem | null>(null);
  const [attempt, setAttempt] = useState(0);
  // An effect event, so that the camera keeps running when the surrounding components render again.
  const onRead = useEffectEvent(onCode);
  const isUsable = useEffectEvent((text: string) => isOwn?.(text) === true);
  const again = () => {
    setProblem(null);
    setLight(null);
    setAttempt((count) => count + 1);
  };
  const openAgain = useEffectEvent(again);
  useEffect(() => {
    const end = new AbortController();
    if (video.current !== null && attempt >= 0) {
      // Reports one code only, because a slow device may read the same picture again before the
      // dialog closes.
      const onFirst = (text: string) => {
        end.abort();
        onRead(scannedText(text));
      };
      const onProblem = (one: CameraProblem) => (one === 'muted' ? openAgain() : setProblem(one));
      const onLight = (own: Light) => setLight(() => own);
      const events = { onCode: onFirst, onProblem, onLight, isOwn: isUsable };
      const read = barcodes ? readBarcodes : readCamera;
      void read(video.current, events, end.signal);
    }
    return () => end.abort();
  }, [attempt, barcodes]);
  const isStopped = problem === 'stopped';
  useEffect(() => {
    if (!isStopped) return;
    // A sleep ends the track in some browsers.
    const wake = () => document.visibilityState === 'visible' && openAgain();
    document.addEventListener('visibilitychange', wake);
    return () => document.removeEventListener('visibilitychange', wake);
  }, [isStopped]);
  return (
    <Dialog title={title} onClose={onClose}>
      {problem === null ? (
        <video ref={video} className="scan-video" muted playsInline />
      ) : (
        <Problem problem={problem} onRetry={again} />
      )}
      {light === null ? null : <LightButton key={attempt} light={light} />}
      <Button onClick={onClose}>{t('till.done')}</Button>
    </Dialog>
  );
}

interface ProblemProps {
  readonly problem: CameraProblem;
  readonly onRetry: () => void;
}

function Problem({ problem, onRetry }: ProblemProps): ReactNode {
  const words = t(`till.camera.${problem === 'muted' ? 'stopped' : problem}`);
  if (problem !== 'no_barcodes') return <NotLoaded words={words} onRetry={onRetry} />;
  // The same browser would say the same again.
  return (
    <Notice tone="warn" role="alert">
      <p>{words}</p>
    </Notice>
  );
}

function LightButton({ light }: { readonly light: Light }): ReactNode {
  const [isLit, setIsLit] = useState(false);
  const change = () => {
    light(!isLit);
    setIsLit(!isLit);
  };
  return (
    <Button aria-pressed={isLit} onClick={change}>
      {t('till.camera.light')}
    </Button>
  );
}
