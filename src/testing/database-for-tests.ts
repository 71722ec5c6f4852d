import { after, before } from 'node:test';
import { type TestDatabase, testDatabase } from '#testing/database.ts';

/**
 * Opens a database before the tests of the calling file or suite, and closes it after them. Hooks
 * that the caller adds later may use the database.
 */
export function databaseForTests(maxConnections?: number): TestDatabase {
  let opened: TestDatabase;
  before(async () => {
    opened = await testDatabase(maxConnections);
  });
  after(() => opened.close());
  return {
    get db() {
      return opened.db;
    },
    get url() {
      return opened.url;
    },
    close: () => opened.close(),
  };
}
