import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { DEVELOPER_TOOLS } from '../src/mcp/developer-tools.ts';
import { EXPLAINING_TOOLS } from '../src/mcp/explaining-tools.ts';
import { PAYMENT_TOOLS } from '../src/mcp/payment-tools.ts';
import { REFUND_TOOL } from '../src/mcp/refund-tool.ts';
import { TEXT_OF_OTHERS } from '../src/mcp/server.ts';

/** A part of the OpenAPI document. */
interface Schema {
  readonly [keyword: string]: unknown;
}

/** Texts without a pattern, format or list of values that the network itself writes. */
const OWN_TEXT: ReadonlySet<string> = new Set([
  ...['source', 'reason_code', 'message', 'customer_message', 'failure_message', 'next_cursor'],
  ...['rate', 'type', 'types', 'api_version', 'enabled_events', 'disabled_reason', 'event_type'],
  // Ids, addresses, and the parts of requests that the network understood.
  ...['error', 'method', 'path', 'resource', 'caller', 'operation', 'code', 'object_id'],
  ...['address', 'agent_token', 'tax_rate', 'replaces', 'value', 'item', 'cashier', 'terms'],
]);

const document = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../openapi.json'), 'utf8'),
) as Schema;

function isFreeText({ type, pattern, format, ...rest }: Schema): boolean {
  const isBound = pattern !== undefined || format !== undefined || rest.enum !== undefined;
  return [type].flat().includes('string') && !isBound && rest.const === undefined;
}

/** Collects the names of the fields below a schema that hold free text. */
function collect(schema: Schema, name: string, results: Set<string>, seen: Set<Schema>): void {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return;
  seen.add(schema);
  if (name !== '' && isFreeText(schema)) results.add(name);
  if (typeof schema.$ref === 'string') {
    const steps = schema.$ref.split('/').slice(1);
    const target = steps.reduce((at, step) => at[step] as Schema, document);
    collect(target, name, results, seen);
  }
  const { anyOf = [], oneOf = [], allOf = [], items, additionalProperties } = schema;
  const inner = [anyOf, oneOf, allOf, items ?? [], additionalProperties ?? []].flat() as Schema[];
  for (const one of inner) collect(one, name, results, seen);
  for (const [key, one] of Object.entries(schema.properties ?? {}))
    collect(one, key, results, seen);
}

test('every field of the API that can hold a stranger’s text is bracketed for a model', () => {
  const results = new Set<string>();
  const paths = Object.values(document.paths as object).flatMap((item) => Object.values(item));
  for (const { responses } of paths as { responses: Record<string, { content?: object }> }[]) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      if (!status.startsWith('2')) continue;
      for (const { schema } of Object.values(content)) collect(schema, '', results, new Set());
    }
  }
  assert.ok(results.size > 30, `only ${results.size} fields were seen`);
  const unknown = [...results].filter((name) => !TEXT_OF_OTHERS.has(name) && !OWN_TEXT.has(name));
  assert.deepEqual(unknown, []);
});

test('no schema of a tool has a look-around, which some clients refuse', () => {
  const tools = [...DEVELOPER_TOOLS, ...EXPLAINING_TOOLS, ...PAYMENT_TOOLS, REFUND_TOOL];
  assert.ok(tools.length >= 10, `only ${tools.length} tools were seen`);
  for (const { name, inputSchema, outputSchema } of tools) {
    assert.doesNotMatch(JSON.stringify([inputSchema, outputSchema]), /\(\?<?[=!]/, name);
  }
});
