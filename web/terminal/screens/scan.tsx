import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { readCamera } from '../reader/camera.ts';
import './scan.css';

export interface ScanDialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly onCode: (text: string) => void;
}

/** The camera's picture until a code is in it. */
export function ScanDialog({ title, onClose, onCode }: ScanDialogProps): ReactNode {
  const video = useRef<HTMLVideoElement>(null);
  const [refused, setRefused] = useState(false);
  // The camera stays on whatever is drawn again around it.
  const found = useEffectEvent(onCode);
  useEffect(() => {
    const end = new AbortController();
    if (video.current !== null) {
      // Once: a slow device reads the same picture again before this window is gone.
      const onFirst = (text: string) => {
        end.abort();
        found(text);
      };
      readCamera(video.current, onFirst, end.signal).catch(() => setRefused(true));
    }
    return () => end.abort();
  }, []);
  return (
    <Dialog title={title} onClose={onClose}>
      {refused ? (
        <Notice tone="warn" role="alert">
          <p>The camera cannot be used. Allow it in the settings of the browser.</p>
        </Notice>
      ) : (
        <video ref={video} className="scan-video" muted playsInline />
      )}
      <Button onClick={onClose}>Done</Button>
    </Dialog>
  );
}
