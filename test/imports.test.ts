import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WEB_SOURCES } from '#web/build-web-apps.ts';
import {
  all,
  FEWEST_FILES,
  FOLDERS,
  folderOf,
  importsOf,
  lazyImportsOf,
  MAY_IMPORT,
  pathOf,
  product,
  runtimeImportsOf,
  type Source,
  testkit,
} from './sources.ts';

/** Import rules: the layers of `src` and `web`, no cycles. */

function problemOf(source: Source, target: string): string | null {
  const from = folderOf(source.name);
  const to = folderOf(target);
  if (from === null) return `${source.name}: its folder is not in the table of docs/folders.md`;
  if (from === to) return null;
  const allowed = MAY_IMPORT.get(from) ?? [];
  return to !== null && allowed.includes(to) ? null : `${source.name} imports #${target}`;
}

test('every import follows the table of docs/folders.md', () => {
  assert.ok(product.length >= FEWEST_FILES, `only ${product.length} files were seen`);
  let seen = 0;
  const problems = [...product, ...testkit].flatMap((source) =>
    importsOf(source).flatMap((target) => {
      if (!target.startsWith('#')) return [];
      seen++;
      return problemOf(source, target.slice(1)) ?? [];
    }),
  );
  assert.ok(seen >= FEWEST_FILES, `only ${seen} imports were seen`);
  assert.deepEqual(problems, []);
});

test('a folder may import only folders above it in the table, so there are no cycles', () => {
  assert.ok(FOLDERS.length >= 25, `only ${FOLDERS.length} folders were seen`);
  const seen = new Set<string>();
  for (const { name, mayImport } of FOLDERS) {
    for (const one of mayImport) assert.ok(seen.has(one), `src/${name}: ${one} is not above it`);
    seen.add(name);
  }
});

/** Everything that ships: the service, the web apps and the packages. */
const shipped = all.filter(({ name }) => {
  return (
    /^(src|web|(sdk|cli|x402|reader)\/src)\//.test(name) &&
    !/\.test\.tsx?$|^web\/testing\//.test(name)
  );
});
const shippedNames = new Set(shipped.map(({ name }) => name));

/** Returns the import graph, with the edges that `imports` selects. */
function graphOf(imports: (source: Source) => readonly string[]): Map<string, readonly string[]> {
  return new Map(
    shipped.map((source) => {
      const targets = new Set(imports(source).flatMap((one) => pathOf(source, one) ?? []));
      return [source.name, [...targets].filter((one) => shippedNames.has(one))];
    }),
  );
}
const targetsOf = graphOf(importsOf);

/** Returns import cycles, each with its files in order (Tarjan's algorithm). */
function knotsIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const results: string[][] = [];
  const order = new Map<string, number>();
  const visiting: string[] = [];
  const visit = (name: string): number => {
    const index = order.size;
    order.set(name, index);
    visiting.push(name);
    let lowest = index;
    for (const one of graph.get(name) ?? []) {
      const seen = order.get(one);
      if (seen === undefined) lowest = Math.min(lowest, visit(one));
      else if (visiting.includes(one)) lowest = Math.min(lowest, seen);
    }
    if (lowest === index) {
      const knot = visiting.splice(visiting.indexOf(name));
      if (knot.length > 1) results.push(knot.toSorted());
    }
    return lowest;
  };
  for (const name of graph.keys()) if (!order.has(name)) visit(name);
  return results;
}

test('no files import each other in a cycle, not even through types or lazy parts', () => {
  assert.ok(shipped.length >= 1_000, `only ${shipped.length} files were seen`);
  const graph = graphOf((source) => [...importsOf(source), ...lazyImportsOf(source)]);
  assert.deepEqual(knotsIn(graph), []);
  const circle = new Map([
    ['a', ['b']],
    ['b', ['a']],
  ]);
  assert.deepEqual(knotsIn(circle), [['a', 'b']]);
});

/** Shared folders of the web apps. Each may import those before it. */
const SHARED = ['ui', 'data', 'desk'];
/**
 * Folders of `web` that import another app, or a shared folder that comes later. The list may only
 * get shorter.
 */
const ACROSS = [...['pay → wallet', 'tag → pay', 'terminal → wallet', 'wallet → terminal']];

test('a web app imports what the apps share, and no other app', () => {
  const folderIn = (name: string) => name.split('/').slice(1, -1)[0] ?? '';
  const across = new Set<string>();
  for (const [name, targets] of targetsOf) {
    if (!name.startsWith('web/')) continue;
    for (const target of targets.filter((one) => one.startsWith('web/'))) {
      const [from, to] = [folderIn(name), folderIn(target)];
      const floor = SHARED.indexOf(to);
      const isBelow = floor >= 0 && (!SHARED.includes(from) || floor < SHARED.indexOf(from));
      if (from !== to && !isBelow) across.add(`${from} → ${to}`);
    }
  }
  assert.deepEqual([...across].toSorted(), ACROSS);
});

test('nothing in src names a path in web, except in comments', () => {
  const results = product.flatMap(({ name, text }) => {
    const paths = [...text.matchAll(/['`](?:\.\.\/)*(web\/[\w./-]+)['`]/g)];
    return paths.map(([, one]) => `${name}: ${one}`);
  });
  assert.deepEqual(results, []);
});

test('a change to any source of the web apps rebuilds them', () => {
  const graph = graphOf(runtimeImportsOf);
  const built = new Set<string>();
  const visit = (name: string) => {
    if (built.has(name)) return;
    built.add(name);
    for (const one of graph.get(name) ?? []) visit(one);
  };
  const isApp = (name: string) => /^web\/(\w+\/main\.tsx?|worker\.ts|texts-plugin\.ts)$/.test(name);
  for (const name of graph.keys()) if (isApp(name)) visit(name);
  const outside = [...built].filter((name) => name.startsWith('src/'));
  assert.ok(built.size >= 300 && outside.length >= 8, `${built.size} files, ${outside}`);
  const isHashed = (name: string) =>
    WEB_SOURCES.some((one) => name === one || name.startsWith(`${one}/`));
  assert.deepEqual(
    [...built].filter((name) => !isHashed(name)),
    [],
  );
});
