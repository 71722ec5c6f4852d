import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { type Refusal, refuse } from '#core/answer.ts';
import type { Json } from '#core/canonical-json.ts';
import { inPlainWords } from '#http/describe-invalid-parameter.ts';
import { checkText } from '#http/parse-json.ts';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, verbose: true, useDefaults: false });
addFormats.default(ajv, ['date-time', 'email', 'uri']);

export type Check = (value: unknown) => Refusal | null;

function pointerToPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function toRefusal(error: ErrorObject, where: 'body' | 'query'): Refusal {
  const path = pointerToPath(error.instancePath);
  if (error.keyword === 'required') {
    const name = join(path, String(error.params.missingProperty));
    return refuse('parameter_missing', inPlainWords(name, error), name);
  }
  if (error.keyword === 'additionalProperties') {
    const name = join(path, String(error.params.additionalProperty));
    return refuse('parameter_unknown', `${name} is not a parameter of this ${where}.`, name);
  }
  const name = error.propertyName === undefined ? path : join(path, error.propertyName);
  return refuse('parameter_invalid', inPlainWords(name, error), name);
}

/** Returns the most specific error. Wrapping errors (`anyOf`, `if`) have only general messages. */
function first(errors: readonly ErrorObject[]): ErrorObject | undefined {
  return errors.find((error) => error.keyword !== 'anyOf' && error.keyword !== 'if') ?? errors[0];
}

/**
 * Creates a check that names the first invalid parameter. It compiles its schema at its first use,
 * because compiling all schemas would add a third of a second to each start.
 */
export function compileCheck(schema: TSchema, where: 'body' | 'query'): Check {
  let compiled: ValidateFunction | null = null;
  return (value) => {
    compiled ??= ajv.compile(schema);
    const validate = compiled;
    if (validate(value)) return null;
    const error = first(validate.errors ?? []);
    return error === undefined ? null : toRefusal(error, where);
  };
}

const INTEGER = /^-?(0|[1-9]\d{0,15})$/;

interface PropertySchema {
  readonly type?: string;
}

/** Parses one query value as the type in its schema. An invalid value stays a string. */
function coerce(text: string, schema: PropertySchema | undefined): Json {
  if (schema?.type === 'integer' && INTEGER.test(text)) return Number(text);
  if (schema?.type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** Parses a query string. Repeated names, bad escapes and control characters are refused. */
export function parseQuery(
  search: string,
  properties: Readonly<Record<string, PropertySchema>>,
): { [key: string]: Json } | Refusal {
  const values: { [key: string]: Json } = Object.create(null);
  for (const pair of search.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    const value = decode(at < 0 ? '' : pair.slice(at + 1));
    if (name === null || checkText(name, 'name') !== null) {
      return refuse(
        'parameter_invalid',
        'The name of a query parameter is not valid percent-encoded UTF-8.',
      );
    }
    if (value === null) {
      return refuse('parameter_invalid', `${name} is not valid percent-encoded UTF-8.`, name);
    }
    const bad = checkText(value, name);
    if (bad !== null) return bad;
    if (name in values) {
      return refuse('parameter_invalid', `${name} appears more than once.`, name);
    }
    values[name] = coerce(value, properties[name]);
  }
  return values;
}
