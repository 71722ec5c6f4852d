import { readFile } from 'node:fs/promises';
import type { Client } from 'pg';

/**
 * Runs one of the repository's SQL files as psql would, for machines without psql. Variables are
 * inserted as strings, and `\\gexec` runs the results of a query.
 */
export async function runPsqlScript(
  client: Client,
  file: string,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const lines = (await readFile(file, 'utf8')).replaceAll(/^(\s*--|\\getenv).*$/gm, '');
  for (const part of lines.split(/;|\\gexec/)) {
    const sql = part.replaceAll(/:'?(\w+_)?password'?/g, (name) => {
      const value = variables[name.replaceAll(/[:']/g, '')];
      if (value === undefined) throw new Error(`${file} asks for ${name}`);
      return client.escapeLiteral(value);
    });
    if (sql.trim() === '') continue;
    const { rows } = await client.query<Record<string, string>>(sql);
    for (const row of rows) for (const made of Object.values(row)) await client.query(made);
  }
}
