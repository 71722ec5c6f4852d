import type { ReactNode } from 'react';

export interface FigureProps {
  readonly name: string;
  /** The comparison below the number. */
  readonly note?: ReactNode;
  readonly children: ReactNode;
}

export function Figure({ name, note = null, children }: FigureProps): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {children}
        {note === null ? null : <span className="figure-change">{note}</span>}
      </dd>
    </div>
  );
}
