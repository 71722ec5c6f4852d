import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredRoutes } from '#app/declared-routes.ts';
import { surfaceDocuments } from '#app/surface-documents.ts';

/**
 * Requires a description of each field and each response, because the document's readers have
 * nothing else.
 */

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly (Schema & { readonly name?: string })[];
  readonly responses: Readonly<Record<string, { readonly description?: string }>>;
}

const documents = Object.entries(surfaceDocuments(declaredRoutes()));

/**
 * Returns the fields below `value` that have no description and do not refer to a described schema.
 */
function undescribed(value: unknown, path: string): string[] {
  if (value === null || typeof value !== 'object') return [];
  const { properties } = value as Schema;
  const isSchema = 'type' in value && typeof properties === 'object';
  const own = Object.entries(isSchema ? properties : {})
    .filter(([, { $ref, description }]) => $ref === undefined && !description)
    .map(([name]) => `${path}: ${name}`);
  const deeper = Object.entries(value)
    .filter(([name]) => name !== 'example' && name !== 'examples')
    .flatMap(([name, one]) => undescribed(one, Array.isArray(value) ? path : `${path}/${name}`));
  return [...own, ...deeper];
}

for (const [name, document] of documents) {
  const paths = Object.values(document.paths as Record<string, Record<string, Operation>>);
  const operations = paths.flatMap((item) => Object.values(item));

  test(`${name}: each field and each parameter is described`, () => {
    assert.deepEqual(undescribed(document.components, 'components'), []);
    for (const { operationId, ...operation } of operations) {
      assert.deepEqual(undescribed(operation, operationId), []);
      const parameters = operation.parameters.filter((one) => one.name && !one.description);
      assert.deepEqual(parameters, [], operationId);
    }
  });

  test(`${name}: each response is described by its content`, () => {
    assert.ok(operations.length >= 3, `only ${operations.length} operations were seen`);
    const repeating = operations.filter(({ summary, responses }) =>
      Object.values(responses).some(({ description }) => description === summary),
    );
    assert.deepEqual(
      repeating.map(({ operationId }) => operationId),
      [],
    );
  });
}
