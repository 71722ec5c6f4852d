import type { ReactNode } from 'react';

/** Height of the view box, which is one unit wide per step. */
const HEIGHT = 100;
/** Minimum height, so that the smallest figure is visible. */
const LEAST = 2;
/** Share of a step's width that stays empty, on both sides together. */
const GAP = 0.3;

export interface ChartStep {
  readonly key: string;
  /** Names the hour or day. */
  readonly name: string;
  /** `null` if the step has no figure. */
  readonly value: number | null;
  /** A part of the value, drawn stronger in front of it. */
  readonly part?: number | null;
  /** Describes the step's figure, shown when it is pointed at. */
  readonly says: string;
}

export interface ActivityChartProps {
  readonly title: string;
  readonly steps: readonly ChartStep[];
  /** The value at the top edge. If absent, the largest one. */
  readonly top?: number;
  readonly textOf: (value: number) => string;
  /** Explains the two shades, if there are two. */
  readonly legend?: ReactNode;
}

/**
 * Draws one bar per hour or day. Bars are hidden from screen readers: the page's table has the same
 * figures.
 */
export function ActivityChart(props: ActivityChartProps): ReactNode {
  const { title, steps, textOf, legend } = props;
  const top = props.top ?? Math.max(...steps.map(({ value }) => value ?? 0));
  const heightOf = (value: number | null | undefined) =>
    value == null || top === 0 ? 0 : Math.max(LEAST, (value / top) * HEIGHT);
  return (
    <figure className="activity stack stack-tight" aria-label={`${title}: see the table below`}>
      <figcaption className="row" aria-hidden="true">
        <strong>{title}</strong>
        <span className="soft small">{legend}</span>
      </figcaption>
      <div aria-hidden="true">
        <p className="activity-top soft small">{textOf(top)}</p>
        <svg
          viewBox={`0 0 ${steps.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {steps.map(({ key, name, value, part, says }, at) => (
            <g key={key}>
              <title>{`${name}: ${says}`}</title>
              <rect className="activity-slot" x={at} y={0} width={1} height={HEIGHT} />
              <Bar
                at={at}
                height={heightOf(value)}
                className={part === undefined ? '' : 'is-far'}
              />
              {part === undefined ? null : <Bar at={at} height={heightOf(part)} className="" />}
            </g>
          ))}
        </svg>
        <p className="activity-ends soft small">
          <span>{steps.at(0)?.name}</span>
          <span>{steps.at(-1)?.name}</span>
        </p>
      </div>
    </figure>
  );
}

interface BarProps {
  readonly at: number;
  readonly height: number;
  readonly className: string;
}

function Bar({ at, height, className }: BarProps): ReactNode {
  return (
    <rect
      className={className}
      x={at + GAP / 2}
      y={HEIGHT - height}
      width={1 - GAP}
      height={height}
    />
  );
}
