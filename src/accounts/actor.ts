/** Who changes something, for the audit log. */
export type Actor =
  | {
      readonly type: 'user';
      readonly userId: string;
      readonly email: string;
      readonly requestId: string;
      readonly address: string;
    }
  | {
      readonly type: 'operator';
      readonly userId: string;
      readonly email: string;
      readonly requestId: string;
      readonly address: string;
    }
  | {
      /** A command or a worker of the service itself: `admin command`, `demo data`, … */
      readonly type: 'system';
      readonly name: string;
    };

/** The short name that other rows keep of who did it: a user's id, or the system's part. */
export function actorId(actor: Actor): string {
  return actor.type === 'system' ? actor.name : actor.userId;
}
