import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { dragDown } from './drag-down.ts';
import './sheet-grip.css';

/** Where a sheet from below is taken to pull it away. Nothing for a keyboard: it has Escape. */
export function SheetGrip({
  sheet,
  onAway,
}: {
  readonly sheet: RefObject<HTMLElement | null>;
  readonly onAway: () => void;
}): ReactNode {
  const grip = useRef<HTMLDivElement>(null);
  const away = useRef(onAway);
  useEffect(() => {
    away.current = onAway;
  });
  useEffect(() => {
    if (sheet.current === null || grip.current === null) return undefined;
    return dragDown({ sheet: sheet.current, grip: grip.current }, () => away.current());
  }, [sheet]);
  return <div ref={grip} className="sheet-grip" aria-hidden="true" />;
}
