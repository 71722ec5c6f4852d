import { NETWORKS } from '#core/mode.ts';
import { readKeyTexts } from '#settings/key-files.ts';
import { percentDecoded } from '#settings/read-setting.ts';
import { chainPrefix, type Env, type SettingName } from '#settings/setting-names.ts';

/** Settings whose whole value is secret. Several values are separated by commas. */
const WHOLE: readonly SettingName[] = [
  'METRICS_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'TAPLINE_SECRET',
  'TAPLINE_SECRET_PREVIOUS',
  ...NETWORKS.flatMap((network): SettingName[] => [
    `${chainPrefix(network)}RELAYER_KEYS`,
    `${chainPrefix(network)}REGISTRAR_KEY`,
    `${chainPrefix(network)}SPONSOR_KEY`,
    `${chainPrefix(network)}WATCHER_KEY`,
    `${chainPrefix(network)}SIGNER_TOKEN`,
  ]),
];

/** Addresses with a secret password. */
const WITH_PASSWORD: readonly SettingName[] = [
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'DATABASE_DIRECT_URL',
  'REDIS_URL',
  'SMTP_URL',
];

/** Settings with addresses whose path and query are secret, because providers put keys there. */
const WITH_PATH: readonly SettingName[] = [
  'AUDIT_ANCHORS',
  ...NETWORKS.flatMap((network): SettingName[] => [
    `${chainPrefix(network)}RPC_URL`,
    `${chainPrefix(network)}WS_URL`,
  ]),
];

/**
 * Shorter parts of a path are words (`v2`, `anchors`) that log lines may contain for other reasons.
 */
const MIN_KEY_LENGTH = 16;

const HEADERS: readonly SettingName[] = NETWORKS.map(
  (network): SettingName => `${chainPrefix(network)}RPC_HEADERS`,
);

function valuesOf(env: Env, names: readonly SettingName[]): string[] {
  return names.flatMap((name) => (env[name] ?? '').split(',').map((value) => value.trim()));
}

function addresses(env: Env, names: readonly SettingName[]): URL[] {
  const texts = valuesOf(env, names).filter((text) => URL.canParse(text));
  return texts.map((text) => new URL(text));
}

/** Returns a value as written in the setting, and as programs print it. */
function bothSpellings(text: string): string[] {
  return [text, percentDecoded(text) ?? text];
}

/**
 * Returns the keys in the file; none if the file cannot be read, because the start reports that
 * error itself.
 */
function keysIfReadable(text: string): string[] {
  try {
    return readKeyTexts(text, '');
  } catch {
    return [];
  }
}

/** Returns all secrets given to this process. The log masks them. */
export function secretValues(env: Env): string[] {
  const passwords = addresses(env, WITH_PASSWORD).map((url) => url.password);
  const paths = addresses(env, WITH_PATH).flatMap((url) => [
    url.password,
    url.pathname.slice(1),
    ...url.pathname.split('/').filter((part) => part.length >= MIN_KEY_LENGTH),
    ...url.searchParams.values(),
  ]);
  const headers = HEADERS.flatMap((name) =>
    // Mask both the whole value and the part after the scheme (`Bearer …`).
    [...(env[name] ?? '').matchAll(/:\s*"((?:\w+ )?([^"]+))"/g)].flatMap((match) => match.slice(1)),
  );
  const inFiles = valuesOf(env, WHOLE).filter((text) => text.startsWith('file:'));
  const keys = inFiles.flatMap(keysIfReadable);
  const secrets = [...valuesOf(env, WHOLE), ...keys, ...passwords, ...paths, ...headers];
  return [...new Set(secrets.flatMap(bothSpellings))].filter((value) => value !== '');
}
