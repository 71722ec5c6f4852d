import { type Refusal, refuse } from '#core/answer.ts';

/** An edit of something that was changed since it was read: nothing is overwritten. */
export function staleVersion(current: number): Refusal {
  return refuse(
    'version_conflict',
    `Somebody changed this in the meantime: it is at version ${current} now. Nothing was saved. ` +
      'Read it again and repeat your change.',
    'version',
  );
}
