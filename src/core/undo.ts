/**
 * The steps that undo a start, run in reverse order, so that a failed start leaves nothing running.
 */
export type Undo = (() => Promise<void>)[];

export async function undo(steps: Undo): Promise<void> {
  for (const step of steps.reverse()) await step().catch(() => {});
}
