import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { installTool } from '#testkit/fixtures/core/tools.ts';
import type { SafeContracts } from './measure-paths.ts';

const ARTIFACTS = '@safe-global/safe-contracts/build/artifacts/contracts';

/** Installs Safe 1.4.1 into the folder, and reads its contracts. */
export async function installSafe(folder: string): Promise<SafeContracts> {
  const tool = await installTool('smart-wallets', path.join(folder, 'tools'));
  const read = async (name: string) => {
    const file = `${path.basename(name)}.json`;
    return JSON.parse(await readFile(tool.installed(`${ARTIFACTS}/${name}.sol/${file}`), 'utf8'));
  };
  return {
    SafeProxyFactory: await read('proxies/SafeProxyFactory'),
    Safe: await read('Safe'),
    CompatibilityFallbackHandler: await read('handler/CompatibilityFallbackHandler'),
  };
}
