import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  describeTexts,
  readSources,
  recordSources,
  SOURCES_FILE,
} from '#i18n/translation-status.ts';

/**
 * `npm run texts`: lists the texts that a language lacks, and the translations of English lines
 * that have changed since. `-- --translated [key…]` records that new translations, and those of
 * these keys, match the English lines; `--in de,fr` limits the keys to these languages.
 */

const { values, positionals } = parseArgs({
  options: { translated: { type: 'boolean' }, in: { type: 'string' } },
  allowPositionals: true,
});
if (values.translated === true) {
  const languages = values.in?.split(',');
  const sources = recordSources(
    readSources(),
    ({ language, key }) => positionals.includes(key) && languages?.includes(language) !== false,
  );
  writeFileSync(SOURCES_FILE, `${JSON.stringify(sources, null, 2)}\n`);
}
for (const line of describeTexts(readSources())) process.stdout.write(`${line}\n`);
