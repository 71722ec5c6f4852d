import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { Link } from 'wouter';
import { withoutIsolates } from '#i18n/bidi-isolates.ts';
import { dayAtKey, type Scale, scaleFor } from './chart-scale.ts';
import { dayBefore } from './day-bounds.ts';
import './day-chart.css';
import { t, textLocale } from '../../ui/text/t.ts';
import { useShopDays } from '../account/time-zone.ts';

/** Height of the SVG's view box. The view box is one unit wide per day. */
const HEIGHT = 100;
/** Minimum height of a bar in pixels, so that a day with any sale is visible. */
const LEAST = 2;
/** Share of a day's width that stays empty, counting both sides together. */
const GAP = 0.3;
/** Days between two labels. Each divides the number of days shown: 7, 30 or 90. */
const LABELS = { week: 1, month: 5, quarter: 15 };

export interface DayChartProps {
  readonly days: number;
  readonly tone?: 'plain' | 'bad';
  /** True for counts, whose scale has no fractions. */
  readonly whole?: boolean;
  readonly figureOf: (day: string) => number;
  /** Returns the value of the same day in the previous period. If absent, no line is drawn. */
  readonly beforeOf?: ((day: string) => number) | undefined;
  /** Returns the label for a value at the side of the chart. */
  readonly tickOf: (value: number) => string;
  /** Describes a day's value, for screen readers and for the line above the chart. */
  readonly labelOf: (day: string, value: number) => string;
  /** Returns the path of the list that contains the rows behind a bar. */
  readonly pathOf: (day: string) => string;
}

function labelEvery(days: number): number {
  if (days <= 7) return LABELS.week;
  return days <= 30 ? LABELS.month : LABELS.quarter;
}

/** Formats a day like the other dates on the page, for example `Nov 24` or `24 Nov`. */
function dayWords(day: string): string {
  return new Intl.DateTimeFormat(textLocale(), {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  }).format(Date.parse(`${day}T00:00:00.000Z`));
}

/** Describes a day, for example `Tue, Nov 24: 12 payments`. */
function saidOf(day: string, words: string): string {
  const weekday = new Intl.DateTimeFormat(textLocale(), { weekday: 'short', timeZone: 'UTC' });
  return `${weekday.format(Date.parse(`${day}T00:00:00.000Z`))}, ${dayWords(day)}: ${words}`;
}

function heightOf(value: number, { top }: Scale): number {
  return value === 0 ? 0 : Math.max(LEAST, (value / top) * HEIGHT);
}

interface BarProps extends Pick<DayChartProps, 'labelOf' | 'pathOf'> {
  readonly day: string;
  readonly value: number;
  readonly scale: Scale;
  /** True for the only bar that the Tab key reaches. */
  readonly isStop: boolean;
  readonly onLook: (isLooked: boolean) => void;
  readonly onKey: (event: KeyboardEvent) => void;
}

function Bar(props: BarProps): ReactNode {
  const { day, value, scale, isStop, labelOf, pathOf, onLook, onKey } = props;
  const height = heightOf(value, scale);
  return (
    <li>
      <Link
        href={pathOf(day)}
        aria-label={withoutIsolates(saidOf(day, labelOf(day, value)))}
        tabIndex={isStop ? 0 : -1}
        onPointerEnter={() => onLook(true)}
        onFocus={() => onLook(true)}
        onPointerLeave={() => onLook(false)}
        onBlur={() => onLook(false)}
        onKeyDown={onKey}
      >
        <svg viewBox={`0 0 1 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <rect x={GAP / 2} y={HEIGHT - height} width={1 - GAP} height={height} />
        </svg>
      </Link>
    </li>
  );
}

interface LineProps {
  readonly values: readonly number[];
  readonly scale: Scale;
}

/** Draws the line of the previous period, aligned by day. */
function Line({ values, scale }: LineProps): ReactNode {
  const points = values.map((value, at) => `${at + 0.5},${HEIGHT - (value / scale.top) * HEIGHT}`);
  return (
    <svg
      className="chart-line"
      viewBox={`0 0 ${values.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polyline points={points.join(' ')} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}

function Key({ days }: { readonly days: number }): ReactNode {
  return (
    <p className="chart-key small" aria-hidden="true">
      <span>{t('dashboard.day_chart.these_days', { days })}</span>
      <span className="chart-key-before">{t('dashboard.day_chart.the_days_before', { days })}</span>
    </p>
  );
}

/** A chart with one bar per day. A click opens the list of that day. */
export function DayChart(props: DayChartProps): ReactNode {
  const { days, tone = 'plain', whole = false, figureOf, beforeOf, tickOf, labelOf } = props;
  const shop = useShopDays();
  const bars = useRef<HTMLOListElement>(null);
  const [looked, setLooked] = useState<number | null>(null);
  const [stop, setStop] = useState(days - 1);
  const names = Array.from({ length: days }, (_, index) => dayBefore(days - 1 - index, shop));
  const values = names.map(figureOf);
  const before = beforeOf === undefined ? [] : names.map(beforeOf);
  const hasBefore = before.some((value) => value > 0);
  const scale = scaleFor([...values, ...before], whole);
  const last = Math.min(stop, days - 1);
  const said = Math.min(looked ?? days - 1, days - 1);
  const saidDay = names[said] ?? '';
  const moveFocus = (event: KeyboardEvent, at: number) => {
    const next = dayAtKey(event.key, at, days);
    if (next === null) return;
    event.preventDefault();
    setStop(next);
    bars.current?.querySelectorAll('a')[next]?.focus();
  };
  return (
    <div className={`chart chart-${tone}`}>
      <p className="chart-said small" aria-hidden="true">
        {saidOf(saidDay, labelOf(saidDay, values[said] ?? 0))}
      </p>
      <div className="chart-scale small" aria-hidden="true">
        {scale.ticks.toReversed().map((tick) => (
          <span key={tick}>{tickOf(tick)}</span>
        ))}
      </div>
      <div className="chart-plot">
        {hasBefore ? <Line values={before} scale={scale} /> : null}
        <ol ref={bars}>
          {names.map((day, at) => (
            <Bar
              key={day}
              {...props}
              {...{ day, scale, value: values[at] ?? 0, isStop: at === last }}
              onLook={(isLooked) => {
                setLooked(isLooked ? at : null);
                if (isLooked) setStop(at);
              }}
              onKey={(event) => moveFocus(event, at)}
            />
          ))}
        </ol>
      </div>
      <div className="chart-days small" aria-hidden="true">
        {names.map((day, at) =>
          at % labelEvery(days) === 0 ? <span key={day}>{dayWords(day)}</span> : null,
        )}
      </div>
      {hasBefore ? <Key days={days} /> : null}
    </div>
  );
}
