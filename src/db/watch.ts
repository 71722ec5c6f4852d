/**
 * What a process knows of the database that it is connected to: which one it is, and how far its
 * log has come. A failover, a point-in-time restore or a copy that was put back show there.
 */

/** What a new connection says of its server. */
export interface DatabaseSight {
  /** System identifier and object id of the database: another one is a copy. */
  readonly system: string;
  /** Counts up when a replica takes over, and at the end of a point-in-time restore. */
  readonly timeline: string;
  /** The end of its log, in bytes. */
  readonly position: bigint;
  /** Where the newest checkpoint began, and on which timeline. */
  readonly checkpoint: { readonly timeline: string; readonly position: bigint };
}

/** Which database it is, and how far its log is on disk. */
export type DatabasePlace = Pick<DatabaseSight, 'system' | 'timeline' | 'position'>;

/**
 * What this process may do on a network's ledger. `closed`: only read. `serving`: the database has
 * lost nothing that we know of. `signing`: nor does the chain know more than it.
 */
export type LedgerStanding = 'closed' | 'serving' | 'signing';

/**
 * What this process knows of a network's ledger on the database that it is connected to.
 *
 * | trust        | meaning                                                | ends with           |
 * |--------------|--------------------------------------------------------|---------------------|
 * | `unknown`    | It was not compared with its chain: a loss would not   | a comparison        |
 * |              | show.                                                  |                     |
 * | `agreed`     | It knew every nonce of our keys that the chain did.    | another database,   |
 * |              | From here on a loss shows.                             | or a shorter log    |
 * | `suspicious` | The chain knows a nonce that it lacks. Operators are   | their answer, or a  |
 * |              | asked whether the database was restored.               | node that denies it |
 * | `confirmed`  | It has lost rows, and the network's recovery does not  | `toldOfLoss`        |
 * |              | know of it yet.                                        |                     |
 */
export type LedgerTrust = 'unknown' | 'agreed' | 'suspicious' | 'confirmed';

/** One text for a system and its timeline: what a network's recovery is done for. */
export function incarnationOf({ system, timeline }: DatabaseSight): string {
  return `${system}/${timeline}`;
}

/** `16/B374D848` as a number of bytes. */
export function walPosition(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/**
 * Nothing is watched over until somebody guards a network (`settlement/network-guard.ts`): tests
 * and commands that only touch the database go on as they are.
 */
export class DatabaseWatch {
  readonly #standings = new Map<boolean, LedgerStanding>();
  /** By mode, where it is not as at the start. */
  readonly #trust = new Map<boolean, LedgerTrust>();
  readonly #listeners = new Set<() => void>();
  #sight: DatabaseSight | null = null;
  /** What was seen of the database before this process began. */
  #expected: DatabasePlace | null = null;
  /** `agreed` if it has not gone back since it was seen before this process began. */
  #trustAtStart: 'unknown' | 'agreed' = 'unknown';
  /** Everything up to here was on disk, as the database that we know has said. */
  #highest = 0n;
  #changes = 0;
  #epoch = 0;

  /** Times that the database turned out to be another one, or to have gone back. */
  get changes(): number {
    return this.#changes;
  }

  /** Counts every broken connection as well: what was found out about the database may be old. */
  get epoch(): number {
    return this.#epoch;
  }

  /** null before the first connection. */
  get incarnation(): string | null {
    return this.#sight === null ? null : incarnationOf(this.#sight);
  }

  /** How far the log is known to be on disk: read it before a new connection is asked. */
  get highest(): bigint {
    return this.#highest;
  }

  /** What to remember of the database. null: nothing yet, or a loss is not acted upon yet. */
  get place(): DatabasePlace | null {
    const isLossOpen = [...this.#trust.values()].includes('confirmed');
    if (this.#sight === null || this.#highest === 0n || isLossOpen) return null;
    const { system, timeline } = this.#sight;
    return { system, timeline, position: this.#highest };
  }

  /** What was seen of the database before this process began. Before the first connection. */
  expect(place: DatabasePlace): void {
    this.#expected = place;
  }

  /** The database has lost something since it was last seen. */
  showLoss(): void {
    for (const livemode of [false, true]) this.#trust.set(livemode, 'confirmed');
  }

  /** The log is on disk up to here. (What is only written may be gone after a crash.) */
  note(position: bigint): void {
    if (position > this.#highest) this.#highest = position;
  }

  /**
   * Whether a commit went to another database than the one that we know, or to one that has gone
   * back: behind a pooler the server may change without breaking any connection of ours.
   * @param before What was the highest when it was asked.
   */
  isOther(
    wanted: { readonly timeline: string; readonly position: bigint },
    before: bigint,
  ): boolean {
    return this.#sight?.timeline !== wanted.timeline || wanted.position < before;
  }

  /**
   * A new connection is open. Call it before the connection is used for anything.
   * @param before What was the highest when it was asked: commits that others were told of while
   * the answer was on its way are no sign that the same database has gone back.
   */
  meet(sight: DatabaseSight, before = this.#highest): void {
    const known = this.#sight;
    this.#sight = sight;
    if (known === null) {
      if (this.#expected === null) return;
      if (isBehind(sight, this.#expected)) this.showLoss();
      else if (this.#expected.system === sight.system) this.#trustAtStart = 'agreed';
      return;
    }
    const moved = incarnationOf(known) !== incarnationOf(sight);
    const behind = isBehind(sight, { ...known, position: moved ? this.#highest : before });
    if (!moved && !behind) return;
    this.#highest = 0n;
    this.#trustAtStart = 'unknown';
    for (const [livemode, trust] of this.#trust)
      if (trust === 'agreed') this.#trust.delete(livemode);
    this.#changes++;
    for (const livemode of this.#standings.keys()) {
      if (behind) this.#trust.set(livemode, 'confirmed');
      this.#standings.set(livemode, 'closed');
    }
    this.#turn();
  }

  /** A connection broke: whatever answers next has to be looked at before anything is signed. */
  broke(): void {
    for (const [livemode, standing] of this.#standings) {
      if (standing === 'signing') this.#standings.set(livemode, 'serving');
    }
    this.#turn();
  }

  #turn(): void {
    this.#epoch++;
    for (const listener of this.#listeners) listener();
  }

  /** Closes the network until somebody has looked. @returns the way to give the guard up. */
  guard(livemode: boolean, onTurn: () => void): () => void {
    this.#standings.set(livemode, 'closed');
    this.#listeners.add(onTurn);
    return () => {
      this.#standings.delete(livemode);
      this.#trust.delete(livemode);
      this.#listeners.delete(onTurn);
    };
  }

  /** What was found out while the epoch was `epoch`; nothing if it is another one by now. */
  stand(
    livemode: boolean,
    found: { readonly standing: LedgerStanding; readonly trust: LedgerTrust },
    epoch: number,
  ): void {
    if (epoch !== this.#epoch || !this.#standings.has(livemode)) return;
    this.#standings.set(livemode, found.standing);
    this.#trust.set(livemode, found.trust);
  }

  trust(livemode: boolean): LedgerTrust {
    return this.#trust.get(livemode) ?? this.#trustAtStart;
  }

  /** The network's recovery knows of the loss. */
  toldOfLoss(livemode: boolean): void {
    if (this.trust(livemode) === 'confirmed') this.#trust.delete(livemode);
  }

  /** Whether anything may be created, canceled, paid or given back on the network. */
  serves(livemode: boolean): boolean {
    return this.#standings.get(livemode) !== 'closed';
  }

  /** Whether a sender of the network may sign. */
  signs(livemode: boolean): boolean {
    return (this.#standings.get(livemode) ?? 'signing') === 'signing';
  }
}

/** Whether it lacks what was seen on disk. Positions of another system say nothing. */
function isBehind(sight: DatabaseSight, seen: DatabasePlace): boolean {
  const moved = seen.timeline !== sight.timeline;
  return seen.system === sight.system && startOf(sight, moved) < seen.position;
}

/**
 * How far the log had come that this database has in common with the one before. A new timeline
 * writes on at once, so its first checkpoint, which begins where the old log ends, says it better.
 */
function startOf({ position, timeline, checkpoint }: DatabaseSight, moved: boolean): bigint {
  const says = moved && checkpoint.timeline === timeline && checkpoint.position < position;
  return says ? checkpoint.position : position;
}

interface SightRow {
  readonly system: string;
  readonly timeline: string | null;
  readonly position: string | null;
  readonly checkpoint_timeline: string;
  readonly checkpoint_position: string;
}

export const SIGHT = `
  select s.system_identifier || '/' || d.oid as system,
    case when not pg_is_in_recovery()
      then substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) end as timeline,
    case when not pg_is_in_recovery() then pg_current_wal_insert_lsn()::text end as position,
    lpad(upper(to_hex(c.timeline_id)), 8, '0') as checkpoint_timeline,
    c.redo_lsn::text as checkpoint_position
  from pg_control_system() s, pg_control_checkpoint() c,
    (select oid from pg_database where datname = current_database()) d`;

/** null: a replica, which takes no writes. */
export function toSight(row: SightRow | undefined): DatabaseSight | null {
  if (row === undefined || row.timeline === null || row.position === null) return null;
  return {
    system: row.system,
    timeline: row.timeline,
    position: walPosition(row.position),
    checkpoint: {
      timeline: row.checkpoint_timeline,
      position: walPosition(row.checkpoint_position),
    },
  };
}
