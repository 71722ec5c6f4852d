import { type Refusal, refuse } from '#core/answer.ts';

/**
 * Refuses to edit an object that was changed since the caller read it, so that no change is
 * overwritten.
 */
export function staleVersion(current: number): Refusal {
  return refuse(
    'version_conflict',
    `This object has changed since you read it and is now at version ${current}. Nothing ` +
      'was saved. Read it again and repeat your change.',
    'version',
  );
}
