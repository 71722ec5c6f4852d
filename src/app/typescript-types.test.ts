import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { typeOf } from './typescript-schema.ts';
import { typescriptOf } from './typescript-types.ts';

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

test('a schema becomes an interface, with its words and what may be missing', () => {
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

test('an operation says what it takes and every answer that it may give', () => {
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

test('a keyword that is not understood stops the command, and becomes no unknown', () => {
  assert.throws(() => typeOf({ type: 'string', contentEncoding: 'base64' }, ''), /contentEncoding/);
  assert.throws(() => typeOf({ type: 'file' }, ''), /file/);
});

test('the types of the SDK and the screens are fresh', () => {
  const command = path.join(import.meta.dirname, 'types-command.ts');
  execFileSync(process.execPath, [command, '--check'], { stdio: 'pipe' });
});
