import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Sql } from '#db/database.ts';
import { requireSessionSettings } from '#db/direct-connection.ts';
import { SESSION_SETTINGS } from '#db/session-settings.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const ROLE = path.join(import.meta.dirname, '../../deploy/pgbouncer/role.sql');

const database = databaseForTests();

test('each connection has the settings, and the doctor names one that is missing', async () => {
  assert.match(await requireSessionSettings(database.db), /have reached the server/);
  const bare = await database.db.connect();
  const sql: Sql = {
    query: async (text, values) => (await bare.query(text, [...(values ?? [])])).rows,
  };
  await assert.rejects(requireSessionSettings(sql), /plan_cache_mode is auto, not force_generic/);
  await bare.end();
});

test('behind a pooler the role has the same settings', async () => {
  const lines = (await readFile(ROLE, 'utf8')).matchAll(
    /^alter role :"role" set (\w+) = '?([\w.]+)'?;$/gm,
  );
  assert.deepEqual(
    Object.fromEntries([...lines].map(([, name, value]) => [name, value])),
    SESSION_SETTINGS,
  );
});
