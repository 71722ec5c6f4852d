import formatMessage, { type CompiledMessage, type FormatValues } from 'icu-minify/format';

export type { CompiledMessage };

/** Values to insert into a text. Strings are inserted as they are; `Intl` formats numbers. */
export type TextValues = Readonly<Record<string, string | number>>;

/** More than all texts need. Clients choose their locale, so there must be a limit. */
const MAX_FORMATTERS = 500;

/**
 * Caches the results of `make`, because creating one of these objects takes longer than using it a
 * hundred times.
 */
function keep<Args extends readonly unknown[], Made>(make: (...args: Args) => Made) {
  const made = new Map<string, Made>();
  return (...args: Args): Made => {
    const key = JSON.stringify(args);
    const formatter = made.get(key) ?? make(...args);
    if (made.size >= MAX_FORMATTERS) made.clear();
    made.set(key, formatter);
    return formatter;
  };
}

type NumberArgs = ConstructorParameters<typeof Intl.NumberFormat>;
type PluralArgs = ConstructorParameters<typeof Intl.PluralRules>;
type TimeArgs = ConstructorParameters<typeof Intl.DateTimeFormat>;

const OPTIONS = {
  formatters: {
    getNumberFormat: keep((...args: NumberArgs) => new Intl.NumberFormat(...args)),
    getPluralRules: keep((...args: PluralArgs) => new Intl.PluralRules(...args)),
    getDateTimeFormat: keep((...args: TimeArgs) => new Intl.DateTimeFormat(...args)),
  },
};

/**
 * Formats a text from the catalog with its values. The catalog marks placeholders that stand for
 * names.
 */
export function formatText(message: CompiledMessage, locale: string, values: TextValues): string {
  return String(formatMessage(message, locale, values, OPTIONS));
}

/**
 * Formats a text with tags. Returns its parts in order: strings, and what the tags' functions
 * return.
 */
export function formatParts<Made>(
  message: CompiledMessage,
  locale: string,
  values: FormatValues<Made>,
): readonly (string | Made)[] {
  const parts = formatMessage<Made>(message, locale, values, OPTIONS);
  return Array.isArray(parts) ? parts : [parts];
}
