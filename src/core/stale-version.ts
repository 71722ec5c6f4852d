import { type Refusal, refuse } from '#core/answer.ts';

/**
 * Refuses an edit of an object that was changed since it was read, so that nothing is overwritten.
 */
export function staleVersion(current: number): Refusal {
  return refuse(
    'version_conflict',
    `This object has changed since you read it and is now at version ${current}. Nothing ` +
      'was saved. Read it again and repeat your change.',
    'version',
  );
}
