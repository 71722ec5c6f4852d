import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vite';
import { FALLBACK_LANGUAGE, PSEUDO_LANGUAGE, type TextLanguage } from '#core/languages.ts';
import { type Messages, messagesOf, TEXT_KEYS, WRITTEN_LANGUAGES } from '#texts/catalog.ts';

/**
 * The texts of each app, one file per language, from the one catalog (`texts/`). An app's file
 * holds the texts that its modules name; those of parts that are loaded later have a file of their
 * own. The server puts the address of the reader's file into the page (`src/web/page-texts.ts`).
 */

/** A whole key, or the part of keys before a code: `decline.${code}`. */
const NAMED = /'([a-z]\w*(?:\.\w+)+)'|`([a-z]\w*(?:\.\w+)*\.)\$\{/g;

const FAMILY = /`([a-z]\w*(?:\.\w+)*\.)\$\{/g;

/** Beginnings of keys that are put together with a code: these keys keep their names. */
const FAMILIES = familiesBelow(import.meta.dirname);

function familiesBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = names.filter((name) => /\.tsx?$/.test(name) && !/test|node_modules/.test(name));
  return sources.flatMap((name) => {
    const code = readFileSync(path.join(folder, name), 'utf8');
    return [...code.matchAll(FAMILY)].map(([, family = '']) => family);
  });
}

function keysIn(code: string): string[] {
  return [...code.matchAll(NAMED)].flatMap(([, key, family]) => {
    if (key !== undefined) return TEXT_KEYS.has(key) ? [key] : [];
    return [...TEXT_KEYS].filter((one) => family !== undefined && one.startsWith(family));
  });
}

/** A key in what is built: a purpose takes ten times the bytes of a number. */
const SHORT: ReadonlyMap<string, string> = new Map(
  [...TEXT_KEYS].map((key, place) => [key, place.toString(36)]),
);

function isFamilyKey(key: string): boolean {
  return FAMILIES.some((family) => key.startsWith(family));
}

function shortened(code: string): string {
  return code.replaceAll(NAMED, (all, key) => {
    const short = key === undefined || isFamilyKey(key) ? undefined : SHORT.get(key);
    return short === undefined ? all : `'${short}'`;
  });
}

/** In English a screen shows the service’s own words, which say more (`data/refusal-text.ts`). */
const SAID_IN_ENGLISH = /^(?:decline|refusal)\.(?!other$)/;

function shortMessages(language: TextLanguage, keys: Iterable<string>): Messages {
  const isSaid = (key: string) => language === FALLBACK_LANGUAGE && SAID_IN_ENGLISH.test(key);
  const messages = messagesOf(
    language,
    [...keys].filter((key) => !isSaid(key)),
  );
  return Object.fromEntries(
    Object.entries(messages).map(([key, message]) => [
      isFamilyKey(key) ? key : (SHORT.get(key) ?? key),
      message,
    ]),
  );
}

interface ModuleInfo {
  readonly importedIds: readonly string[];
  readonly dynamicallyImportedIds: readonly string[];
}

/** What a module says of texts: keys, and which of its imports are parts (`ui/part.ts`). */
interface ModuleTexts {
  readonly keys: readonly string[];
  readonly parts: readonly string[];
}

const PART = /\bpartOf\(\s*async \(\) => \(await import\(\s*'([^']+)'/g;

function partsIn(code: string, id: string): string[] {
  return [...code.matchAll(PART)].map(([, target = '']) => path.resolve(path.dirname(id), target));
}

/** The keys of an app: of what its page loads at once, and of the parts that are loaded later. */
function keysOf(
  entry: string,
  texts: ReadonlyMap<string, ModuleTexts>,
  infoOf: (id: string) => ModuleInfo | null,
): { readonly first: ReadonlySet<string>; readonly later: ReadonlySet<string> } {
  const reach = (alsoParts: boolean) => {
    const seen = new Set<string>();
    const open = [entry];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (seen.has(id)) continue;
      seen.add(id);
      const info = infoOf(id);
      const parts = texts.get(id)?.parts ?? [];
      const dynamic = info?.dynamicallyImportedIds ?? [];
      open.push(...(info?.importedIds ?? []));
      // Only a part waits for its texts. Those of other code that is loaded later come first.
      open.push(...dynamic.filter((one) => alsoParts || !parts.includes(one)));
    }
    return new Set([...seen].flatMap((id) => texts.get(id)?.keys ?? []));
  };
  const first = reach(false);
  const later = [...reach(true)].filter((key) => !first.has(key));
  return { first, later: new Set(later) };
}

function hashed(name: string, source: string): { fileName: string; source: string } {
  const hash = createHash('sha256').update(source).digest('base64url').slice(0, 8);
  return { fileName: `assets/${name}-${hash}.js`, source };
}

function firstSource(language: TextLanguage, messages: Messages, more: string | null): string {
  return `globalThis.TEXTS=${JSON.stringify({ language, messages, more })};`;
}

/** What the server reads: per app and language, the files of its texts. */
export const TEXTS_MANIFEST = 'texts.json';

export function textsPlugin(): Plugin {
  const texts = new Map<string, ModuleTexts>();
  let isBuild = false;
  return {
    name: 'tapline-texts',
    enforce: 'pre',
    configResolved({ command }) {
      isBuild = command === 'build';
    },
    transform(code, id) {
      if (!/\.tsx?$/.test(id) || id.includes('node_modules')) return;
      texts.set(id, { keys: keysIn(code), parts: partsIn(code, id) });
      return isBuild ? { code: shortened(code), map: null } : undefined;
    },
    generateBundle(_options, bundle) {
      const manifest: Record<string, Record<string, readonly string[]>> = {};
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk' || chunk.facadeModuleId?.endsWith('.html') !== true) continue;
        const named = keysOf(chunk.facadeModuleId, texts, (id) => this.getModuleInfo(id));
        const app = chunk.name;
        manifest[app] = {};
        for (const language of [...WRITTEN_LANGUAGES, PSEUDO_LANGUAGE] as const) {
          const emitted: string[] = [];
          const emit = (name: string, source: string) => {
            const file = hashed(`texts-${app}-${language}${name}`, source);
            this.emitFile({ type: 'asset', ...file });
            emitted.push(file.fileName);
            return file.fileName;
          };
          const later = shortMessages(language, named.later);
          const more =
            named.later.size === 0
              ? null
              : emit('-more', `export default ${JSON.stringify(later)};`);
          emit('', firstSource(language, shortMessages(language, named.first), more));
          manifest[app][language] = emitted.reverse();
        }
      }
      this.emitFile({ type: 'asset', fileName: TEXTS_MANIFEST, source: JSON.stringify(manifest) });
    },
    // The development server has all texts in English.
    transformIndexHtml: (_html, { server }) =>
      server === undefined
        ? []
        : [
            {
              tag: 'script',
              attrs: { type: 'module', src: '/@texts.js' },
              injectTo: 'head-prepend',
            },
          ],
    configureServer(server) {
      server.middlewares.use('/@texts.js', (_request, response) => {
        response.setHeader('Content-Type', 'text/javascript');
        const language = FALLBACK_LANGUAGE;
        response.end(firstSource(language, messagesOf(language, TEXT_KEYS), null));
      });
    },
  };
}
