import { createHash } from 'node:crypto';
import { ERROR_CODES, type ErrorCode } from '#core/refusal.ts';
import { ERROR_MEANINGS } from '#http/error-meanings.ts';
import { codeBlock, escapeHtml, inlineHtml, proseHtml, slug } from '#ops/reference-markup.ts';
import { fieldsHtml, objectFields, type Schema } from '#ops/reference-schema.ts';
import { SCRIPT, STYLE } from '#ops/reference-style.ts';

interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Response {
  readonly description?: string;
  readonly content?: { readonly 'application/json'?: Content };
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': Content } };
  readonly responses: Readonly<Record<string, Response & { readonly $ref?: string }>>;
}

/** What the page reads of an OpenAPI document. */
export interface ReferenceDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

interface Endpoint extends Operation {
  readonly method: string;
  readonly path: string;
}

function endpointsOf(document: ReferenceDocument): Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
}

function byName<T>(components: Readonly<Record<string, T>>, of: { readonly $ref?: string }): T {
  const found = components[of.$ref?.split('/').at(-1) ?? ''];
  return found ?? (of as T);
}

function curl(endpoint: Endpoint, parameters: readonly Parameter[]): string {
  const path = endpoint.path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => `$${name.toUpperCase()}`,
  );
  const lines = [`curl "$TAPLINE_URL${path}"`, '-H "Authorization: Bearer $TAPLINE_KEY"'];
  const body = endpoint.requestBody?.content['application/json'].example;
  if (endpoint.method !== 'GET' && (endpoint.method !== 'POST' || body === undefined)) {
    lines.splice(1, 0, `-X ${endpoint.method}`);
  }
  if (parameters.some(({ name }) => name === 'Idempotency-Key')) {
    lines.push('-H "Idempotency-Key: $(uuidgen)"');
  }
  if (body !== undefined) {
    lines.push('-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`);
  }
  return lines.join(' \\\n  ');
}

function tableHtml(head: string, rows: readonly string[]): string {
  const body = `<thead>${head}</thead><tbody>${rows.join('\n')}</tbody>`;
  return `<div class="wide"><table>${body}</table></div>`;
}

function errorsHtml(endpoint: Endpoint, document: ReferenceDocument): string {
  const rows = Object.entries(endpoint.responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([status, response]) => {
      const { content } = byName(document.components.responses, response);
      const codes = content?.['application/json']?.schema.properties?.error?.properties?.code?.enum;
      const items = (codes ?? []).map(
        (code) => `<li><a href="#errors/${code}"><code>${code}</code></a></li>`,
      );
      return `<tr><td>${status}</td><td><ul class="codes">${items.join('')}</ul></td></tr>`;
    });
  return `<details><summary>Errors</summary>${tableHtml('', rows)}</details>`;
}

function parametersHtml(parameters: readonly Parameter[], place: string, title: string): string {
  const fields = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, schema, required = false, description }) => ({
      name,
      schema,
      required,
      description,
    }));
  return fields.length === 0 ? '' : `<h4>${title}</h4>${fieldsHtml(fields)}`;
}

function responsesHtml(endpoint: Endpoint): string {
  return Object.entries(endpoint.responses)
    .filter(([status]) => Number(status) < 400)
    .map(([status, { description = '', content }]) => {
      const json = content?.['application/json'];
      const type =
        json === undefined
          ? ''
          : fieldsHtml([{ name: 'body', schema: json.schema, required: null, description }]);
      const example =
        json?.example === undefined
          ? ''
          : codeBlock(JSON.stringify(json.example, null, 2), `Answer ${status}`);
      return `<h4>Answer ${status}</h4>${type === '' ? proseHtml(description) : type}${example}`;
    })
    .join('\n');
}

function endpointHtml(endpoint: Endpoint, document: ReferenceDocument): string {
  const parameters = (endpoint.parameters ?? []).map((parameter) =>
    byName(document.components.parameters, parameter),
  );
  const body = endpoint.requestBody?.content['application/json'].schema;
  const { operationId, method, path, summary, description = '' } = endpoint;
  const search = escapeHtml(`${method} ${path} ${summary} ${operationId}`.toLowerCase());
  return `<article class="operation" id="${operationId}" data-search="${search}">
<h3><a href="#${operationId}">${escapeHtml(summary)}</a></h3>
<p class="call"><span class="method ${method.toLowerCase()}">${method}</span>
<code>${escapeHtml(path)}</code></p>
${proseHtml(description)}
${codeBlock(curl(endpoint, parameters), 'Request')}
${parametersHtml(parameters, 'path', 'Path')}
${parametersHtml(parameters, 'query', 'Query')}
${body === undefined ? '' : `<h4>Body</h4>${fieldsHtml(objectFields(body, true))}`}
${parametersHtml(parameters, 'header', 'Headers')}
${responsesHtml(endpoint)}
${errorsHtml(endpoint, document)}
</article>`;
}

function webhookHtml([type, { post }]: [string, { readonly post: Operation }]): string {
  const example = post.requestBody?.content['application/json'].example;
  return `<article class="operation" id="webhooks/${type}" data-search="webhook event ${type}">
<h3><a href="#webhooks/${type}"><code>${type}</code></a></h3>
${proseHtml(post.summary)}
<details><summary>Example</summary>${codeBlock(JSON.stringify(example, null, 2), type)}</details>
</article>`;
}

function objectHtml([name, schema]: [string, Schema]): string {
  const search = `object ${name.toLowerCase()}`;
  return `<article class="object operation" id="objects/${name}" data-search="${search}">
<h3><a href="#objects/${name}">${name}</a></h3>
${fieldsHtml(objectFields(schema, false))}
</article>`;
}

function errorHtml(code: ErrorCode): string {
  const [status, type] = ERROR_CODES[code];
  const search = `error ${code} ${status} ${type}`;
  return `<tr id="errors/${code}" data-search="${search}">
<td><a href="#errors/${code}"><code>${code}</code></a></td>
<td>${status}</td><td><code>${type}</code></td><td>${inlineHtml(ERROR_MEANINGS[code])}</td></tr>`;
}

function navigationHtml(endpoints: readonly Endpoint[], document: ReferenceDocument): string {
  const groups = document.tags.map(({ name }) => {
    const items = endpoints
      .filter(({ tags }) => tags.includes(name))
      .map(({ operationId, summary }) => {
        const link = `<a href="#${operationId}">${escapeHtml(summary)}</a>`;
        return `<li data-for="${operationId}">${link}</li>`;
      });
    const title = `<a href="#${slug(name)}">${escapeHtml(name)}</a>`;
    return `<li class="group">${title}</li>${items.join('')}`;
  });
  const rest = ['Objects', 'Errors'].map(
    (name) => `<li class="group"><a href="#${slug(name)}">${name}</a></li>`,
  );
  return `<nav aria-label="Contents">
<input type="search" placeholder="Search ( / )" aria-label="Search the reference" hidden>
<details open><summary>Contents</summary>
<ul>${[...groups, ...rest].join('')}</ul></details></nav>`;
}

function sectionHtml(title: string, intro: string, content: string): string {
  const heading = `<h2 id="${slug(title)}">${escapeHtml(title)}</h2>`;
  return `<section>${heading}${proseHtml(intro)}${content}</section>`;
}

const OF_OBJECTS = 'Fields may be added at any time: ignore what you do not know.';
const OF_ERRORS = 'Branch on `code`. The list may grow: handle what you do not know by its `type`.';

function mainHtml(endpoints: readonly Endpoint[], document: ReferenceDocument): string {
  const sections = document.tags.map(({ name, description }) => {
    const own = endpoints.filter(({ tags }) => tags.includes(name));
    const articles = own.map((endpoint) => endpointHtml(endpoint, document));
    const messages = name === 'Webhooks' ? Object.entries(document.webhooks).map(webhookHtml) : [];
    return sectionHtml(name, description, [...articles, ...messages].join('\n'));
  });
  const mentioned = JSON.stringify(document.paths) + JSON.stringify(document.components.responses);
  const codes = (Object.keys(ERROR_CODES) as ErrorCode[]).filter(
    (code) =>
      mentioned.includes(`"${code}"`) || code === 'route_missing' || code === 'method_not_allowed',
  );
  const head = '<tr><th>Code</th><th>Status</th><th>Type</th><th>Meaning</th></tr>';
  const { schemas } = document.components;
  const objects = Object.entries(schemas).filter(
    ([name]) => !/^Event[A-Z]/.test(name) || name === 'EventList',
  );
  return [
    ...sections,
    sectionHtml('Objects', OF_OBJECTS, objects.map(objectHtml).join('\n')),
    sectionHtml('Errors', OF_ERRORS, tableHtml(head, codes.map(errorHtml))),
  ].join('\n');
}

const START = `<figure class="code"><figcaption>Before you begin</figcaption>
<pre tabindex="0"><code>export TAPLINE_URL=<span data-origin>http://127.0.0.1:4242</span>/api
export TAPLINE_KEY=tlsk_test_…</code></pre></figure>`;

export interface ReferencePage {
  readonly html: string;
  /** Lets the page's own script and style run, and nothing else. */
  readonly contentSecurityPolicy: string;
}

/** The API reference as one page that needs nothing from elsewhere, and no script to be read. */
export function renderReference(document: ReferenceDocument): ReferencePage {
  const endpoints = endpointsOf(document);
  const { title, version, description } = document.info;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} reference</title>
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#top">Skip to the reference</a>
<div class="page">
${navigationHtml(endpoints, document)}
<main id="top">
<h1>${escapeHtml(title)}</h1>
<p class="about">Version ${escapeHtml(version)} · <a href="/openapi.json">openapi.json</a></p>
${proseHtml(description)}
${START}
<p class="empty" hidden>Nothing fits.</p>
${mainHtml(endpoints, document)}
</main>
</div>
<script>${SCRIPT}</script>
</body>
</html>
`;
  const digest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const contentSecurityPolicy = [
    "default-src 'none'",
    `style-src ${digest(STYLE)}`,
    `script-src ${digest(SCRIPT)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { html, contentSecurityPolicy };
}
