import type { Schema } from '#docs/api-document.ts';
import { type Model, modelsOf } from '#docs/api-models.ts';

type NameOf = Model['nameOf'];

/** Returns the PHP type of a value, without null. */
function phpType(schema: Schema, nameOf: NameOf): string {
  const named = nameOf(schema);
  if (named !== null) return named;
  const { anyOf, type } = schema;
  if (anyOf !== undefined) {
    const [only = 'mixed', ...others] = new Set(
      anyOf.filter((one) => one.type !== 'null').map((one) => phpType(one, nameOf)),
    );
    return others.length === 0 ? only : 'mixed';
  }
  if (schema.const !== undefined) return PLAIN[typeof schema.const] ?? 'mixed';
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null');
  return types.length === 1 ? (PLAIN[String(types[0])] ?? 'mixed') : 'mixed';
}

const PLAIN: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  object: 'array',
  array: 'array',
};

function isNullable({ anyOf, type }: Schema): boolean {
  return type === 'null' || type?.includes('null') === true || anyOf?.some(isNullable) === true;
}

/** Returns the model of a value or, for a list, of its items. */
function modelIn(
  schema: Schema,
  nameOf: NameOf,
): { readonly name: string; readonly isList: boolean } | null {
  const name = nameOf(schema);
  if (name !== null) return { name, isList: false };
  if (schema.items !== undefined) {
    const item = nameOf(schema.items);
    return item === null ? null : { name: item, isList: true };
  }
  const inner = (schema.anyOf ?? []).filter((one) => one.type !== 'null');
  return inner.length === 1 && inner[0] !== undefined ? modelIn(inner[0], nameOf) : null;
}

function readingOf(field: string, schema: Schema, nameOf: NameOf): string {
  const given = `$data['${field}'] ?? null`;
  const model = modelIn(schema, nameOf);
  if (model === null) return given;
  const { name, isList } = model;
  const one = isList
    ? `array_map(${name}::from(...), $data['${field}'])`
    : `${name}::from($data['${field}'])`;
  return `isset($data['${field}']) ? ${one} : null`;
}

function classOf({ name, about, fields, nameOf }: Model): string {
  // The value of a field is null if the field is optional or a later API version omits it.
  const parameters = fields.map(({ name: field, schema, isRequired }) => {
    const type = phpType(schema, nameOf);
    const isOptional = (!isRequired || isNullable(schema)) && type !== 'mixed';
    return `        public readonly ${isOptional ? '?' : ''}${type} $${field},\n`;
  });
  const values = fields.map(({ name: field, schema }) => {
    return `            ${readingOf(field, schema, nameOf)},\n`;
  });
  return `<?php

declare(strict_types=1);

namespace Tapline\\Model;

/** ${about.replaceAll('*/', '* /')} Made of openapi.json when the package was packed. */
final class ${name}
{
    public function __construct(
${parameters.join('')}    ) {
    }

    /** @param array<string, mixed> $data what the client returns; unknown fields are ignored */
    public static function from(array $data): self
    {
        return new self(
${values.join('')}        );
    }
}
`;
}

/** Creates `src/Model/*.php`, by file name: the merchant API's objects as classes. */
export function phpModels(document: Parameters<typeof modelsOf>[0]): ReadonlyMap<string, string> {
  return new Map(modelsOf(document).map((model) => [`${model.name}.php`, classOf(model)]));
}
