import formatMessage, { type CompiledMessage, type FormatValues } from 'icu-minify/format';

export type { CompiledMessage };

/** The values in a text: names or other strings; numbers are formatted by `Intl`. */
export type TextValues = Readonly<Record<string, string | number>>;

/** Caches what `make` creates, because creating one takes longer than using it a hundred times. */
function keep<Args extends readonly unknown[], Made>(make: (...args: Args) => Made) {
  const made = new Map<string, Made>();
  return (...args: Args): Made => {
    const key = JSON.stringify(args);
    const found = made.get(key) ?? make(...args);
    made.set(key, found);
    return found;
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

/** Formats a text of the catalog with its values. The catalog marks the placeholders of names. */
export function formatText(message: CompiledMessage, locale: string, values: TextValues): string {
  return String(formatMessage(message, locale, values, OPTIONS));
}

/** Formats a text with tags: returns text and the results of the tags, alternating. */
export function formatParts<Made>(
  message: CompiledMessage,
  locale: string,
  values: FormatValues<Made>,
): readonly (string | Made)[] {
  const parts = formatMessage<Made>(message, locale, values, OPTIONS);
  return Array.isArray(parts) ? parts : [parts];
}
