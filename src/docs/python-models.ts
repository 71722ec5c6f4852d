import type { Schema } from '#docs/api-document.ts';
import { type Model, type ModelField, modelsOf } from '#docs/api-models.ts';

/** Possible field names of the API that cannot be fields of a Python class. */
const KEYWORDS = new Set(['from', 'class', 'def', 'import', 'in', 'is', 'pass', 'global']);

function typeOf(schema: Schema, name: (schema: Schema) => string | null): string {
  const named = name(schema);
  const { anyOf, type, items } = schema;
  if (named !== null) return unionOf([`"${named}"`, ...(type?.includes('null') ? ['None'] : [])]);
  if (anyOf !== undefined) return unionOf(anyOf.map((one) => typeOf(one, name)));
  // Enums may get more values, so only constants become literals.
  if (schema.const !== undefined) {
    return typeof schema.const === 'boolean'
      ? `Literal[${schema.const ? 'True' : 'False'}]`
      : `Literal[${JSON.stringify(schema.const)}]`;
  }
  const types = Array.isArray(type) ? type : [type];
  return unionOf(types.map((one) => plainType(String(one), items, name)));
}

function plainType(
  type: string,
  items: Schema | undefined,
  name: (schema: Schema) => string | null,
): string {
  if (type === 'array') return `List[${items === undefined ? 'Any' : typeOf(items, name)}]`;
  const plain: Readonly<Record<string, string>> = {
    string: 'str',
    integer: 'int',
    number: 'float',
    boolean: 'bool',
    null: 'None',
    object: 'Dict[str, Any]',
  };
  return plain[type] ?? 'Any';
}

function unionOf(types: readonly string[]): string {
  const [only = 'Any', ...others] = [...new Set(types)];
  return others.length === 0 ? only : `Union[${[only, ...others].join(', ')}]`;
}

function linesOf(fields: readonly ModelField[], model: Model): string[] {
  return fields.map(({ name, schema }) => `    ${name}: ${typeOf(schema, model.nameOf)}`);
}

/** Writes a TypedDict class; in Python 3.9 optional fields need a separate class. */
function classOf(model: Model): string {
  const { name, about, fields } = model;
  const needed = fields.filter(({ isRequired }) => isRequired);
  const others = fields.filter(({ isRequired }) => !isRequired);
  // If a field's name is not a Python identifier, create the class by a call instead.
  if (fields.some((field) => KEYWORDS.has(field.name) || !/^[A-Za-z_]\w*$/.test(field.name))) {
    const entries = fields.map((one) => {
      return `    ${JSON.stringify(one.name)}: ${typeOf(one.schema, model.nameOf)},\n`;
    });
    return `${name} = TypedDict("${name}", {\n${entries.join('')}}, total=False)`;
  }
  const doc = `    """${about.replaceAll('\\', '\\\\').replaceAll('"""', '')}"""`;
  if (others.length === 0) {
    return [`class ${name}(TypedDict):`, doc, ...linesOf(needed, model)].join('\n');
  }
  return [
    `class _${name}(TypedDict):`,
    ...(needed.length === 0 ? ['    pass'] : linesOf(needed, model)),
    '',
    '',
    `class ${name}(_${name}, total=False):`,
    doc,
    ...linesOf(others, model),
  ].join('\n');
}

/** Writes `tapline/models.py`: the merchant API's objects as types for mypy and editors. */
export function pythonModels(document: Parameters<typeof modelsOf>[0]): string {
  const classes = modelsOf(document).map(classOf);
  return [
    '"""The objects of the merchant API, made of openapi.json when the package was packed.',
    '',
    'They are types alone: what the client returns are dictionaries.',
    '',
    '    payment: models.Payment = cast(models.Payment, tapline.payments.retrieve("pay_..."))',
    '"""',
    '',
    'from __future__ import annotations',
    '',
    'from typing import Any, Dict, List, Literal, TypedDict, Union',
    '',
    '',
    `${classes.join('\n\n\n')}\n`,
  ].join('\n');
}
