import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { present } from '#core/assert.ts';
import { escapeHtml } from '#core/escape-html.ts';
import { permissionsOf } from '#core/permissions-policy.ts';
import { StartError } from '#core/start-error.ts';
import { offeredLanguages } from '#i18n/catalog.ts';
import { directionOf, languageTag, type PageFor, type TextLanguage } from '#i18n/languages.ts';
import { type Writer, writerFor } from '#i18n/text.ts';
import { type Readers, WEB_APPS, type WebApp } from '#web/app-paths.ts';
import { languageFor, pageInLanguage, readTextFiles, type TextFiles } from '#web/page-texts.ts';
import { readBuilt, sendFile, tagOf, type WebFile } from '#web/read-built-files.ts';

/** The relay that connects page and wallet, and this service's id there. */
export interface WalletConnect {
  readonly projectId: string;
  readonly relayUrl: string;
}

export interface WebSettings {
  /** The folder that {@link ensureBuilt} returned. */
  readonly folder: string;
  readonly production: boolean;
  /** Other origins that each app's page may connect to (CSP `connect-src`). */
  readonly mayAsk?: Readonly<Record<string, readonly string[]>>;
  /** Gates by app. A gate handles each request for its app's page first. */
  readonly gates?: Readonly<Record<string, Gate>>;
  /** `null` if pages do not offer wallets on other devices. */
  readonly walletConnect?: WalletConnect | null;
}

/**
 * Sends a response in place of the page, or completes the page; `null` sends the page unchanged.
 */
export type Gate = (
  request: FastifyRequest,
  reply: FastifyReply,
  pageFor: PageFor,
) => Promise<FastifyReply | string | null>;

type Files = ReadonlyMap<string, WebFile>;

/** An entry of the build's dependency list. */
interface BuiltEntry {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly css?: readonly string[];
}

/**
 * Returns the page's policy: only our own files, nothing inline, no other origin except those in
 * `mayAsk`. `base-uri` is allowed, because the page's `<base>` makes the apps work below any path.
 */
function policyOf(mayAsk: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    ["connect-src 'self'", ...mayAsk].join(' '),
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * Matches the cookie that the till sets when a reader on its computer was added
 * (web/terminal/reader/usb-reader.ts).
 */
const COOKIE = /(?:^|;\s*)tapline_reader_port=(\d{4,5})(?:;|$)/;
const PORTS = { least: 1024, most: 65_535 } as const;

/**
 * Returns the policy source for the reader's port on the till's own computer; empty if no reader
 * was added. A forged cookie is harmless, because it can only name a port of this computer.
 */
function ownReaderOf(app: string, cookies: string | undefined): readonly string[] {
  if (app !== 'terminal') return [];
  const port = Number(COOKIE.exec(cookies ?? '')?.[1] ?? 0);
  return port >= PORTS.least && port <= PORTS.most ? [`ws://127.0.0.1:${port}`] : [];
}

/**
 * Matches the cookie that the till sets if its receipts go to a signer on its network
 * (web/terminal/fiscal-signer.ts).
 */
const SIGNER_COOKIE = /(?:^|;\s*)tapline_signer=([^;]*)/;
const SIGNER = /^(?:https:\/\/[a-z0-9.-]+|http:\/\/(?:127\.0\.0\.1|localhost))(?::\d+)?$/;

/**
 * Returns the origin of the fiscal signer that the till's page may call; empty if there is none.
 * The cookie could name any server, but only this page's own scripts run, and they send receipts
 * only to the account's signer.
 */
function signerOf(app: string, cookies: string | undefined): readonly string[] {
  const [, origin = ''] = SIGNER_COOKIE.exec(cookies ?? '') ?? [];
  return app === 'terminal' && SIGNER.test(origin) ? [origin] : [];
}

/**
 * The policy of service workers, which obey the policy of their own file, not of their page. A
 * worker fetches the files that it caches.
 */
const WORKER_POLICY = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'";

/**
 * Returns the relative path from a page's address to the service's root, which works below any
 * path.
 */
function rootFrom(url: string): string {
  const slashes = (url.split('?')[0] ?? '').split('/').length - 2;
  return '../'.repeat(slashes) || './';
}

interface Serving {
  readonly files: Files;
  readonly texts: TextFiles;
  readonly production: boolean;
}

/** The request headers that determine the language of a response. */
const VARY = { owners: 'Accept-Language, Cookie', customers: 'Accept-Language' } as const;

function sayLanguage(reply: FastifyReply, language: TextLanguage, readers: Readers): void {
  reply.header('Content-Language', language);
  if (readers !== 'english') reply.header('Vary', VARY[readers]);
}

/** A till's customer display is for customers, so it does not follow the cashier's language. */
function readersOf({ readers, customersAt }: WebApp, query: unknown): Readers {
  return customersAt !== undefined && customersAt in (query as object) ? 'customers' : readers;
}

/** Returns the languages that have all texts of the app. */
function languagesOf(
  { name }: WebApp,
  { texts, production }: Pick<Serving, 'texts' | 'production'>,
): readonly TextLanguage[] {
  return offeredLanguages(production).filter((language) => texts[name]?.[language] !== undefined);
}

/** Creates the pages, which are rendered once per language, when first needed. */
function createPages(
  page: WebApp,
  { files, texts, production }: Serving,
): (language: TextLanguage) => string {
  const built = present(files.get(page.page), page.page).plain.toString();
  const offered = page.readers === 'english' ? [] : languagesOf(page, { texts, production });
  const written = new Map<TextLanguage, string>();
  return (language) => {
    const known = written.get(language);
    if (known !== undefined) return known;
    const [textFile] = present(texts[page.name]?.[language], `${page.name} in ${language}`);
    const html = pageInLanguage(built, language, { textFile: present(textFile, 'texts'), offered });
    written.set(language, html);
    return html;
  };
}

function addPage(
  app: FastifyInstance,
  page: WebApp,
  serving: Serving & {
    readonly mayAsk: readonly string[];
    readonly gate: Gate | undefined;
    /** Additional elements for the page's head, as HTML. */
    readonly meta: string;
  },
): void {
  const { mayAsk, gate, meta } = serving;
  const inLanguage = createPages(page, serving);
  const permissions = permissionsOf(page.uses ?? []);
  const offered = languagesOf(page, serving);
  for (const path of page.paths) {
    app.get(path, async (request, reply) => {
      const pageFor: PageFor = (account) => {
        const readers = readersOf(page, request.query);
        const language = languageFor(request, { readers, offered, account });
        sayLanguage(reply, language, readers);
        const base = `<head>\n<base href="${rootFrom(request.url)}">${meta}`;
        return { html: inLanguage(language).replace('<head>', () => base), language };
      };
      const { cookie } = request.headers;
      const own = [...ownReaderOf(page.name, cookie), ...signerOf(page.name, cookie)];
      const policy = policyOf([...mayAsk, ...own]);
      // Anyone with the URL of a payment or a receipt can open it, so other sites must not receive
      // it.
      reply
        .header('Content-Security-Policy', policy)
        .header('Permissions-Policy', permissions)
        .header('Referrer-Policy', 'no-referrer')
        .header('Cross-Origin-Opener-Policy', 'same-origin');
      const instead = await gate?.(request, reply, pageFor);
      if (instead != null && typeof instead !== 'string') return instead;
      const plain = Buffer.from(instead ?? pageFor(null).html);
      const type = 'text/html; charset=utf-8';
      if (page.unkept === true) {
        return reply.header('Cache-Control', 'no-store').type(type).send(plain);
      }
      // A cached page keeps its policy, so include the policy in the ETag.
      const tag = tagOf(Buffer.concat([plain, Buffer.from(policy)]));
      const file = { type, plain, packed: {}, tag, immutable: false };
      return sendFile(request, reply, file);
    });
  }
}

/** Returns every file that an app loads, whether at its start or later. */
function filesOf(page: string, built: Readonly<Record<string, BuiltEntry>>): string[] {
  const files = new Set<string>();
  const visit = (name: string) => {
    const entry = present(built[name], `${name} in the build's manifest`);
    if (files.has(entry.file)) return;
    files.add(entry.file);
    for (const style of entry.css ?? []) files.add(style);
    for (const other of [...(entry.imports ?? []), ...(entry.dynamicImports ?? [])]) visit(other);
  };
  visit(page);
  return [...files];
}

/**
 * Returns the texts of notifications that the worker shows while no window of its app is open. A
 * push has no content, so its text covers both reasons: a payment to confirm, and a tap with a
 * fixed-code pass.
 */
function noticesIn({ text }: Writer) {
  return {
    push: { title: text('wallet.notice.push'), body: text('wallet.notice.push_text') },
    ring: { title: text('wallet.notice.confirm'), body: text('wallet.notice.confirm_text') },
    paid: { title: text('wallet.notice.tapped'), body: text('wallet.notice.tapped_text') },
  };
}

/**
 * Serves an app's service worker, which caches this build in one language. The worker's text names
 * both, so that browsers install it again when either changes.
 */
function addWorker(
  app: FastifyInstance,
  page: WebApp,
  { files, texts, production }: Serving,
): void {
  const { name, readers } = page;
  const manifest = present(files.get('manifest.json'), "the build's manifest");
  const built = JSON.parse(manifest.plain.toString()) as Record<string, BuiltEntry>;
  const worker = present(files.get(built['worker.ts']?.file ?? ''), 'the service worker');
  const html = present(files.get(page.page), page.page);
  const offered = languagesOf(page, { texts, production });
  // Cache all languages, so that an app can switch while it is offline.
  const textFiles = offered.flatMap((language) => texts[name]?.[language] ?? []);
  const kept = [...filesOf(page.page, built), ...textFiles, 'icons/tapline.svg'];
  const version = tagOf(Buffer.from([html.tag, ...kept].join('\n'))).replaceAll('"', '');
  const inLanguage = (language: TextLanguage): WebFile => {
    const reading = { lang: languageTag(language), dir: directionOf(language) };
    const notices = noticesIn(writerFor(language));
    const shell = { app: name, version, page: name, files: kept, reading, notices };
    const text = `globalThis.SHELL=${JSON.stringify(shell)};\n${worker.plain.toString()}`;
    const plain = Buffer.from(text);
    return { ...worker, plain, packed: {}, tag: tagOf(plain), immutable: false };
  };
  app.get(`/${name}/worker.js`, async (request, reply) => {
    const language = languageFor(request, { readers, offered, account: null });
    sayLanguage(reply, language, readers);
    reply
      .header('Content-Security-Policy', WORKER_POLICY)
      // Lets the worker control the app's page, which is not below the worker's folder. The path is
      // relative, because the apps work below any path.
      .header('Service-Worker-Allowed', `../${name}`);
    return sendFile(request, reply, inLanguage(language));
  });
}

/** The page `/contract` as a single file. */
const ALONE = 'contract-alone.html';

/** Serves the page as a download, for use when no server answers. */
function addAlone(app: FastifyInstance, file: WebFile): void {
  app.get('/contract.html', async (request, reply) => {
    reply.header('Content-Disposition', 'attachment; filename="tapline-contract.html"');
    return sendFile(request, reply, file);
  });
}

/** Output of `npm run walletconnect`. */
const LIBRARY = path.join(import.meta.dirname, 'walletconnect/dist/walletconnect.js');

/** Pages that can use a wallet on another device. */
const PAGES: ReadonlySet<string> = new Set(['pay', 'tag']);

/**
 * Returns the relay settings of a page and the addresses that it may call; `null` if it has none.
 */
export function walletConnectOf(
  page: string,
  settings: WalletConnect | null,
): { readonly meta: string; readonly mayAsk: string } | null {
  if (settings === null || !PAGES.has(page)) return null;
  const { projectId, relayUrl } = settings;
  const meta = `<meta name="walletconnect" content="${escapeHtml(`${projectId} ${relayUrl}`)}">`;
  return { meta, mayAsk: new URL(relayUrl).origin };
}

/**
 * Serves WalletConnect's library to these pages.
 * @throws StartError if the library was not built.
 */
export async function addWalletConnect(app: FastifyInstance, library = LIBRARY): Promise<void> {
  let plain: Buffer;
  try {
    plain = await readFile(library);
  } catch (cause) {
    const message = 'WALLETCONNECT_PROJECT_ID needs its library: run "npm run walletconnect" first';
    throw new StartError(message, { cause });
  }
  const type = 'text/javascript; charset=utf-8';
  const file = { type, plain, packed: {}, tag: tagOf(plain), immutable: false };
  app.get('/walletconnect.js', async (request, reply) => sendFile(request, reply, file));
}

/** Files that only the server reads. */
const NOT_SERVED: ReadonlySet<string> = new Set(['manifest.json', 'texts.json']);

export async function addWebRoutes(app: FastifyInstance, settings: WebSettings): Promise<void> {
  const files = await readBuilt(settings.folder);
  for (const [name, file] of files) {
    if (name.endsWith('.html') || NOT_SERVED.has(name)) continue;
    app.get(`/${name}`, async (request, reply) => sendFile(request, reply, file));
  }
  const { production } = settings;
  const serving = { files, texts: readTextFiles(files), production };
  addAlone(app, present(files.get(ALONE), ALONE));
  const { walletConnect = null } = settings;
  if (walletConnect !== null) await addWalletConnect(app);
  for (const page of WEB_APPS) {
    if (page.sandboxOnly === true && production) continue;
    const relay = walletConnectOf(page.name, walletConnect);
    const mayAsk = [...(settings.mayAsk?.[page.name] ?? []), ...(relay ? [relay.mayAsk] : [])];
    const gate = settings.gates?.[page.name];
    addPage(app, page, { ...serving, mayAsk, gate, meta: relay?.meta ?? '' });
    if (page.installable) addWorker(app, page, serving);
  }
}
