import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import type { BrowserContextOptions } from 'playwright-core';
import type { TestBrowser } from '../../../web/testing/browser.ts';

/** The number of clicks per journey. A journey that needs more clicks fails. */
const TABLE = new URL('clicks.md', import.meta.url);
const HEADING = `# Clicks of each journey

A click is a tap or a click on a control, a choice in a list, or Enter. Typing does not count.
A journey that takes more clicks than this fails;
\`WRITE_CLICKS=1 npm run test:long -- test/long/people.test.ts\` rewrites the table.

| journey | width | clicks |
|---|---|---|
`;

/** A script as text, because the server's tests have no `document` type. */
const NOTE_CLICKS = `{
  const note = () => window.noteClick();
  addEventListener('pointerdown', note, true);
  addEventListener('keydown', ({ key }) => { if (key === 'Enter') note(); }, true);
  addEventListener('change', ({ target }) => { if (target.tagName === 'SELECT') note(); }, true);
}`;

/** A browser that counts clicks and taps in its windows. */
export interface CountingBrowser extends TestBrowser {
  clicked(): number;
  /** Resets the counter after a journey's preparation. */
  startOver(): void;
}

export function countClicks(browser: TestBrowser): CountingBrowser {
  let clicks = 0;
  return {
    clicked: () => clicks,
    startOver: () => {
      clicks = 0;
    },
    open: async (options?: BrowserContextOptions) => {
      const window = await browser.open(options);
      await window.context.exposeBinding('noteClick', () => {
        clicks++;
      });
      await window.context.addInitScript(NOTE_CLICKS);
      return window;
    },
    close: () => browser.close(),
  };
}

interface Row {
  readonly width: number;
  readonly clicks: number;
}

async function readTable(): Promise<Map<string, Row>> {
  const text = await readFile(TABLE, 'utf8').catch(() => '');
  const rows = [...text.matchAll(/^\| (.+?) \| (\d+) \| (\d+) \|$/gm)];
  return new Map(
    rows.map(([, name = '', width, clicks]) => [
      name,
      { width: Number(width), clicks: Number(clicks) },
    ]),
  );
}

/**
 * Fails if the journey took more clicks than the table allows or is not in the table. With
 * `WRITE_CLICKS`, it writes the table instead.
 */
export async function compareClicks(name: string, result: Row): Promise<void> {
  const table = await readTable();
  if (process.env.WRITE_CLICKS !== undefined) {
    const rows = [...table.set(name, result)].map(
      ([one, { width, clicks }]) => `| ${one} | ${width} | ${clicks} |\n`,
    );
    await writeFile(TABLE, HEADING + rows.join(''));
    return;
  }
  const known = table.get(name);
  assert.ok(known !== undefined, `${name} is in clicks.md`);
  assert.equal(result.width, known.width, `${name}: the width where it happens`);
  assert.ok(result.clicks <= known.clicks, `${name}: ${result.clicks} clicks, ${known.clicks}`);
}
