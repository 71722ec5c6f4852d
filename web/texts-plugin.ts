import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Plugin } from 'vite';
import {
  isOffered,
  type Messages,
  messageOf,
  messagesOf,
  TEXT_KEYS,
  WRITTEN_LANGUAGES,
} from '#i18n/catalog.ts';
import { FALLBACK_LANGUAGE, PSEUDO_LANGUAGE, type TextLanguage } from '#i18n/languages.ts';

/**
 * Builds the text files of each app, one per language, from the catalog (`texts/`). An app's file
 * contains the texts that its modules name; parts that load later have files of their own. The
 * server writes the URL of the user's language into the page (`src/web/page-texts.ts`).
 */

/** A literal key, or a template's prefix before a code: `decline.${code}`. */
const NAMED = /'([a-z]\w*(?:\.\w+)+)'|`([a-z]\w*(?:\.\w+)*\.)\$\{/g;

/** Selects the modules that the plugin scans, because skipping one is cheaper than scanning it. */
const NAMES_TEXTS = /'[a-z]\w*\.\w|`[a-z]\w*\.|\b(?:partOf|withTexts)\(/;

/** The keys of a module: literal ones, which get short names, and prefixes of computed ones. */
interface Named {
  readonly whole: readonly string[];
  readonly family: readonly string[];
}

function namedIn(code: string): Named {
  const whole: string[] = [];
  const family: string[] = [];
  for (const [, key, beginning] of code.matchAll(NAMED)) {
    if (key !== undefined && TEXT_KEYS.has(key)) whole.push(key);
    if (beginning === undefined) continue;
    family.push(...[...TEXT_KEYS].filter((one) => one.startsWith(beginning)));
  }
  return { whole, family };
}

/**
 * Short names for keys in the built code, because a full key takes ten times as many bytes as a
 * number.
 */
const SHORT: ReadonlyMap<string, string> = new Map(
  [...TEXT_KEYS].map((key, index) => [key, index.toString(36)]),
);

const KEYS: ReadonlyMap<string, string> = new Map([...SHORT].map(([key, short]) => [short, key]));

function shortened(code: string): string {
  return code.replaceAll(NAMED, (all, key) => {
    const short = SHORT.get(key ?? '');
    return short === undefined ? all : `'${short}'`;
  });
}

/**
 * Texts of refusals and declines (`data/refusal-text.ts`). English screens do not use them: they
 * show the service's own messages, which are more specific. In other languages they load later,
 * because a first load has no room for them.
 */
const ANSWERED = /^(?:decline|refusal)\.(?!other$)/;

const keyOf = (name: string) => KEYS.get(name) ?? name;

/**
 * Returns the messages under their names in the built code. A key that is used both literally and
 * by prefix has both names.
 */
function messagesFor(language: TextLanguage, names: readonly string[]): Messages {
  return Object.fromEntries(names.map((name) => [name, messageOf(language, keyOf(name))]));
}

interface ModuleInfo {
  readonly importedIds: readonly string[];
  readonly dynamicallyImportedIds: readonly string[];
}

/**
 * A module's keys, and those of its dynamic imports that wait for their texts: parts
 * (`ui/lazy-part.ts`), and imports in `withTexts`.
 */
interface ModuleTexts {
  readonly names: readonly string[];
  readonly parts: readonly string[];
}

const PART = /\b(?:partOf\(\s*async \(\) => \(await |withTexts\(\s*\(\) => )import\(\s*'([^']+)'/g;

function partsIn(code: string, id: string): string[] {
  return [...code.matchAll(PART)].map(([, target = '']) => path.resolve(path.dirname(id), target));
}

/** Returns the keys of an app's first load and of the parts that load later. */
function namesOf(
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
      // Texts of the other dynamic imports belong to the first load.
      open.push(...dynamic.filter((one) => alsoParts || !parts.includes(one)));
    }
    return new Set([...seen].flatMap((id) => texts.get(id)?.names ?? []));
  };
  const first = reach(false);
  const later = [...reach(true)].filter((name) => !first.has(name));
  return { first, later: new Set(later) };
}

function hashed(name: string, source: string): { fileName: string; source: string } {
  const hash = createHash('sha256').update(source).digest('base64url').slice(0, 8);
  return { fileName: `assets/${name}-${hash}.js`, source };
}

function firstSource(language: TextLanguage, messages: Messages, more: string | null): string {
  return `globalThis.TEXTS=${JSON.stringify({ language, messages, more })};`;
}

interface AppTexts {
  readonly first: ReadonlySet<string>;
  readonly later: ReadonlySet<string>;
}

/** Divides the names between the file of the first load and the file that loads later. */
function divided(language: TextLanguage, { first, later }: AppTexts) {
  const all = [...first, ...later].filter((name) => ANSWERED.test(keyOf(name)));
  const answers = language === FALLBACK_LANGUAGE ? [] : all;
  const others = (names: ReadonlySet<string>) =>
    [...names].filter((name) => !ANSWERED.test(keyOf(name)));
  return { first: others(first), later: [...others(later), ...answers] };
}

/** Returns the text files of an app in one language: the first load, then the later parts. */
function filesFor(
  app: string,
  language: TextLanguage,
  texts: AppTexts,
): { fileName: string; source: string }[] {
  const name = `texts-${app}-${language}`;
  const names = divided(language, texts);
  const first = messagesFor(language, names.first);
  if (names.later.length === 0) return [hashed(name, firstSource(language, first, null))];
  const later = JSON.stringify(messagesFor(language, names.later));
  const more = hashed(`${name}-more`, `export default ${later};`);
  return [hashed(name, firstSource(language, first, more.fileName)), more];
}

/** Manifest for the server, which lists the text files per app and language. */
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
    transform: {
      filter: { id: { include: /\.tsx?$/, exclude: /node_modules/ }, code: NAMES_TEXTS },
      handler(code, id) {
        const { whole, family } = namedIn(code);
        const names = [...whole.map((key) => SHORT.get(key) ?? key), ...family];
        texts.set(id, { names, parts: partsIn(code, id) });
        return isBuild && whole.length > 0 ? { code: shortened(code), map: null } : undefined;
      },
    },
    generateBundle(_options, bundle) {
      const manifest: Record<string, Record<string, readonly string[]>> = {};
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk' || chunk.facadeModuleId?.endsWith('.html') !== true) continue;
        const named = namesOf(chunk.facadeModuleId, texts, (id) => this.getModuleInfo(id));
        const app = chunk.name;
        manifest[app] = {};
        const keys = [...named.first, ...named.later].map(keyOf);
        for (const language of [...WRITTEN_LANGUAGES, PSEUDO_LANGUAGE] as const) {
          if (!isOffered(language, keys)) continue;
          const files = filesFor(app, language, named);
          for (const file of files) this.emitFile({ type: 'asset', ...file });
          manifest[app][language] = files.map(({ fileName }) => fileName);
        }
      }
      this.emitFile({ type: 'asset', fileName: TEXTS_MANIFEST, source: JSON.stringify(manifest) });
    },
    // The development server serves all texts in English.
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
