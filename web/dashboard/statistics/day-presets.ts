import type { Zone } from '#core/calendar.ts';
import { t } from '../../ui/text/t.ts';
import { dayBefore } from './day-bounds.ts';

/**
 * Named periods. The URL contains the name, not the days, so that a link stays relative to today.
 */
export const presets = (): readonly (readonly [name: string, words: string])[] => [
  ['today', t('dashboard.presets.today')],
  ['yesterday', t('dashboard.presets.yesterday')],
  ['7_days', t('dashboard.presets.last_7_days')],
  ['30_days', t('dashboard.presets.last_30_days')],
  ['month', t('dashboard.presets.this_month')],
  ['last_month', t('dashboard.presets.last_month')],
];

export interface Days {
  /** For example `2026-11-20`. `undefined` if the period has no start. */
  readonly from: string | undefined;
  /** Inclusive. `undefined` if the period has no end. */
  readonly to: string | undefined;
}

function monthBefore(today: string): Days {
  const first = new Date(`${today.slice(0, 7)}-01T00:00:00.000Z`);
  const last = new Date(first.getTime() - 86_400_000).toISOString().slice(0, 10);
  return { from: `${last.slice(0, 7)}-01`, to: last };
}

/** Returns the days of a named period, today included, or `null` for an unknown name. */
export function presetDays(name: string, zone: Zone, now: number = Date.now()): Days | null {
  const daysAgo = (days: number) => dayBefore(days, zone, now);
  const today = daysAgo(0);
  if (name === 'today') return { from: today, to: today };
  if (name === 'yesterday') return { from: daysAgo(1), to: daysAgo(1) };
  if (name === '7_days') return { from: daysAgo(6), to: today };
  if (name === '30_days') return { from: daysAgo(29), to: today };
  if (name === 'month') return { from: `${today.slice(0, 7)}-01`, to: today };
  return name === 'last_month' ? monthBefore(today) : null;
}
