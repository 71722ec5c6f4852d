import type { ReactNode } from 'react';

export interface FigureProps {
  readonly name: string;
  /** What it is compared with. */
  readonly note?: string | null;
  readonly children: ReactNode;
}

/** One number with its name, in a list of `figures`. */
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
