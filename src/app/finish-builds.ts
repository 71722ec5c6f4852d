import type { ApiDeps } from '#app/api-dependencies.ts';
import { describeError } from '#observability/log.ts';
import { ensurePackages, packagesIn } from '#packages/build-packages.ts';
import type { Config } from '#settings/config.ts';
import { ensureCompressed } from '#web/build-web-apps.ts';

/**
 * Builds the packages, and compresses the web apps by another 10 %. In production, the start waits
 * for this; a sandbox serves requests first.
 */
export async function finishBuilds(webFolder: string, config: Config): Promise<void> {
  const { dataDir, sandboxStartMs: ms } = config;
  await Promise.all([ensureCompressed(webFolder, ms), ensurePackages(packagesIn(dataDir), ms)]);
}

/**
 * Finishes the builds in the background. Stopping does not wait for them, because each file is
 * replaced in one step.
 */
export function finishBuildsLater(
  webFolder: string,
  { config, log }: Pick<ApiDeps, 'config' | 'log'>,
  ends: AbortSignal | undefined,
) {
  finishBuilds(webFolder, config).catch((error) => {
    // A stop also ends the programs that build.
    if (ends?.aborted) return;
    log.warn('a background build failed', { error: describeError(error) });
  });
}
