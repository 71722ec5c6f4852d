import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { testFolder } from '../../testkit/fixtures/core/test-folder.ts';
import { main } from '../src/command.ts';
import {
  lockRegister,
  readPairing,
  readPassType,
  readRegister,
  registerFile,
  SettingError,
  savePairing,
  saveRegister,
} from '../src/till-settings.ts';

const folder = testFolder();
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

test('wrong options for a cash register are refused before anything starts', async () => {
  const file = path.join(folder, 'register.json');
  await savePairing(file, pairing);
  const wrong = [
    ['--zvt', '80'],
    ['--zvt', 'twenty'],
    ['--zvt', '20007', '--zvt-host', 'register.example'],
    ['--zvt', '20007', '--zvt-timeout', '5'],
    ['--zvt', '20007', '--zvt-host', '127.0.0.1'],
    ...['', '1', '10.1', '010.0.0.1', '0x0a000001', '10.0.0.0/8', 'register.example', '::1%lo'].map(
      (peers) => ['--zvt', '20007', '--zvt-peers', peers],
    ),
    ...['12345', '1234567', 'secret'].map((given) => ['--zvt', '20007', '--zvt-password', given]),
    ...['1', '4', 'JPY', 'JPY=', 'yen=0', '2 '].map((scale) => {
      return ['--zvt', '20007', '--zvt-scale', scale];
    }),
    ['--zvt-peers', '127.0.0.1'],
    ['--zvt-password', '123456'],
    ['--zvt-host', '127.0.0.1'],
    ['--zvt', '20007', '--till'],
    ['--zvt', '20007', '--zvt', '20008'],
    ['--zvt', `20007=${file}`],
  ];
  for (const options of wrong) {
    assert.equal(await main(['--config', file, ...options], {}), 1, options.join(' '));
  }
});

test('two readers never use the state of one register', async () => {
  const file = path.join(folder, 'shared.zvt.json');
  const release = await lockRegister(file);
  await assert.rejects(lockRegister(file), new SettingError(`Another reader uses ${file}.`));
  const settings = import.meta.resolve('../../reader/src/till-settings.ts');
  const program = `import { lockRegister } from '${settings}';
    await lockRegister(process.argv[1]).then(() => process.exit(0), () => process.exit(9));`;
  const start = () => spawnSync(process.execPath, ['--input-type=module', '-e', program, file]);
  assert.equal(start().status, 9, 'another process');
  release();
  assert.equal(start().status, 0);
  (await lockRegister(file))();
});

test('the state of a cash register is beside the pairing, for its owner only', async () => {
  const file = registerFile(path.join(folder, 'reader.json'));
  assert.equal(path.basename(file), 'reader.zvt.json');
  assert.equal(await readRegister(file), null);
  await saveRegister(file, { trace: 7 });
  assert.deepEqual(await readRegister(file), { trace: 7 });
  assert.equal((await stat(file)).mode & 0o077, 0);
});
