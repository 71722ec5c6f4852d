import { escapeHtml } from '#core/escape-html.ts';
import { rateText } from '#core/rate-text.ts';
import { priceText, usdcText } from '#core/sums.ts';

import { withoutIsolates } from '#i18n/bidi-isolates.ts';
import { messageOf } from '#i18n/catalog.ts';
import { localeOf, type TextLanguage } from '#i18n/languages.ts';
import {
  type CompiledMessage,
  formatParts,
  formatText,
  type TextValues,
} from '#i18n/text-format.ts';
import type english from '../../texts/en.json';

export type TextKey = Exclude<keyof typeof english, `@${string}`>;

/** Renders a tag of a text as HTML around its content. */
export type Tags = Readonly<Record<string, (inside: string) => string>>;

export interface Writer {
  readonly language: TextLanguage;
  /** The locale for `Intl`. */
  readonly locale: string;
  /** Returns plain text, for places that cannot contain HTML. */
  text(key: TextKey, values?: TextValues): string;
  /** Returns plain text with Unicode isolates around language-independent parts (see `named`). */
  isolated(key: TextKey, values?: TextValues): string;
  /** `2.50 USDC`, rounded to cents. */
  usdc(atoms: bigint): string;
  /** Formats minor units of an ISO 4217 currency, such as `€2.50`. */
  money(minor: number, currency: string): string;
  /** Formats a rate of USDC for one unit, such as `€1 = 1.0854 USDC`. */
  rate(quoted: { readonly currency: string; readonly rate: string }): string;
  /** `13%` for 1300 basis points. */
  percent(basisPoints: number): string;
  /** Formats the shop's local time, such as `1 Oct 2026, 14:00 CEST`. */
  time(at: string, timeZone: string): string;
  /** Escapes the text for HTML and marks its untranslatable values with `<bdi translate="no">`. */
  html(key: TextKey, values?: TextValues, tags?: Tags): string;
}

const ISOLATED = /\u2068([^\u2069]*)\u2069/g;

/**
 * Escapes the text for HTML and marks its untranslatable values with `<bdi translate="no">`.
 */
export function isolatedHtml(text: string): string {
  return escapeHtml(text).replace(ISOLATED, '<bdi translate="no">$1</bdi>');
}

/** English dates are always British, with the day before the month, in all regions. */
const TIME_LOCALES: Readonly<Record<string, string>> = { en: 'en-GB' };

const RECEIPT_TIME = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
} as const;

/** HTML rendered for a tag, which stands between plain texts. */
interface Drawn {
  readonly drawn: string;
}

function htmlOf(parts: readonly (string | Drawn)[]): string {
  return parts.map((part) => (typeof part === 'string' ? isolatedHtml(part) : part.drawn)).join('');
}

function writeHtml(
  message: CompiledMessage,
  locale: string,
  { values, tags }: { readonly values: TextValues; readonly tags: Tags },
): string {
  const draws = Object.entries(tags).map(([name, draw]) => [
    name,
    (inside: (string | Drawn)[]) => ({ drawn: draw(htmlOf(inside)) }),
  ]);
  const all = { ...values, ...Object.fromEntries(draws) };
  return htmlOf(formatParts<Drawn>(message, locale, all));
}

const ALL_POINTS = 10_000;

export function writerFor(language: TextLanguage): Writer {
  const locale = localeOf(language);
  const write = (key: TextKey, values: TextValues = {}) =>
    formatText(messageOf(language, key), locale, values);
  return {
    language,
    locale,
    isolated: write,
    usdc: (atoms) => usdcText(atoms, locale),
    rate: (quoted) => rateText(quoted, locale),
    money: (minor, currency) => priceText(minor, { currency, locale }),
    percent: (basisPoints) => {
      const shape = { style: 'percent', maximumFractionDigits: 2 } as const;
      return new Intl.NumberFormat(locale, shape).format(basisPoints / ALL_POINTS);
    },
    time: (at, timeZone) => {
      const options = { ...RECEIPT_TIME, timeZone } as const;
      return new Intl.DateTimeFormat(TIME_LOCALES[locale] ?? locale, options).format(new Date(at));
    },
    text: (key, values) => withoutIsolates(write(key, values)),
    html: (key, values = {}, tags = {}) =>
      writeHtml(messageOf(language, key), locale, { values, tags }),
  };
}
