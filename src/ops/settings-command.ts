import { parseArgs } from 'node:util';
import { StartError } from '#core/start-error.ts';
import { redact } from '#observability/redact.ts';
import { checkSettings, type Finding } from '#ops/check-settings.ts';
import { makeSettings, readSettingsOf, type ServiceRole } from '#ops/settings-files-by-role.ts';
import { secretValues } from '#settings/secret-settings.ts';
import { type Env, SETTING_NAMES } from '#settings/setting-names.ts';

/**
 * `settings-command.ts init|check --folder <folder> [--json] [--environment]`, used by `tapline
 * init` and `tapline doctor`: creates the settings files, and checks everything that could make a
 * start fail. With `--environment`, the environment overrides the files, as in a container.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: '.' },
    json: { type: 'boolean', default: false },
    environment: { type: 'boolean', default: false },
  },
});
const [command] = positionals;

function show(finding: Finding): void {
  const { check, ok, detail } = finding;
  console.log(values.json ? JSON.stringify(finding) : `${ok ? 'ok ' : 'NO '} ${check}: ${detail}`);
}

async function settingsOf(role: ServiceRole): Promise<Env> {
  const files = await readSettingsOf(values.folder, role);
  if (!values.environment) return files;
  const names = SETTING_NAMES.filter((name) => process.env[name] !== undefined);
  return { ...files, ...Object.fromEntries(names.map((name) => [name, process.env[name]])) };
}

async function run(): Promise<number> {
  if (command === 'init') {
    const { files, addresses } = await makeSettings(values.folder);
    for (const file of files) show({ check: 'made', ok: true, detail: `${values.folder}/${file}` });
    for (const address of addresses) {
      const detail = `${address}: grant it its role (chain -- deploy) and fund it with gas`;
      show({ check: 'key', ok: true, detail });
    }
  }
  const envs = {
    api: await settingsOf('api'),
    worker: await settingsOf('worker'),
    registrar: await settingsOf('registrar'),
  };
  const secrets = Object.values(envs).flatMap(secretValues);
  const findings = await checkSettings(envs);
  for (const one of findings) show({ ...one, detail: redact(one.detail, secrets) });
  return findings.every(({ ok }) => ok) ? 0 : 1;
}

try {
  process.exitCode = await run();
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(`tapline: ${error.message}`);
  process.exitCode = 1;
}
