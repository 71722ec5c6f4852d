import type { ErrorObject } from 'ajv/dist/2020.js';

interface Described {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, Described>>;
}

const TYPES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text in quotes',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

/** The random part of ids in examples. */
const ID_PART = '01QzXo0KcV5sVQ2pWm8Tn3';
const ID_PATTERN = /^\^(\w+_)\[0-9A-Za-z\]\+\$$/;

/** Returns ` Example: …` if the schema has or implies an example; otherwise an empty string. */
function exampleOf({ examples, pattern = '', format }: Described): string {
  const prefix = ID_PATTERN.exec(pattern)?.[1];
  const implied = prefix === undefined ? undefined : prefix + ID_PART;
  const date = format === 'date-time' ? '2026-10-01T12:00:00.000Z' : undefined;
  const example = examples?.[0] ?? implied ?? date;
  return example === undefined ? '' : ` Example: ${JSON.stringify(example)}.`;
}

function range(from: number | undefined, to: number | undefined): string {
  if (from !== undefined && to !== undefined) return `from ${from} to ${to}`;
  return to === undefined ? `at least ${from}` : `at most ${to}`;
}

function kindOf({ type = [], minimum, maximum }: Described): string {
  const kinds = [type].flat().map((one) => TYPES[one] ?? one);
  const isNumber = [type].flat().some((one) => one === 'integer' || one === 'number');
  const bounds =
    minimum === undefined && maximum === undefined ? '' : ` ${range(minimum, maximum)}`;
  if (isNumber) kinds[0] += bounds;
  return kinds.join(' or ');
}

function whatIsWrong({ keyword, message }: ErrorObject, schema: Described): string {
  switch (keyword) {
    case 'type':
      return `must be ${kindOf(schema)}`;
    case 'minimum':
    case 'maximum':
      return `must be ${range(schema.minimum, schema.maximum)}`;
    case 'minLength':
    case 'maxLength':
      return `must have ${range(schema.minLength, schema.maxLength)} characters`;
    case 'minItems':
    case 'maxItems':
      return `must have ${range(schema.minItems, schema.maxItems)} entries`;
    case 'maxProperties':
      return `must have at most ${schema.maxProperties} entries`;
    case 'uniqueItems':
      return 'must not have the same entry twice';
    case 'enum':
      return `must be one of ${(schema.enum ?? []).join(', ')}`;
    case 'pattern':
    case 'format':
      return 'has the wrong format';
    default:
      return message ?? 'is not allowed';
  }
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** Returns the parameter's description and an example, as further sentences of the message. */
function allowed(schema: Described): string {
  const { description } = schema;
  return (description === undefined ? '' : ` ${sentence(description)}`) + exampleOf(schema);
}

/** Describes an invalid parameter in words: the problem, the allowed values, and an example. */
export function inPlainWords(name: string, error: ErrorObject): string {
  const schema = (error.parentSchema ?? {}) as Described;
  if (error.keyword === 'required') {
    const missing = schema.properties?.[String(error.params.missingProperty)] ?? {};
    return `${name} is required.${allowed(missing)}`;
  }
  return `${name} ${whatIsWrong(error, schema)}.${allowed(schema)}`;
}
