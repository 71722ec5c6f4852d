import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { KEY, type ScriptedApi, startScriptedApi } from '../../sdk/test/scripted-api.ts';
import { testFolder } from '../../testkit/fixtures/core/test-folder.ts';
import { type Env, runCli } from './run-cli.ts';

/** Simulates other operating systems by changing what differs there before the command starts. */

const SYSTEMS: Readonly<Record<string, string>> = {
  Windows: `
    Object.defineProperty(process, 'platform', { value: 'win32' });
    for (const name of ['getuid', 'geteuid', 'getgid', 'getegid']) process[name] = undefined;`,
  macOS: `Object.defineProperty(process, 'platform', { value: 'darwin' });`,
  'a user without a name': `
    const os = process.getBuiltinModule('node:os');
    os.userInfo = os.homedir = () => { throw new Error('uv_os_get_passwd returned ENOENT'); };
    process.getBuiltinModule('node:module').syncBuiltinESMExports();`,
  'a folder for temporary files that takes none': `process.env.TMPDIR = '/dev/null/none';`,
};

let api: ScriptedApi;
const folder = testFolder();

before(async () => {
  api = await startScriptedApi();
  await chmod(folder, 0o755);
});

after(() => api?.close());

function run(
  args: readonly string[],
  { env = {}, ...around }: { preload?: string; env?: Env; uid?: number } = {},
) {
  return runCli(args, { HOME: undefined, ...env }, { cwd: folder, ...around });
}

const AT = () => ({ TAPLINE_BASE_URL: api.baseUrl, TAPLINE_API_KEY: KEY });
const NOTHING = { status: 200, body: { data: [], has_more: false, next_cursor: null } };

for (const [system, preload] of Object.entries(SYSTEMS)) {
  test(`listen starts, and resend reports that nothing listens: ${system}`, async () => {
    api.script(NOTHING);
    const heard = await run(['listen', '--timeout', '0.2', '--json'], { preload, env: AT() });
    assert.equal(heard.code, 0, heard.stderr);
    assert.equal(JSON.parse(heard.stdout).ready, true);
    api.script({ status: 200, body: { id: 'evt_1' } });
    const alone = await run(['resend', 'evt_1'], { preload, env: AT() });
    assert.equal(alone.code, 1, alone.stderr);
    assert.match(alone.stderr, /^No listener is running on this machine/);
  });
}

test('for a user without a name it starts, and says what it cannot store or reach', {
  skip: process.getuid?.() !== 0,
}, async () => {
  api.script(NOTHING);
  const env = { ...AT(), TMPDIR: folder };
  const heard = await run(['listen', '--timeout', '0.2', '--json'], { env, uid: 54_321 });
  assert.equal(heard.code, 0, heard.stderr);
  assert.match(heard.stderr, /`tapline resend` cannot reach this window/);
  const kept = await run(['login'], { env: { ...env, HOME: '' }, uid: 54_321 });
  assert.equal(kept.code, 2);
  assert.match(kept.stderr, /^There is no home folder/);
});

describe('completion', () => {
  test('for PowerShell names each command with its options', async () => {
    const { code, stdout } = await run(['completion', 'powershell']);
    assert.equal(code, 0);
    assert.match(stdout, /^Register-ArgumentCompleter -Native -CommandName tapline/);
    assert.match(stdout, /^ {4}'listen' = @\('--forward-to', /m);
    assert.equal(stdout.split('{').length, stdout.split('}').length);
  });
});
