import { after, before } from 'node:test';
import type { Database } from '#db/database.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { openSharedSandbox, startSharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { openBrowser, type TestBrowser } from './browser.ts';

/** The sandbox and browser for a file's tests. */
export interface Stage {
  readonly sandbox: SandboxFile;
  readonly browser: TestBrowser;
}

interface Opened<Set extends Stage> {
  readonly stage: Set;
  close(): Promise<void>;
}

/**
 * Opens the stage before the file's tests and closes it after them. The returned function throws if
 * it is called earlier.
 */
function kept<Set extends Stage>(open: () => Promise<Opened<Set>>): () => Set {
  let opened: Opened<Set> | null = null;
  before(async () => {
    opened = await open();
  });
  after(async () => {
    await opened?.close();
  });
  return () => {
    if (opened === null) throw new Error('the stage opens with the first test');
    return opened.stage;
  };
}

/**
 * Opens the run's shared sandbox and browser.
 * @param prepare See {@link ownStage}.
 */
export function sharedStage(prepare: (stage: Stage) => Promise<void> = async () => {}) {
  return kept(async () => {
    const [shared, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);
    const close = async () => {
      await browser.close();
      await shared.close();
    };
    const stage: Stage = { sandbox: shared.sandbox, browser };
    await prepare(stage);
    return { stage, close };
  });
}

export interface OwnStage extends Stage {
  readonly db: Database;
}

/**
 * Opens a private sandbox with its database for one file.
 * @param prepare Sets the sandbox up. A separate `before` hook could not wait for the sandbox,
 * because hooks start together.
 * @param settings Returns further settings of the sandbox.
 */
export function ownStage(
  prepare: (stage: OwnStage) => Promise<void> = async () => {},
  settings: () => Promise<Readonly<Record<string, string>>> = async () => ({}),
) {
  return kept(async () => {
    const database = await testDatabase();
    const started = startSharedSandbox({ DATABASE_URL: database.url, ...(await settings()) });
    const [own, browser] = await Promise.all([started, openBrowser()]);
    const close = async () => {
      await browser.close();
      await own.close();
      await database.close();
    };
    const stage: OwnStage = { sandbox: own.sandbox, browser, db: database.db };
    await prepare(stage);
    return { stage, close };
  });
}
