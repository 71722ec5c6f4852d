import assert from 'node:assert/strict';
import { test } from 'node:test';
import { breaks, shapeOf } from '#app/api-contract-shape.ts';

type Schemas = { readonly body?: object; readonly answer?: object };

function documentOf({ body = {}, answer = {} }: Schemas, path = '/v1/things') {
  const json = (schema: object) => ({ content: { 'application/json': { schema } } });
  const post = {
    requestBody: json({ type: 'object', properties: body, required: Object.keys(body) }),
    responses: { 200: json({ $ref: '#/components/schemas/Thing' }) },
  };
  return {
    paths: { [path]: { post } },
    components: { schemas: { Thing: { type: 'object', properties: answer } } },
  };
}

const OLD = { body: { amount: { type: 'integer' } }, answer: { id: { type: ['string', 'null'] } } };

function broken(changed: Schemas, path?: string): string[] {
  return breaks(shapeOf(documentOf(OLD)), shapeOf(documentOf(changed, path)));
}

test('the same contract, expressed differently, breaks nothing', () => {
  const id = { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'Which one.' };
  assert.deepEqual(broken({ ...OLD, answer: { id } }), []);
});

test('additions to a response break nothing', () => {
  assert.deepEqual(broken({ ...OLD, answer: { ...OLD.answer, more: { type: 'string' } } }), []);
});

test('a removed field, or one with another type, is named', () => {
  assert.deepEqual(broken({ ...OLD, answer: {} }), ['gone: POST /v1/things 200.id null or string']);
  const id = { type: 'integer' };
  assert.deepEqual(broken({ ...OLD, answer: { id } }).length, 1);
});

test('a new requirement, and a removed operation, are named', () => {
  const body = { ...OLD.body, reason: { type: 'string' } };
  assert.deepEqual(broken({ ...OLD, body }), ['now needed: POST /v1/things body.reason']);
  assert.ok(broken(OLD, '/v1/others').includes('gone: POST /v1/things'));
});
