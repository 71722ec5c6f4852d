import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import type { BrowserContextOptions } from 'playwright-core';
import type { TestBrowser } from '../../../web/testing/browser.ts';

/** Number of clicks per journey. A journey that needs more fails. */
const TABLE = new URL('presses.md', import.meta.url);
const HEADING = `# Presses of each journey

A press is a tap or a click on a control, a choice in a list, or Enter. Typing does not count.
A journey that takes more presses than this fails;
\`WRITE_PRESSES=1 npm run test:long -- test/long/people.test.ts\` rewrites the table.

| journey | width | presses |
|---|---|---|
`;

/** A string, because the server's tests have no `document` type. */
const NOTE_PRESSES = `{
  const note = () => window.notePress();
  addEventListener('pointerdown', note, true);
  addEventListener('keydown', ({ key }) => { if (key === 'Enter') note(); }, true);
  addEventListener('change', ({ target }) => { if (target.tagName === 'SELECT') note(); }, true);
}`;

/** A browser that counts clicks and taps in its windows. */
export interface CountingBrowser extends TestBrowser {
  pressed(): number;
  /** Resets the counter after a journey's preparation. */
  startOver(): void;
}

export function countPresses(browser: TestBrowser): CountingBrowser {
  let presses = 0;
  return {
    pressed: () => presses,
    startOver: () => {
      presses = 0;
    },
    open: async (options?: BrowserContextOptions) => {
      const window = await browser.open(options);
      await window.context.exposeBinding('notePress', () => {
        presses++;
      });
      await window.context.addInitScript(NOTE_PRESSES);
      return window;
    },
    close: () => browser.close(),
  };
}

interface Row {
  readonly width: number;
  readonly presses: number;
}

async function readTable(): Promise<Map<string, Row>> {
  const text = await readFile(TABLE, 'utf8').catch(() => '');
  const rows = [...text.matchAll(/^\| (.+?) \| (\d+) \| (\d+) \|$/gm)];
  return new Map(
    rows.map(([, name = '', width, presses]) => [
      name,
      { width: Number(width), presses: Number(presses) },
    ]),
  );
}

/** Fails if the journey took more clicks than the table allows or is not in the table. */
export async function comparePresses(name: string, found: Row): Promise<void> {
  const table = await readTable();
  if (process.env.WRITE_PRESSES !== undefined) {
    const rows = [...table.set(name, found)].map(
      ([one, { width, presses }]) => `| ${one} | ${width} | ${presses} |\n`,
    );
    await writeFile(TABLE, HEADING + rows.join(''));
    return;
  }
  const known = table.get(name);
  assert.ok(known !== undefined, `${name} stands in presses.md`);
  assert.equal(found.width, known.width, `${name}: the width where it happens`);
  assert.ok(found.presses <= known.presses, `${name}: ${found.presses} presses, ${known.presses}`);
}
