import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { bodyOf, cellsOnly } from '#apis/cells/cell-routes.ts';
import { SignInSchema } from '#apis/cells/sign-in-elsewhere.ts';
import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { WaitingSchema } from '#apis/operator/cells-route.ts';
import type { OtherCell } from '#apis/operator/operator-dependencies.ts';
import { selectWaiting } from '#apis/operator/operator-queries.ts';
import { FoundSchema, search } from '#apis/operator/support-search-routes.ts';
import { askOthers, CELLS_ROOT, type CellSettings } from '#cells/ask-other-cells.ts';
import { isRefusal } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import { checkPassword } from '#people/sign-in.ts';
import type { Realm } from '#people/user-queries.ts';

/**
 * Each person and each account belongs to one cell. If a person signs in at another cell, the
 * response has the address of their own cell. A staff search in one cell returns the results of all
 * cells, and the console shows the work that waits in each cell.
 */

const PAGES: Readonly<Record<Realm, string>> = { merchant: '/dashboard', operator: '/operator' };

const SearchSchema = Type.Object({ text: Type.String({ minLength: 1, maxLength: 254 }) });
const FoundHereSchema = Type.Object({
  console_url: Type.String(),
  data: Type.Array(FoundSchema, { maxItems: 1_000 }),
});

const WaitingHereSchema = Type.Object({ console_url: Type.String(), waiting: WaitingSchema });

export function addCellPeopleRoutes(
  app: FastifyInstance,
  clock: Clock,
  cell: {
    readonly cells: CellSettings;
    readonly settings: Readonly<Record<Realm, SurfaceSettings>>;
  },
): void {
  const { cells, settings } = cell;
  if (cells.others.length === 0) return;
  const options = { onRequest: cellsOnly(cells) };
  app.post(`${CELLS_ROOT}/sign_ins`, options, async (request, reply) => {
    const input = bodyOf(request);
    if (!Value.Check(SignInSchema, input)) return reply.code(400).send();
    const { people } = settings[input.realm];
    const { realm, email, password, address, user_agent: userAgent } = input;
    const visit = { address, userAgent, now: clock.now() };
    const credentials = { realm, email, password, deviceToken: null, visit };
    const user = await checkPassword(people, credentials);
    return reply.send(isRefusal(user) ? {} : { url: `${people.webUrl}${PAGES[realm]}` });
  });
  app.post(`${CELLS_ROOT}/searches`, options, async (request, reply) => {
    const input = bodyOf(request);
    if (!Value.Check(SearchSchema, input)) return reply.code(400).send();
    const { people } = settings.operator;
    const data = await search(people.db, input.text, clock.now());
    return reply.send({ console_url: people.webUrl, data });
  });
  app.post(`${CELLS_ROOT}/waiting`, options, async (_request, reply) => {
    const { people } = settings.operator;
    const waiting = await selectWaiting(people.db, clock.now());
    return reply.send({ console_url: people.webUrl, waiting });
  });
}

/** The result includes cells that do not respond. */
export async function waitingOfOthers(cells: CellSettings): Promise<OtherCell[]> {
  const answers = await askOthers(cells, { path: '/waiting', body: {} });
  const said = new Map(answers.map((answer) => [answer.cell, answer.said]));
  return cells.others.map(({ cell }) => {
    const told = said.get(cell);
    return Value.Check(WaitingHereSchema, told)
      ? { cell, console_url: told.console_url, waiting: told.waiting }
      : { cell, console_url: null, waiting: null };
  });
}

export async function searchOthers(cells: CellSettings, text: string): Promise<object[]> {
  const answers = await askOthers(cells, { path: '/searches', body: { text } });
  return answers.flatMap(({ cell, said }) =>
    Value.Check(FoundHereSchema, said)
      ? said.data.map((entry) => ({ ...entry, cell, console_url: said.console_url }))
      : [],
  );
}
