import { readRange, whyRefused } from '#core/address-ranges.ts';
import { StartError } from '#core/start-error.ts';
import { readKeyTexts } from '#settings/key-files.ts';
import { type Env, isOfService, type SettingName } from '#settings/setting-names.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { settingAddress } from '#settlement/evm-address.ts';
import { readRemoteKey, type SigningKey } from '#settlement/remote-signer.ts';

export function readSetting(env: Env, name: SettingName): string | null {
  const value = env[name]?.trim();
  return value === undefined || value === '' || isOfService(name, value) ? null : value;
}

/** Decodes percent encoding; `null` if the text is malformed. */
export function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

export function integer(
  env: Env,
  name: SettingName,
  range: { min: number; max: number; default: number },
) {
  const text = readSetting(env, name);
  if (text === null) return range.default;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= range.min && value <= range.max) return value;
  throw new StartError(`${name}=${text} must be an integer from ${range.min} to ${range.max}`);
}

export function url(env: Env, name: SettingName, protocols: readonly string[]): string | null {
  const text = readSetting(env, name);
  if (text === null) return null;
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (parsed !== null && protocols.includes(parsed.protocol)) return text;
  throw new StartError(`${name} must be a URL that begins with ${protocols.join(' or ')}`);
}

export function cidrs(env: Env, name: SettingName): string[] {
  const entries = (readSetting(env, name) ?? '').split(',').map((entry) => entry.trim());
  return entries
    .filter((entry) => entry !== '')
    .map((entry) => {
      const read = readRange(entry);
      if ('meant' in read) throw new StartError(`${name}: ${entry} ${whyRefused(read.meant)}`);
      const { range } = read;
      return range.includes('/') ? range : `${range}/${range.includes(':') ? 128 : 32}`;
    });
}

const HEX_KEY = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;

export function address(env: Env, name: SettingName, what: string): Hex {
  const text = readSetting(env, name);
  if (text !== null && ADDRESS.test(text)) return settingAddress(text, name);
  throw mustBe(what, name, text);
}

function mustBe(what: string, name: SettingName, text: string | null): StartError {
  return new StartError(`${name} must be ${what}${text === null ? ': it is missing' : ''}`);
}

/**
 * Reads the keys in a setting. If the setting is the address of a remote signer, `token`
 * authenticates to it.
 */
export function signingKeys(env: Env, name: SettingName, token: string | null): SigningKey[] {
  const text = readSetting(env, name);
  const keys = text === null ? [] : readKeyTexts(text, name);
  const isKey = (key: string) => HEX_KEY.test(key) || key.startsWith('http');
  if (keys.length > 0 && keys.every(isKey)) {
    return keys.map((key) => toSigningKey(key, token, name));
  }
  const what = 'private keys (0x followed by 64 hex digits), separated by commas, or file:/<path>';
  throw mustBe(`${what}, or https://<signer>/<address>`, name, text);
}

export function signingKey(env: Env, name: SettingName, token: string | null): SigningKey {
  const text = readSetting(env, name);
  const [key, ...others] = text === null ? [] : readKeyTexts(text, name);
  const isOne = key !== undefined && others.length === 0;
  if (isOne && (HEX_KEY.test(key) || key.startsWith('http'))) {
    return toSigningKey(key, token, name);
  }
  const what = 'a private key (0x followed by 64 hex digits), or file:/<path>';
  throw mustBe(`${what}, or https://<signer>/<address>`, name, text);
}

function toSigningKey(text: string, token: string | null, name: SettingName): SigningKey {
  return text.startsWith('http') ? readRemoteKey(text, token, name) : (text as Hex);
}
