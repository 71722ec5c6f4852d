import { type ReactNode, useEffect, useState } from 'react';
import type { Pass, PassCode } from '../../data/payer.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { partOf } from '../../ui/part.ts';
import { useHere } from '../here.tsx';
import { CountdownRing } from './countdown-ring.tsx';
import { PassFileButtons } from './pass-files.tsx';
import { Refused } from './refused.tsx';
import { RotatingCode } from './rotating-code.tsx';
import { useChange } from './use-change.ts';

const Qr = partOf(async () => (await import('../../ui/qr.tsx')).Qr);

export interface PassCodeSheetProps {
  readonly pass: Pass;
  readonly onClose: () => void;
}

/** A code that pays once, within a minute: a photograph of it is soon worth nothing. */
export function PassCodeSheet({ pass, onClose }: PassCodeSheetProps): ReactNode {
  const { api } = useHere();
  const { busy, problem, change } = useChange();
  const [code, setCode] = useState<PassCode | null>(null);
  const [isOver, setIsOver] = useState(false);
  const left = () => (code === null ? 0 : Date.parse(code.expires_at) - api.now());
  useEffect(() => {
    if (code === null) return;
    const ms = Math.max(0, Date.parse(code.expires_at) - api.now());
    const timer = setTimeout(() => setIsOver(true), ms);
    return () => clearTimeout(timer);
  }, [code, api]);
  const ask = async () => {
    const made = await change(() => api.createPassCode(pass.id));
    if (made === null) return;
    setCode(made);
    setIsOver(false);
  };
  const isShown = code !== null && !isOver;
  return (
    <Dialog title={pass.label === '' ? 'A code for the till' : pass.label} onClose={onClose}>
      <p className="soft">A code pays once, within a minute. The till scans it.</p>
      {isShown ? (
        <>
          <div className="pass-code">
            <Qr value={code.value} label="Code for the till" />
            <CountdownRing left={left} />
          </div>
          <CopyField label="Code" value={code.value} />
        </>
      ) : null}
      {isOver ? <p role="status">This code has expired.</p> : null}
      <Refused problem={problem} />
      {isShown ? null : (
        <Button kind="primary" large busy={busy} onClick={ask}>
          Show code
        </Button>
      )}
      {isShown ? null : <RotatingCode pass={pass} />}
      <PassFileButtons pass={pass} />
      <Button kind="quiet" onClick={onClose}>
        Close
      </Button>
    </Dialog>
  );
}
