import type { Page } from 'playwright-core';
import { DAY_MS } from '#core/durations.ts';

/**
 * This module makes up statistics of a shop's month, for screenshots that would otherwise need
 * weeks of sales.
 */

const ATOMS = 1_000_000;
/** Relative sales by weekday, starting with Sunday: Sundays are quiet and Fridays busy. */
const BUSY = [0.35, 0.8, 0.85, 0.9, 1, 1.5, 1.3] as const;

/**
 * Returns a pseudo-random number between 0 and 1 that depends only on the input, because
 * screenshots are compared.
 */
export function drawn(from: number): number {
  const x = Math.sin(from * 12.9898) * 43_758.5453;
  return x - Math.floor(x);
}

interface DayOfShop {
  readonly day: string;
  readonly [figure: string]: unknown;
}

/** Returns statistics for the last `count` days. The last one is today, which is half over. */
export function daysOfShop(count: number, now: number = Date.now()): readonly DayOfShop[] {
  return Array.from({ length: count }, (_, ago) => {
    const at = new Date(now - ago * DAY_MS);
    const trend = 1 + 0.25 * (1 - ago / 30);
    const busy = (BUSY[at.getUTCDay()] ?? 1) * trend * (0.75 + 0.5 * drawn(ago + 1));
    const payments = Math.round(84 * busy * (ago === 0 ? 0.5 : 1));
    const canceled = Math.round(payments * 0.04 * drawn(ago + 100));
    const volume = Math.round(payments * (4.2 + 3 * drawn(ago + 200)) * 100) * (ATOMS / 100);
    return {
      ...{ day: at.toISOString().slice(0, 10), terminal: null, intents: payments + canceled },
      ...{ succeeded: payments, canceled, called_off: 0, success_rate: null, payments, volume },
      ...{ tips: Math.round(volume / 100 / 40) * 100, refunds: 0, refunded: 0 },
      ...{ settle_ms_median: 820, settle_ms_p95: 1_400 },
      declines: canceled > 2 ? { insufficient_funds: canceled - 1, confirmation_timeout: 1 } : {},
    };
  });
}

/** Returns statistics of the requests and deliveries on the last `count` days. */
export function healthOfShop(count: number, now: number = Date.now()): readonly DayOfShop[] {
  return daysOfShop(count, now).map(({ day }, ago) => ({
    ...{ day, requests: 4_000 + Math.round(900 * drawn(ago)), failed: ago === 3 ? 9 : 0 },
    ...{ refused: ago % 5 === 0 ? 40 + ago : ago % 4, delivered: 900 },
    undelivered: ago % 7 === 2 ? 120 : 0,
  }));
}

/** Answers a route with the statistics of the requested days. */
export async function answerDays(
  page: Page,
  route: string,
  days: readonly DayOfShop[],
): Promise<void> {
  await page.route(route, (route) => {
    const { searchParams } = new URL(route.request().url());
    const [from = '', to = ''] = [searchParams.get('from') ?? '', searchParams.get('to') ?? ''];
    const data = days.filter(({ day }) => day >= from && day <= to);
    return route.fulfill({ json: { object: 'list', data } });
  });
}
