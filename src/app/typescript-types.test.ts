import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typeOf } from './typescript-schema.ts';
import { typescriptModules, typescriptOf } from './typescript-types.ts';

const NOTE = {
  title: 'Note',
  type: 'object',
  required: ['id', 'status', 'tags', 'size'],
  properties: {
    id: { type: 'string', pattern: '^n_' },
    status: { type: 'string', enum: ['open', "won't do"], description: 'The list may grow.' },
    tags: { type: 'array', items: { type: 'string' } },
    size: { type: ['integer', 'null'], minimum: 1 },
    'due-at': { anyOf: [{ type: 'string' }, { type: 'null' }] },
    extra: { type: 'object', additionalProperties: { type: 'string' } },
  },
};
const REFERENCE = { $ref: '#/components/schemas/Note' };
const DOCUMENT = {
  components: {
    schemas: { Note: NOTE, Error: { type: 'object', properties: {} } },
    parameters: { Key: { name: 'Idempotency-Key', in: 'header', required: true } },
  },
  paths: {
    '/v1/notes/{id}': {
      patch: {
        operationId: 'updateNote',
        summary: 'Change a note',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'dry', in: 'query', schema: { type: 'boolean', default: false } },
          { $ref: '#/components/parameters/Key' },
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { type: 'object', properties: {} } } },
        },
        responses: { 200: { content: { 'application/json': { schema: REFERENCE } } }, 204: {} },
      },
    },
  },
};

test('a schema becomes an interface, with its descriptions and optional fields', () => {
  const text = typescriptOf(DOCUMENT, 'notes.json');
  const note = text.slice(
    text.indexOf('export interface Note'),
    text.indexOf('export type ApiError'),
  );
  assert.equal(
    note.trim(),
    [
      'export interface Note {',
      '  id: string;',
      '  /** The list may grow. */',
      "  status: 'open' | 'won\\'t do';",
      '  tags: string[];',
      '  size: number | null;',
      "  'due-at'?: string | null;",
      '  extra?: Record<string, string>;',
      '}',
    ].join('\n'),
  );
});

test('an operation lists its inputs and every possible response', () => {
  const text = typescriptOf(DOCUMENT, 'notes.json');
  assert.equal(
    text.slice(text.indexOf('export interface Operations')).trim(),
    [
      'export interface Operations {',
      '  /** Change a note */',
      "  'PATCH /v1/notes/{id}': {",
      "    id: 'updateNote';",
      '    path: { id: string };',
      '    query?: UpdateNoteQuery;',
      "    idempotencyKey: 'required';",
      '    body: UpdateNoteBody;',
      '    response: Note | null;',
      '  };',
      '}',
    ].join('\n'),
  );
  assert.match(
    text,
    /interface UpdateNoteQuery {\n {2}\/\*\* @default false \*\/\n {2}dry\?: bool/,
  );
});

test('an unknown keyword stops the command instead of becoming unknown', () => {
  assert.throws(() => typeOf({ type: 'string', contentEncoding: 'base64' }, ''), /contentEncoding/);
  assert.throws(() => typeOf({ type: 'file' }, ''), /file/);
});

test('common parts of documents are declared once, unless they name different types', () => {
  const extended = structuredClone(DOCUMENT);
  Object.assign(extended.components.schemas, {
    Box: { type: 'object', properties: { note: REFERENCE } },
    Mark: NOTE,
    Sign: NOTE,
    Label: { type: 'object', properties: { text: { type: 'string' } } },
  });
  const other = structuredClone(extended);
  other.components.schemas.Note.required = ['id'];
  const modules = typescriptModules(
    new Map([
      ['one', extended],
      ['two', other],
    ]),
  );
  const declared = (name: string) =>
    [...(modules.get(name) ?? '').matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, n]) => n);
  assert.deepEqual(declared('shared'), [
    ...['ApiError', 'Mark', 'Sign', 'Label', 'UpdateNoteQuery', 'UpdateNoteBody'],
  ]);
  assert.match(modules.get('shared') ?? '', /^export type Sign = Mark;$/m);
  // Box has the same text in both modules, but refers to a different Note in each.
  for (const name of ['one', 'two']) {
    assert.deepEqual(declared(name), ['Note', 'Box', 'Operations']);
    assert.match(modules.get(name) ?? '', /^import type \{ UpdateNoteQuery, UpdateNoteBody \}/m);
    assert.match(modules.get(name) ?? '', /^export type \{ ApiError, Mark, Sign, Label, Update/m);
  }
});
