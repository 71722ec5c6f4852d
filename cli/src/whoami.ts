import { TaplineError } from 'tapline';
import type { Settings } from './settings.ts';

/**
 * Prints which network, key and mode commands use, where these come from, and whether they work.
 */
export async function whoami({ tapline, out, ...place }: Settings): Promise<number> {
  const { baseUrl: base_url, apiKey, source } = place;
  const mode = apiKey.startsWith('tlsk_live') ? 'live' : 'test';
  const key = `${apiKey.slice(0, 10)}…${apiKey.slice(-4)}`;
  let works = true;
  try {
    await tapline.terminals.list({ limit: 1 }).page;
  } catch (error) {
    // A key without this scope is valid, too, so that error is ignored.
    works = error instanceof TaplineError && error.code === 'scope_missing';
  }
  const words = `${base_url}  ${mode} mode  ${key}  from ${source}`;
  out.show({ base_url, mode, key, source, works }, works ? words : `${words}, which does not work`);
  return works ? 0 : 1;
}
