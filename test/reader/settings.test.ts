import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { readPairing, readPassType, SettingError, savePairing } from '../../reader/src/settings.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'tapline-reader-'));
after(() => rm(folder, { recursive: true }));
const pairing = { server: 'https://pay.example', device_key: 'tldk_test_x', terminal: 'tml_x' };

test('a pairing is stored for its owner only, and read back', async () => {
  const file = path.join(folder, 'kept', 'reader.json');
  assert.equal(await readPairing(file), null);
  await savePairing(file, pairing);
  assert.deepEqual(await readPairing(file), pairing);
});

test('a damaged file, or one that others can read, is refused with a reason', async () => {
  const open = path.join(folder, 'open.json');
  await writeFile(open, JSON.stringify(pairing), { mode: 0o644 });
  await assert.rejects(readPairing(open), {
    message: `${open} can be read by other users. Run: chmod 600 ${open}`,
  });
  const damaged = path.join(folder, 'damaged.json');
  await writeFile(damaged, '{"server":', { mode: 0o600 });
  await assert.rejects(readPairing(damaged), SettingError);
  await assert.rejects(readPassType(damaged), SettingError);
});
