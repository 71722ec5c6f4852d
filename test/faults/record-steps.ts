// Preload with `node --import`. Appends each relayer step as a line to this process's file in the
// folder STEP_HISTORY.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { recordSteps } from '#testkit/fixtures/settlement/step-history.ts';

const folder = process.env.STEP_HISTORY;
if (folder !== undefined) {
  const file = path.join(folder, `${Date.now()}-${process.pid}.jsonl`);
  recordSteps((line) => appendFileSync(file, `${line}\n`));
}
