interface Shape {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly minLength?: number;
}

const ID_PART = '01QzXo0KcV5sVQ2pWm8Tn3';
const ID_PATTERN = /^\^(\w+_)\[/;
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-10-01T12:00:00.000Z',
  email: 'ana@shop.example',
  uri: 'https://shop.example/hooks',
};

/** Example texts by field name. */
const BY_NAME: Readonly<Record<string, string>> = {
  email: 'ana@shop.example',
  password: 'correct horse battery staple',
  current_password: 'correct horse battery staple',
  name: 'Blue Door Café',
  label: 'Counter 1',
  reason: 'Asked for by phone',
  url: 'https://shop.example/hooks',
  code: '492817',
  address: '0x3E175Aa94FA00cBA237dB1264A249658017c258b',
  signature: `0x${'5a'.repeat(65)}`,
  tx_hash: `0x${'8f'.repeat(32)}`,
};

const HEX = '5a';
const SIGNATURE_BYTES = 65;
const BYTES = [20, 32, 16];

/** Example texts. A field gets the first one that matches its pattern. */
const SAMPLES: readonly string[] = [
  BY_NAME.address ?? '',
  `0x${HEX.repeat(SIGNATURE_BYTES)}`,
  ...BYTES.map((bytes) => `0x${HEX.repeat(bytes)}`),
  ...BYTES.map((bytes) => HEX.repeat(bytes)),
  '2026-10-01',
  'DE',
  '#0a7d4c',
];

function textExample({ pattern = '', format = '', minLength = 0 }: Shape, name: string): string {
  const prefix = ID_PATTERN.exec(pattern)?.[1];
  if (prefix !== undefined) return prefix + ID_PART;
  const matching = SAMPLES.find((sample) => pattern !== '' && new RegExp(pattern).test(sample));
  if (matching !== undefined) return matching;
  const known = FORMATS[format] ?? BY_NAME[name] ?? name.replaceAll('_', ' ');
  return known.padEnd(minLength, '.');
}

/** Returns a value that the schema accepts, for examples of requests and responses. */
export function exampleFrom(schema: unknown, name = 'text'): unknown {
  const shape = schema as Shape;
  if (shape.const !== undefined) return shape.const;
  if (shape.examples?.[0] !== undefined) return shape.examples[0];
  if (shape.default !== undefined) return shape.default;
  if (shape.enum !== undefined) return shape.enum[0];
  const choice = shape.anyOf?.find(({ type }) => type !== 'null');
  if (choice !== undefined) return exampleFrom(choice, name);
  switch ([shape.type].flat()[0]) {
    case 'object': {
      const members = Object.entries(shape.properties ?? {});
      return Object.fromEntries(members.map(([key, member]) => [key, exampleFrom(member, key)]));
    }
    case 'array':
      return shape.items === undefined ? [] : [exampleFrom(shape.items, name)];
    case 'integer':
    case 'number':
      return Math.max(shape.minimum ?? 0, 1);
    case 'boolean':
      return true;
    case 'string':
      return textExample(shape, name);
    default:
      return null;
  }
}
