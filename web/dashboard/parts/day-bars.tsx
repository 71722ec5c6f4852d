import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { dayBefore } from './days.ts';
import { useTimeZone } from './time-zone.ts';

/** Of one bar, in the units of the drawing. */
const BAR = { width: 20, gap: 4, height: 80 };
/** A day with anything at all is seen. */
const LEAST = 3;

export interface DayBarsProps {
  readonly days: number;
  readonly tone?: 'plain' | 'bad';
  readonly amountOf: (day: string) => number;
  readonly labelOf: (day: string, value: number) => string;
  /** The list of what a bar stands for. */
  readonly pathOf: (day: string) => string;
}

/** A bar per day; a click leads to the list of that day. */
export function DayBars(props: DayBarsProps): ReactNode {
  const { days, tone = 'plain', amountOf, labelOf, pathOf } = props;
  const timeZone = useTimeZone();
  const names = Array.from({ length: days }, (_, index) => dayBefore(days - 1 - index, timeZone));
  const most = Math.max(1, ...names.map(amountOf));
  return (
    <ol className={`bars bars-${tone}`}>
      {names.map((name) => {
        const value = amountOf(name);
        const height = value === 0 ? 0 : Math.max(LEAST, Math.round((value / most) * BAR.height));
        return (
          <li key={name}>
            <Link href={pathOf(name)} aria-label={labelOf(name, value)}>
              <svg
                viewBox={`0 0 ${BAR.width} ${BAR.height}`}
                preserveAspectRatio="none"
                aria-hidden="true"
              >
                <rect x="0" y={BAR.height - 1} width={BAR.width} height="1" />
                <rect x="2" y={BAR.height - height} width={BAR.width - BAR.gap} height={height} />
              </svg>
              <span className="small">{name.slice(8)}</span>
            </Link>
          </li>
        );
      })}
    </ol>
  );
}
