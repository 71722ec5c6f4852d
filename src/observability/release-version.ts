import { readFileSync } from 'node:fs';
import path from 'node:path';

const { version } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8'),
) as { readonly version: string };

/** This process's release, shown in `/readyz`, `/metrics`, each log line and each trace. */
export const RELEASE = version;
