import { NETWORKS } from '#core/mode.ts';
import { CHAIN_SECTIONS } from '#settings/chain-setting-table.ts';
import { chainPrefix } from '#settings/setting-names.ts';
import { GENERAL_SECTIONS, type SettingRow, type SettingSection } from '#settings/setting-table.ts';

const COMMENT_WIDTH = 100;

const PAGE_HEAD = `# Settings

All settings are environment variables. The sandbox needs none of them. If a setting is unknown or
invalid, the start fails with one line that names it. [.env.example](../.env.example) lists all of
them with their defaults. [operate.md](operate.md) says which ones production needs, and
[configure.md](configure.md) explains them.
\`npm run settings-reference\` writes this page from \`src/settings\`.

\`npm start -- --roles api\`, \`worker\`, \`registrar\` or \`watch\` runs one part of the
service; any number of processes share one database. \`npm start -- --lan\` lets phones on your
network reach the sandbox.
`;

const CHAIN_HEAD = `## Settings of a network

Each has the prefix \`CHAIN_TESTNET_\` or \`CHAIN_MAINNET_\`. A setting from the first two
tables makes the network's chain an external one; without any, the embedded chain runs.
`;

/** Renders docs/settings.md. */
export function settingsPage(): string {
  const general = GENERAL_SECTIONS.map((section) => table(section, '##'));
  const chain = CHAIN_SECTIONS.map((section) => table(section, '###'));
  return [PAGE_HEAD, ...general, CHAIN_HEAD, ...chain].join('\n');
}

function table({ title, rows }: SettingSection, level: string): string {
  const lines = rows.map((row) => {
    const value = row.default === '' ? (row.without ?? 'none') : `\`${row.default}\``;
    const since = row.since === undefined ? '' : ` Since ${row.since}.`;
    const cells = [`\`${row.name}\``, value, row.unit ?? '', row.what + since];
    return `| ${cells.join(' | ')} |\n`;
  });
  const head = '| name | default | unit | what |\n|---|---|---|---|\n';
  return `${level} ${title}\n\n${head}${lines.join('')}`;
}

/** Renders `.env.example`: every setting with its default, in the order of the code. */
export function envExample(): string {
  const head = comment(
    'Every setting with its default; an empty one has none. The sandbox needs none of them; ' +
      'docs/operate.md says what production needs. "npm run settings-reference" writes this file.',
  );
  const general = GENERAL_SECTIONS.flatMap(({ rows }) => rows.map((row) => example(row, '')));
  const chains = NETWORKS.flatMap((network) =>
    CHAIN_SECTIONS.flatMap(({ rows }) => rows.map((row) => example(row, chainPrefix(network)))),
  );
  return [head, ...general, ...chains].join('\n');
}

function example(row: SettingRow, prefix: string): string {
  const unit = row.unit === undefined ? '' : ` Unit: ${row.unit}.`;
  const without = row.without === undefined ? '' : ` Without it: ${row.without}.`;
  return `${comment(`${row.what}${unit}${without}`)}${prefix}${row.name}=${row.default}\n`;
}

/** Returns a comment's lines, without Markdown markup. */
function comment(text: string): string {
  const plain = text
    .replaceAll('`', '')
    .replaceAll('’', "'")
    .replace(/\[([^\]]*)\]\(([^)]*)\)/g, 'docs/$2');
  const lines: string[] = ['#'];
  for (const word of plain.split(' ')) {
    const last = lines.at(-1) ?? '#';
    if (last.length + word.length < COMMENT_WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`# ${word}`);
  }
  return `${lines.join('\n')}\n`;
}
