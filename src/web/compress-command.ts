import { parseArgs } from 'node:util';
import { compressFiles, SMALLEST } from '#web/compress.ts';

/**
 * `node src/web/compress-command.ts --out <folder>`: compresses the built apps as much as possible.
 */
const { values } = parseArgs({ options: { out: { type: 'string' } } });
if (values.out === undefined) throw new Error('--out <folder> is missing');
await compressFiles(values.out, SMALLEST);
