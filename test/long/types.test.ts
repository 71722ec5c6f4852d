import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Schema } from '#app/typescript-schema.ts';
import { operationsOf } from '#app/typescript-types.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { installTool, type Tool } from '#testkit/fixtures/core/tools.ts';

/**
 * Compares our generated types with those of openapi-typescript, which must agree. It has a
 * separate folder, because it needs an older TypeScript.
 */

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
const TSC = path.join(ROOT, 'node_modules/.bin/tsc');
/** A document and the types generated from it. */
const PAIRS = [
  ['openapi.json', 'sdk/src/types.ts'],
  ['openapi/device.json', 'web/data/types/device.ts'],
  ['openapi/payer.json', 'web/data/types/payer.ts'],
  ['openapi/pay.json', 'web/data/types/pay.ts'],
  ['openapi/dashboard.json', 'web/data/types/dashboard.ts'],
  ['openapi/operator.json', 'web/data/types/operator.ts'],
] as const;
/** The types that several documents import. */
const SHARED = 'web/data/types/shared.ts';
/** Head of the comparison file: true only if both types are identical, member by member. */
const HEAD = `import type * as Ours from './ours.ts';
import type { components, paths } from './theirs.ts';
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Flat<T> =
  T extends (infer I)[] ? Flat<I>[] : T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
function holds<_T extends true>(_what: string): void {}
`;

const folder = testFolder();
let tool: Tool;

before(async () => {
  tool = await installTool('openapi-typescript', folder);
  await run('npm', ['run', '--silent', 'openapi', '--', '--check'], { cwd: ROOT });
});

/** Returns one line per type that both sides name. */
function comparisons(document: Schema): string[] {
  const { schemas } = document.components as { schemas: object };
  const lines = Object.keys(schemas).map((name) =>
    same(name, `Ours.${name === 'Error' ? 'ApiError' : name}`, `components['schemas']['${name}']`),
  );
  for (const { route, schema } of operationsOf(document)) {
    const [method = '', below] = route.split(' ');
    const ours = `Ours.Operations['${route}']`;
    const theirs = `paths['${below}']['${method.toLowerCase()}']`;
    const answers = Object.entries(schema.responses as Record<string, { content?: object }>)
      .filter(([status, { content }]) => status.startsWith('2') && isJson(content))
      .map(([status]) => `${theirs}['responses'][${status}]['content']['application/json']`);
    if (answers.length > 0) {
      const answer = `Exclude<${ours}['response'], null>`;
      lines.push(same(`${route} answers`, answer, answers.join(' | ')));
    }
    const body = schema.requestBody as { content: object } | undefined;
    if (isJson(body?.content)) {
      const theirBody = `NonNullable<${theirs}['requestBody']>['content']['application/json']`;
      lines.push(same(`${route} takes`, `NonNullable<${ours}['body']>`, theirBody));
    }
  }
  return lines;
}

function isJson(content: object | undefined): boolean {
  return content !== undefined && 'application/json' in content;
}

function same(what: string, ours: string, theirs: string): string {
  return `holds<Same<Flat<${ours}>, Flat<${theirs}>>>(${JSON.stringify(what)});`;
}

async function compile(lines: readonly string[]): Promise<string> {
  await writeFile(path.join(folder, 'check.ts'), `${HEAD}${lines.join('\n')}\n`);
  const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck'];
  const modules = ['--allowImportingTsExtensions', '--module', 'nodenext', '--target', 'es2024'];
  const args = [...flags, ...modules, '--ignoreConfig', 'check.ts'];
  const result = await run(TSC, args, { cwd: folder }).catch((error: { stdout: string }) => error);
  return result.stdout;
}

for (const [source, target] of PAIRS) {
  test(`${target} equals what openapi-typescript generates from ${source}`, async () => {
    const file = path.join(ROOT, source);
    const generator = tool.installed('.bin/openapi-typescript');
    const output = [
      '-o',
      'theirs.ts',
      '--default-non-nullable',
      'false',
      '--empty-objects-unknown',
    ];
    await run(generator, [file, ...output], { cwd: folder });
    await cp(path.join(ROOT, target), path.join(folder, 'ours.ts'));
    await cp(path.join(ROOT, SHARED), path.join(folder, 'shared.ts'));
    const lines = comparisons(JSON.parse(await readFile(file, 'utf8')));
    assert.ok(lines.length >= 8, `only ${lines.length} types were compared`);
    assert.equal(await compile(lines), '');
    // Verifies that the comparison can fail.
    const wrong = same('wrong', 'Ours.ApiError', "{ error: { type: 'other' } }");
    assert.match(await compile([wrong]), /does not satisfy the constraint 'true'/);
  });
}
