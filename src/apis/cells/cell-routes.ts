import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { answerPresentation } from '#cells/answer-presentation.ts';
import { CELLS_ROOT, type CellSettings } from '#cells/ask-other-cells.ts';
import { readPresentation } from '#cells/presentation-schema.ts';
import { deleteVisitingPasses } from '#cells/visit-queries.ts';
import { equalInConstantTime, hashSecret } from '#core/bearer-secrets.ts';
import type { ApiContext } from '#payments/api-context.ts';

/**
 * This file has the routes by which cells call each other. They answer 404 to callers without the
 * cells' shared secret. A network of one cell does not have them.
 */

const EndsSchema = Type.Object({
  presented: Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' }), { maxItems: 1_000 }),
});

/** Returns the request's body; `null` if it is not JSON. */
export function bodyOf(request: FastifyRequest): unknown {
  try {
    return JSON.parse(String(request.body));
  } catch {
    return null;
  }
}

/** Returns a hook that answers 404 to callers without the cells' shared secret. */
export function cellsOnly({ secret }: CellSettings) {
  const expected = hashSecret(`Bearer ${secret}`);
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const shown = hashSecret(request.headers.authorization ?? '');
    if (!equalInConstantTime(shown, expected)) return reply.code(404).send();
  };
}

export function addCellRoutes(app: FastifyInstance, ctx: ApiContext, cells: CellSettings): void {
  if (cells.others.length === 0) return;
  const onRequest = cellsOnly(cells);
  app.post(`${CELLS_ROOT}/presentations`, { onRequest }, async (request, reply) => {
    const presentation = readPresentation(bodyOf(request));
    const answer = presentation === null ? null : await answerPresentation(ctx, presentation);
    return answer === null ? reply.code(400).send() : reply.send(answer);
  });
  app.post(`${CELLS_ROOT}/ends`, { onRequest }, async (request, reply) => {
    const ends = bodyOf(request);
    if (!Value.Check(EndsSchema, ends)) return reply.code(400).send();
    await deleteVisitingPasses(
      ctx.db,
      ends.presented.map((hash) => Buffer.from(hash, 'hex')),
    );
    return reply.send({});
  });
  app.post(`${CELLS_ROOT}/self`, { onRequest }, async (_request, reply) =>
    reply.send({ cell: cells.own }),
  );
}
