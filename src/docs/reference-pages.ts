import { ERROR_CODES, type ErrorCode } from '#core/error-codes.ts';
import {
  type ApiDocument,
  type Endpoint,
  endpointsOf,
  exampleOf,
  type Parameter,
  parametersOf,
  resolved,
  type Schema,
} from '#docs/api-document.ts';
import {
  curlExample,
  type PackageMethods,
  pythonExample,
  typescriptExample,
} from '#docs/code-examples.ts';
import { slug } from '#docs/markdown.ts';
import { ERROR_MEANINGS } from '#http/error-meanings.ts';

/** A page, not yet rendered. */
export interface PageSource {
  /** Below `/docs/`. */
  readonly name: string;
  readonly title: string;
  readonly group: string;
  readonly markdown: string;
}

const JSON_TYPE = 'application/json';
/** Maximum depth of the nested fields shown; the OpenAPI document contains the deeper ones. */
const MAX_DEPTH = 3;

function withoutNull(schema: Schema): Schema {
  const rest = schema.anyOf?.filter(({ type }) => type !== 'null');
  return rest?.length === 1 && rest[0] !== undefined ? rest[0] : schema;
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return `${schema.$ref.split('/').at(-1)}`;
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  const { type = 'any' } = schema;
  return typeof type === 'string' ? type : type.join(' or ');
}

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly description: string | undefined;
}

function fieldsOf(schema: Schema): Field[] {
  const plain = withoutNull(schema);
  const { properties = {}, required = [] } =
    plain.items === undefined ? plain : withoutNull(plain.items);
  return Object.entries(properties).map(([name, member]) => ({
    name,
    schema: member,
    required: required.includes(name),
    description: member.description ?? withoutNull(member).description,
  }));
}

function fieldLines(fields: readonly Field[], showsRequired: boolean, depth = 0): string[] {
  return fields.flatMap((field) => {
    const { name, schema, required, description = '' } = field;
    const values = withoutNull(schema).enum?.filter((value) => value !== null);
    const suffix = showsRequired && required ? ', **required**' : '';
    const parts = [
      `${'  '.repeat(depth)}- \`${name}\` ${typeOf(schema)}${suffix}.`,
      description.replaceAll('\n', ' '),
      ...(values === undefined ? [] : [`One of ${values.map((v) => `\`${v}\``).join(', ')}.`]),
      ...(schema.default === undefined ? [] : [`Default: \`${schema.default}\`.`]),
    ];
    const inner =
      depth + 1 < MAX_DEPTH ? fieldLines(fieldsOf(schema), showsRequired, depth + 1) : [];
    return [parts.filter((part) => part !== '').join(' '), ...inner];
  });
}

function parameterLines(parameters: readonly Parameter[], location: string): string[] {
  const fields = parameters
    .filter((parameter) => parameter.in === location)
    .map(({ name, schema, required = false, description }) => ({
      name,
      schema,
      required,
      description: description ?? schema.description,
    }));
  return fieldLines(fields, true);
}

function block(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`**${title}**`, lines.join('\n')];
}

function codeBlock(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

function answers(endpoint: Endpoint): string[] {
  return Object.entries(endpoint.responses)
    .filter(([status]) => Number(status) < 400)
    .flatMap(([status, { description = '', content = {} }]) => {
      const json = content[JSON_TYPE];
      const example = exampleOf(json);
      const type = json === undefined ? '' : ` ${typeOf(json.schema)}.`;
      const fields = json?.schema.$ref === undefined ? fieldsOf(json?.schema ?? {}) : [];
      return [
        `**Response ${status}.** ${description}${type}`,
        ...(fields.length === 0 ? [] : [fieldLines(fields, false).join('\n')]),
        ...(example === undefined
          ? []
          : [codeBlock(`json Response ${status}`, JSON.stringify(example, null, 2))]),
      ];
    });
}

function errors(endpoint: Endpoint, document: ApiDocument): string[] {
  const codes = Object.entries(endpoint.responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, response]) => {
      const { content } = resolved(document.components.responses, response);
      return Object.keys(content?.[JSON_TYPE]?.examples ?? {});
    });
  const links = codes.map((code) => `[\`${code}\`](/docs/errors#${code})`);
  return links.length === 0 ? [] : [`**Errors.** ${links.join(', ')}`];
}

function operation(endpoint: Endpoint, document: ApiDocument, methods: PackageMethods): string[] {
  const parameters = parametersOf(endpoint, document);
  const body = endpoint.requestBody?.content[JSON_TYPE]?.schema;
  const { method, path, summary, description = '' } = endpoint;
  return [
    `## ${summary}`,
    `\`${method} ${path}\``,
    ...(description === summary ? [] : [description]),
    codeBlock('bash', curlExample(endpoint, parameters)),
    codeBlock('ts', typescriptExample(endpoint, parameters, methods)),
    // Show Python only for the merchant API, because the other APIs have no client.
    ...(methods.size === 0 ? [] : [codeBlock('python', pythonExample(endpoint))]),
    ...block('Path', parameterLines(parameters, 'path')),
    ...block('Query', parameterLines(parameters, 'query')),
    ...block('Headers', parameterLines(parameters, 'header')),
    ...(body === undefined ? [] : block('Body', fieldLines(fieldsOf(body), true))),
    ...answers(endpoint),
    ...errors(endpoint, document),
  ];
}

/** Returns the objects that a page's operations return, by name in the document. */
function objectsOf(endpoints: readonly Endpoint[], document: ApiDocument): string[] {
  const text = JSON.stringify(endpoints);
  const { schemas } = document.components;
  const named = Object.entries(schemas).filter(
    ([name]) => name !== 'Error' && text.includes(`"#/components/schemas/${name}"`),
  );
  return named.flatMap(([name, schema]) => [
    `## The object ${name}`,
    ...(schema.description === undefined ? [] : [schema.description]),
    fieldLines(fieldsOf(schema), false).join('\n'),
  ]);
}

function messages(document: ApiDocument): string[] {
  return Object.entries(document.webhooks ?? {}).flatMap(([type, { post }]) => {
    const example = exampleOf(post.requestBody?.content[JSON_TYPE]);
    return [`## ${type}`, post.summary, codeBlock('json', JSON.stringify(example, null, 2))];
  });
}

/** The tag of the webhook messages that endpoints receive. */
const MESSAGES = 'Webhooks';

/** Returns one page per resource of an API. */
export function referencePages(
  document: ApiDocument,
  section: { readonly group: string; readonly prefix: string; readonly methods: PackageMethods },
): PageSource[] {
  const endpoints = endpointsOf(document);
  const { group, prefix, methods } = section;
  // Tags without operations describe all operations, and the guides cover them.
  const isResource = ({ name }: { readonly name: string }) =>
    name === MESSAGES || endpoints.some(({ tags }) => tags.includes(name));
  return document.tags.filter(isResource).map(({ name, description }) => {
    const own = endpoints.filter(({ tags }) => tags.includes(name));
    const markdown = [
      `# ${name}`,
      description,
      ...own.flatMap((endpoint) => operation(endpoint, document, methods)),
      ...(own.length === 0 ? messages(document) : objectsOf(own, document)),
    ].join('\n\n');
    return { name: `${prefix}${slug(name)}`, title: name, group, markdown: `${markdown}\n` };
  });
}

/**
 * Returns the page of error codes, each under its own heading. `doc_url` links to these headings.
 */
export function errorsPage(): PageSource {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  const sections = codes.flatMap((code) => {
    const [status, type] = ERROR_CODES[code];
    return [`## ${code}`, `Status ${status}, type \`${type}\`.`, ERROR_MEANINGS[code]];
  });
  const markdown = [
    '# Errors',
    'Every error has this shape. Branch on `code`. The list may grow, so handle an unknown code ' +
      'by its `type`.',
    codeBlock(
      'json',
      JSON.stringify(
        {
          error: {
            type: 'invalid_request_error',
            code: 'parameter_invalid',
            message: 'amount must be a whole number from 1 to 1000000000000. Example: 2500000.',
            param: 'amount',
            request_id: 'req_01QzXo0KcV5sVQ2pWm8Tn3',
            doc_url: 'https://pay.example/docs/errors#parameter_invalid',
          },
        },
        null,
        2,
      ),
    ),
    ...sections,
  ].join('\n\n');
  return { name: 'errors', title: 'Errors', group: 'Reference', markdown: `${markdown}\n` };
}
