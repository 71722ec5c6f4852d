import { readFileSync } from 'node:fs';
import path from 'node:path';

const { version } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8'),
) as { readonly version: string };

/** Which release this process is of: in `/readyz`, `/metrics`, each line of the log, each trace. */
export const RELEASE = version;
