import { existsSync } from 'node:fs';
import { glob, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import {
  openSharedSandbox,
  type SharedSandbox,
  startSharedSandbox,
} from '#testkit/network/shared-sandbox.ts';
import { openBrowser, type TestBrowser, type TestWindow } from './browser.ts';
import { takeReadmePictures } from './readme-pictures.ts';
import { sellForDays } from './shop-days.ts';
import { LOOKS, type Look, type Scene, type Shot } from './shots.ts';
import { SURFACE_LOOKS, SURFACES } from './surfaces.ts';

/**
 * `npm run shots [-- <app>[/<shot>]…]`: takes screenshots of every screen of the apps in every
 * look, writes one contact sheet per app to `.shots/<app>.html` and `.shots/<app>.png` and each
 * picture to `.shots/<app>/`, and reports findings of axe and of layout checks. People judge the
 * pictures.
 *
 * `npm run shots -- --surfaces [<shot>…]`: the first screen of each surface, after ninety sales.
 * `npm run shots -- readme`: the pictures in docs/images.
 */
const WEB = path.join(import.meta.dirname, '..');
const OUT = path.join(WEB, '../.shots');
/** Pause for late layout and animations. */
const SETTLE_MS = 250;

interface AppShots {
  readonly app: string;
  readonly shots: readonly Shot[];
  readonly looks: readonly Look[];
}

function isWanted(app: string, shot: string, words: readonly string[]): boolean {
  return words.length === 0 || words.includes(app) || words.includes(`${app}/${shot}`);
}

async function findShots(words: readonly string[]): Promise<AppShots[]> {
  const apps: AppShots[] = [];
  for await (const file of glob('*/shots.ts', { cwd: WEB, exclude: ['testing/**'] })) {
    const app = path.dirname(file);
    const { SHOTS } = (await import(path.join(WEB, file))) as { SHOTS: readonly Shot[] };
    const shots = SHOTS.filter(({ name }) => isWanted(app, name, words));
    if (shots.length > 0) apps.push({ app, shots, looks: LOOKS });
  }
  return apps.sort((a, b) => a.app.localeCompare(b.app));
}

function fileOf(app: string, { name }: Shot, look: Look): string {
  return path.join(OUT, app, `${name}.${look.name}.png`);
}

/**
 * Finds squeezed text; runs in the page.
 * @returns the first text squeezed into a column of three letters or less.
 */
function squeezedText(): string | null {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const words = text.textContent?.trim() ?? '';
    const column = text.parentElement?.closest('p, li, td, th, dd, dt, div, h1, h2, h3') ?? null;
    if (column === null || words.length < 12 || !column.checkVisibility()) continue;
    const { width } = column.getBoundingClientRect();
    // Text narrower than a pixel is for screen readers only.
    if (width > 1 && width < Number.parseFloat(getComputedStyle(column).fontSize) * 2) return words;
  }
  return null;
}

/** Checks the screen in this look. @returns its problems. */
async function problemsOf(
  { page, checkAccessibility }: TestWindow,
  { forcedColors }: Look,
): Promise<string[]> {
  const problems: string[] = [];
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  if (overflow > 0) problems.push(`scrolls sideways by ${overflow} px`);
  const squeezed = await page.evaluate(squeezedText);
  if (squeezed !== null) problems.push(`hardly a letter fits into a line: “${squeezed}”`);
  // In forced-colors mode the user's colors apply at paint time, so axe would check colors that no
  // user sees.
  if (forcedColors === true) return problems;
  await checkAccessibility().catch((error: Error) => problems.push(error.message));
  return problems;
}

async function photograph(window: TestWindow, look: Look, file: string): Promise<string[]> {
  const { page } = window;
  const { width, height, colorScheme, textPercent = 100, forcedColors, onPaper } = look;
  await page.setViewportSize({ width, height });
  await page.emulateMedia({
    colorScheme,
    reducedMotion: 'reduce',
    forcedColors: forcedColors === true ? 'active' : 'none',
    media: onPaper === true ? 'print' : 'screen',
  });
  await page.evaluate((percent) => {
    document.documentElement.style.fontSize = percent === 100 ? '' : `${percent}%`;
  }, textPercent);
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: file, fullPage: true });
  return problemsOf(window, look);
}

/** Takes a screenshot in each look. @returns the problems in all of them. */
async function takeShot(scene: Scene, { app, looks }: AppShots, shot: Shot): Promise<string[]> {
  const named = (problem: unknown) => `${app}/${shot.name}: ${problem}`;
  const window = await shot.show(scene).catch((error: Error) => named(error));
  if (typeof window === 'string') return [window];
  const problems: string[] = [];
  for (const look of looks) {
    const file = fileOf(app, shot, look);
    const picture = await photograph(window, look, file);
    problems.push(...picture.map((problem) => named(`${look.name}: ${problem}`)));
  }
  await window.close();
  return problems;
}

function pictureOf(app: string, shot: Shot, look: Look): string {
  const file = fileOf(app, shot, look);
  if (!existsSync(file)) return '<figure>cannot be shown</figure>';
  const picture = `<img src="${path.relative(OUT, file)}">`;
  return `<figure>${picture}<figcaption>${look.name}</figcaption></figure>`;
}

/**
 * Writes the contact sheet of an app as `.shots/<app>.html` and as a picture of that page. The page
 * links the pictures, because Chromium crashes on a page that contains hundreds of them.
 */
async function writeSheet(browser: TestBrowser, { app, shots, looks }: AppShots): Promise<string> {
  const rows = shots.map((shot) => {
    const pictures = looks.map((look) => pictureOf(app, shot, look));
    return `<h2>${shot.name}</h2><div>${pictures.join('')}</div>`;
  });
  const style = `body{font:16px sans-serif;margin:24px;background:#8b8f98}h2{margin:24px 0 8px}
    div{display:flex;gap:16px;align-items:flex-start}figure{margin:0}figcaption{font-size:13px}
    img{max-height:520px;max-width:520px;display:block}`;
  const html = `<!doctype html><meta charset="utf-8"><style>${style}</style><h1>${app}</h1>`;
  const sheet = path.join(OUT, `${app}.html`);
  await writeFile(sheet, html + rows.join(''));
  const { page, close } = await browser.open({ viewport: { width: 2300, height: 800 } });
  await page.goto(pathToFileURL(sheet).href, { waitUntil: 'load' });
  const file = path.join(OUT, `${app}.png`);
  await page.screenshot({ path: file, fullPage: true });
  await close();
  return file;
}

function surfacesOf(words: readonly string[]): AppShots[] {
  const shots = SURFACES.filter(({ name }) => words.length === 0 || words.includes(name));
  return shots.length === 0 ? [] : [{ app: 'surfaces', shots, looks: SURFACE_LOOKS }];
}

/**
 * Opens a sandbox with days of sales. It has its own database, because sales are moved to earlier
 * days.
 */
async function openShop(): Promise<SharedSandbox> {
  const database = await testDatabase();
  const own = await startSharedSandbox({ DATABASE_URL: database.url });
  await sellForDays(own.sandbox, database.db);
  const close = async () => {
    await own.close();
    await database.close();
  };
  return { sandbox: own.sandbox, close };
}

async function takeShots(scene: Scene, apps: readonly AppShots[], isWhole: boolean) {
  const problems: string[] = [];
  for (const surface of apps) {
    const folder = path.join(OUT, surface.app);
    if (isWhole) await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    for (const shot of surface.shots) problems.push(...(await takeShot(scene, surface, shot)));
  }
  for (const problem of problems) console.log(problem);
  await writeFile(path.join(OUT, 'problems.txt'), problems.join('\n'));
  for (const surface of apps) console.log(await writeSheet(scene.browser, surface));
  return problems.length === 0;
}

const filters = process.argv.slice(2).filter((word) => word !== '--surfaces');
const isOfReadme = filters[0] === 'readme';
const isOfSurfaces = process.argv.includes('--surfaces');
const apps = isOfSurfaces ? surfacesOf(filters) : await findShots(filters);
if (apps.length === 0 && !isOfReadme) throw new Error('no such app or shot');
const opened = isOfSurfaces || isOfReadme ? openShop() : openSharedSandbox();
const [shared, browser] = await Promise.all([opened, openBrowser()]);
const scene: Scene = { sandbox: shared.sandbox, browser };
if (isOfReadme) await takeReadmePictures(scene);
const isFine = isOfReadme || (await takeShots(scene, apps, filters.length === 0));
await browser.close();
await shared.close();
process.exit(isFine ? 0 : 1);
