import type { Sql } from '#db/database.ts';

/** The position of a row in a payer's list, which has active objects first, then newest first. */
export interface OwnPlace {
  /** Not revoked. */
  readonly active: boolean;
  readonly created: Date;
  readonly id: string;
}

export interface OwnPage {
  readonly limit: number;
  /** The last row of the previous page; `null` for the first page. */
  readonly after: OwnPlace | null;
}

interface OwnRow {
  readonly id: string;
  readonly created: Date;
  readonly revoked_at: Date | null;
}

export function placeOf({ id, created, revoked_at }: OwnRow): OwnPlace {
  return { active: revoked_at === null, created, id };
}

/** Reads one page of a payer's rows, plus one row if there is a next page. */
export async function selectActiveFirst<Row extends OwnRow>(
  sql: Sql,
  /** SQL names. They must come from our code, never from a client. */
  list: { readonly name: string; readonly columns: string },
  payerId: string,
  { limit, after }: OwnPage,
): Promise<Row[]> {
  const behind =
    after === null ? '' : 'and ((revoked_at is null), created, id) < ($3::boolean, $4, $5)';
  const position = after === null ? [] : [after.active, after.created, after.id];
  return sql.query<Row>(
    `select ${list.columns} from ${list.name} where payer_id = $1 ${behind}
     order by (revoked_at is null) desc, created desc, id desc limit $2`,
    [payerId, limit + 1, ...position],
  );
}
