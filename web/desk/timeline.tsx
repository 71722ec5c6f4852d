import type { ReactNode } from 'react';
import type { Tone } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import './timeline.css';

export interface Moment {
  readonly key: string;
  /** null: it has not happened yet, or nobody knows when. */
  readonly at: string | null;
  readonly title: ReactNode;
  readonly tone: Tone;
  readonly detail?: ReactNode;
}

/** Everything that happened to one object, in the order in which it happened. */
export function Timeline({ moments }: { readonly moments: readonly Moment[] }): ReactNode {
  return (
    <ol className="timeline">
      {moments.map(({ key, at, title, tone, detail }) => (
        <li key={key} className={`moment moment-${tone}`}>
          <p className="moment-head">
            <strong>{title}</strong>
            <span className="soft small">
              {at === null ? null : <Time at={at} shape="exact" />}
            </span>
          </p>
          {detail === undefined ? null : <div className="small soft">{detail}</div>}
        </li>
      ))}
    </ol>
  );
}
