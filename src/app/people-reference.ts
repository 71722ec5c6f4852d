import type { TObject, TSchema } from 'typebox';
import { consentOf } from '#apis/dashboard/consent.ts';
import type { SurfaceRoutes } from '#app/surface-documents.ts';
import { type Asks, asksOf } from '#http/moves.ts';
import type { DeclaredRoute } from '#http/route-errors.ts';

/** The written reference of an API for people, made of its declared routes. */
export interface Reference {
  readonly title: string;
  readonly introduction: string;
  readonly root: string;
  readonly routes: readonly DeclaredRoute[];
}

interface Field {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Field[];
  readonly items?: Field;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly description?: string;
}

/** Errors that every route of these APIs may answer with, told once in the introduction. */
const COMMON = [
  'session_missing',
  'csrf_token_invalid',
  'second_factor_required',
  'role_missing',
  'resource_missing',
];

function typeOf(field: Field): string {
  if (field.enum !== undefined) return field.enum.map((one) => `\`${String(one)}\``).join(', ');
  if (field.anyOf !== undefined) return field.anyOf.map(typeOf).join(' or ');
  if (field.items !== undefined) return `array of ${typeOf(field.items)}`;
  const { type = 'any' } = field;
  return typeof type === 'string' ? type : type.join(' or ');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function fieldLines(schema: TSchema | undefined, where: string): string[] {
  if (schema === undefined) return [];
  const { properties } = schema as TObject;
  const { required = [] } = schema as { required?: readonly string[] };
  return Object.entries(properties).map(([name, value]) => {
    const field = value as Field;
    const must = required.includes(name) ? 'required' : 'optional';
    const about = field.description === undefined ? '' : `. ${field.description}`;
    return `| \`${name}\` (${where}) | ${escapeCell(typeOf(field))}, ${must}${escapeCell(about)} |`;
  });
}

function propertyNames(schema: Field | undefined): string[] {
  if (schema?.anyOf !== undefined) return schema.anyOf.flatMap(propertyNames);
  return Object.keys(schema?.properties ?? {});
}

/** The fields of the answer; of a list those of its objects. */
function answerLines(route: DeclaredRoute): string[] {
  return Object.entries(route.responses).flatMap(([status, { schema }]) => {
    const item = (schema as Field | null)?.properties?.data?.items;
    const names = propertyNames(item ?? (schema as Field | null) ?? undefined);
    if (names.length === 0) return [];
    const what = item === undefined ? '' : ' a list of';
    return [`Answers ${status} with${what} ${names.map((name) => `\`${name}\``).join(', ')}.`, ''];
  });
}

function routeSection(route: DeclaredRoute): string[] {
  const errors = route.errors.filter((code) => !COMMON.includes(code));
  const fields = [...fieldLines(route.query, 'query'), ...fieldLines(route.body, 'body')];
  const upload =
    route.upload === undefined
      ? []
      : [`Body: the bytes of the file, ${route.upload.contentTypes.join(', ')}.`, ''];
  return [
    `### ${route.method} ${route.path}`,
    '',
    `${route.summary}. For: **${route.access}**.${
      route.idempotency === 'required' ? ' `Idempotency-Key` required.' : ''
    }`,
    '',
    ...(route.description === undefined ? [] : [route.description, '']),
    ...upload,
    ...(fields.length === 0 ? [] : ['| parameter | |', '|---|---|', ...fields, '']),
    ...answerLines(route),
    ...(errors.length === 0
      ? []
      : [`Errors: ${errors.map((code) => `\`${code}\``).join(', ')}.`, '']),
  ];
}

/** The whole reference as Markdown. */
export function peopleReference(reference: Reference): string {
  const byTag = Map.groupBy(reference.routes, (route) => route.tag);
  const sections = [...byTag].flatMap(([tag, routes]) => [
    `## ${tag}`,
    '',
    ...routes.flatMap(routeSection),
  ]);
  const head = [
    `# ${reference.title}`,
    '',
    `Everything is below \`${reference.root}\`. ${reference.introduction}`,
    '',
  ];
  return `${[...head, ...sections].join('\n').trimEnd()}\n`;
}

const BEGIN = '<!-- What routes move: npm run people-reference -->\n';
const END = '<!-- End of what routes move -->';

/** What is asked for at APIs whose callers have no second factor. */
const PROOF: Readonly<Record<Exclude<keyof SurfaceRoutes, 'dashboard' | 'operator'>, string>> = {
  merchant: 'API key with its scope',
  device: 'device key',
  payer: 'session of the wallet',
  pay: 'signature of the wallet',
};

const ASKED: Readonly<Record<Asks, string>> = {
  always: 'fresh factor',
  live: 'fresh factor in live mode',
  fresh: 'fresh factor, also a new one',
  own: 'fresh factor, by what is asked for',
  never: 'session',
};

/** At the payer's API the wallet's key is the factor. */
const SIGNED: Readonly<Record<Asks, string>> = {
  always: 'signature of the wallet, at most five minutes old',
  own: 'the same, where it lifts a limit, gives a phone a way to pay or erases; else the session',
  live: PROOF.payer,
  fresh: PROOF.payer,
  never: PROOF.payer,
};

function proofOf(api: keyof SurfaceRoutes, route: DeclaredRoute): string {
  if (api === 'payer') return SIGNED[asksOf(route)];
  if (api !== 'dashboard' && api !== 'operator') return PROOF[api];
  const { asks, mails, fourEyes } = consentOf(route);
  const more = [...(mails ? ['mail to the owners'] : []), ...(fourEyes ? ['a colleague'] : [])];
  return [ASKED[asks], ...more].join(', ');
}

/** Every route that moves money, access or a name, and what its caller has to show. */
function table(routes: SurfaceRoutes): string {
  const lines = Object.entries(routes).flatMap(([name, own]) => {
    const api = name as keyof SurfaceRoutes;
    const moving = (own as readonly DeclaredRoute[]).filter(
      ({ moves }) => moves !== 'data' && moves !== 'nothing',
    );
    return moving.map((route) => {
      const { method, path, moves, access = '' } = route;
      const cells = [api, `\`${method} ${path}\``, moves, access, proofOf(api, route)];
      return `| ${cells.join(' | ')} |`;
    });
  });
  return ['| API | route | moves | for | shows |', '|---|---|---|---|---|', ...lines, ''].join(
    '\n',
  );
}

/** SECURITY.md with the table as the routes are declared now. */
export function withMovesTable(text: string, routes: SurfaceRoutes): string {
  const [before, rest] = text.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (after === undefined) throw new Error('SECURITY.md has lost the place of its table of routes');
  return `${before}${BEGIN}${table(routes)}${END}${after}`;
}
