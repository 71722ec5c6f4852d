import type { Sql } from '#db/database.ts';

/** Returns every database column that contains this text, sorted and written as `table.column`. */
export async function findText(sql: Sql, text: string): Promise<string[]> {
  const columns = await sql.query<{ table: string; column: string }>(
    `select c.table_name as table, c.column_name as column
     from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
       and c.data_type in ('text', 'character varying', 'json', 'jsonb', 'ARRAY')
     order by 1, 2`,
  );
  if (columns.length < 100) throw new Error(`only ${columns.length} columns were searched`);
  const found: string[] = [];
  for (const { table, column } of columns) {
    const rows = await sql.query(
      `select 1 from "${table}" where strpos(lower("${column}"::text), lower($1)) > 0 limit 1`,
      [text],
    );
    if (rows.length > 0) found.push(`${table}.${column}`);
  }
  return found;
}
