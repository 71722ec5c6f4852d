import type { ReactNode } from 'react';
import type { Tone } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import './timeline.css';

export interface Moment {
  readonly key: string;
  /** `null` if the step has not happened yet, or if its time is unknown. */
  readonly at: string | null;
  readonly title: ReactNode;
  readonly tone: Tone;
  readonly detail?: ReactNode;
  /** API codes of the step, shown after the details. */
  readonly codes?: string | undefined;
}

export function Timeline({ moments }: { readonly moments: readonly Moment[] }): ReactNode {
  return (
    <ol className="timeline">
      {moments.map(({ key, at, title, tone, detail, codes }) => (
        <li key={key} className={`moment moment-${tone}`}>
          <p className="moment-head">
            <strong>{title}</strong>
            <span className="soft small">
              {at === null ? null : <Time at={at} shape="exact" />}
            </span>
          </p>
          {detail === undefined ? null : (
            <div className="small soft">
              {detail} {codes === undefined ? null : <code>{codes}</code>}
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}
