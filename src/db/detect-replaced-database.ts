/**
 * Tracks the identity of the connected database and the position of its log. It detects a failover,
 * a point-in-time restore and a restored copy.
 */

/** A new connection's view of its server. */
export interface DatabaseView {
  /** System identifier and OID of the database; a copy has different ones. */
  readonly system: string;
  /** Increases when a replica is promoted, and at the end of a point-in-time restore. */
  readonly timeline: string;
  /** The end of its log, in bytes. */
  readonly position: bigint;
  /** The start of the newest checkpoint, and its timeline. */
  readonly checkpoint: { readonly timeline: string; readonly position: bigint };
}

/** The identity of a database, and the position up to which its log is on disk. */
export type DatabasePlace = Pick<DatabaseView, 'system' | 'timeline' | 'position'>;

/**
 * The permissions of this process on a network's ledger. `closed`: only read. `serving`: no data
 * loss is known. `signing`: in addition, the chain knows nothing that the ledger lacks.
 */
export type LedgerState = 'closed' | 'serving' | 'signing';

/**
 * This process's knowledge of a network's ledger in the connected database.
 *
 * | trust        | meaning                                                | ends with           |
 * |--------------|--------------------------------------------------------|---------------------|
 * | `unknown`    | It was not compared with its chain: a loss would not   | a comparison        |
 * |              | show.                                                  |                     |
 * | `agreed`     | It knew every nonce of our keys that the chain did.    | another database,   |
 * |              | From here on a loss shows.                             | or a shorter log    |
 * | `suspicious` | The chain knows a nonce that it lacks. Operators are   | their answer, or a  |
 * |              | asked whether the database was restored.               | node that denies it |
 * | `confirmed`  | It has lost rows, and the network's recovery does not  | `lossRecorded`      |
 * |              | know of it yet.                                        |                     |
 */
export type LedgerTrust = 'unknown' | 'agreed' | 'suspicious' | 'confirmed';

/**
 * Returns system and timeline as one text: a network's recovery is done for this cluster identity.
 */
export function clusterIdOf({ system, timeline }: DatabaseView): string {
  return `${system}/${timeline}`;
}

/** Returns `16/B374D848` as a number of bytes. */
export function walPosition(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/**
 * Tracks nothing until a network is guarded (`recovery/detect-lost-commits.ts`), so tests and
 * commands that only use the database are not affected.
 */
export class DatabaseWatch {
  readonly #states = new Map<boolean, LedgerState>();
  /** Trust by mode, if it differs from the trust at the start. */
  readonly #trust = new Map<boolean, LedgerTrust>();
  readonly #listeners = new Set<() => void>();
  #view: DatabaseView | null = null;
  /** The database's identity and position that were recorded before this process began. */
  #expected: DatabasePlace | null = null;
  /** `agreed` if the database has not gone back since the last record before this process began. */
  #trustAtStart: 'unknown' | 'agreed' = 'unknown';
  /** Everything up to this position was on disk, according to the known database. */
  #highest = 0n;
  #changes = 0;
  #epoch = 0;

  /** Returns how often the database was replaced or went back to an earlier state. */
  get changes(): number {
    return this.#changes;
  }

  /**
   * Returns how often the database changed or a connection broke. Findings of an earlier epoch may
   * be outdated.
   */
  get epoch(): number {
    return this.#epoch;
  }

  /** Returns the connected database's cluster id; `null` before the first connection. */
  get clusterId(): string | null {
    return this.#view === null ? null : clusterIdOf(this.#view);
  }

  /**
   * Returns the position up to which the log is known to be on disk. Read it before identifying a
   * new connection.
   */
  get highest(): bigint {
    return this.#highest;
  }

  /**
   * Returns the identity and position to record for the next start; `null` if there are none yet,
   * or a loss is not handled yet.
   */
  get place(): DatabasePlace | null {
    const isLossOpen = [...this.#trust.values()].includes('confirmed');
    if (this.#view === null || this.#highest === 0n || isLossOpen) return null;
    const { system, timeline } = this.#view;
    return { system, timeline, position: this.#highest };
  }

  /**
   * Sets the identity and position that were recorded before this process began. Call it before the
   * first connection.
   */
  expect(place: DatabasePlace): void {
    this.#expected = place;
  }

  /** Records that the database has lost data since it was last seen. */
  showLoss(): void {
    for (const livemode of [false, true]) this.#trust.set(livemode, 'confirmed');
  }

  /**
   * Records that the log is on disk up to here. (A position that is only written may be lost in a
   * crash.)
   */
  note(position: bigint): void {
    if (position > this.#highest) this.#highest = position;
  }

  /**
   * True if a commit went to a database other than the known one, or to one that was reset to an
   * earlier state: behind a pooler the server may change without breaking any of our connections.
   * @param before The highest position when the statement was sent.
   */
  isOther(
    wanted: { readonly timeline: string; readonly position: bigint },
    before: bigint,
  ): boolean {
    return this.#view?.timeline !== wanted.timeline || wanted.position < before;
  }

  /**
   * Call it for a new connection before the connection is used.
   * @param before The highest position when the query was sent: commits acknowledged to others
   * while the response was in flight do not mean that the same database was reset to an earlier
   * state.
   */
  meet(view: DatabaseView, before = this.#highest): void {
    const known = this.#view;
    this.#view = view;
    if (known === null) {
      if (this.#expected === null) return;
      if (isBehind(view, this.#expected)) this.showLoss();
      else if (this.#expected.system === view.system) this.#trustAtStart = 'agreed';
      return;
    }
    const moved = clusterIdOf(known) !== clusterIdOf(view);
    const behind = isBehind(view, { ...known, position: moved ? this.#highest : before });
    if (!moved && !behind) return;
    this.#highest = 0n;
    this.#trustAtStart = 'unknown';
    for (const [livemode, trust] of this.#trust)
      if (trust === 'agreed') this.#trust.delete(livemode);
    this.#changes++;
    for (const livemode of this.#states.keys()) {
      if (behind) this.#trust.set(livemode, 'confirmed');
      this.#states.set(livemode, 'closed');
    }
    this.#turn();
  }

  /** Call it when a connection broke: nothing is signed until the next connection was checked. */
  broke(): void {
    for (const [livemode, state] of this.#states) {
      if (state === 'signing') this.#states.set(livemode, 'serving');
    }
    this.#turn();
  }

  #turn(): void {
    this.#epoch++;
    for (const listener of this.#listeners) listener();
  }

  /**
   * Closes the network until its guard has checked it.
   * @returns a function that removes the guard.
   */
  guard(livemode: boolean, onTurn: () => void): () => void {
    this.#states.set(livemode, 'closed');
    this.#listeners.add(onTurn);
    return () => {
      this.#states.delete(livemode);
      this.#trust.delete(livemode);
      this.#listeners.delete(onTurn);
    };
  }

  /**
   * Applies what was found about a network during this epoch; ignores it if the epoch has changed.
   */
  stand(
    livemode: boolean,
    found: { readonly state: LedgerState; readonly trust: LedgerTrust },
    epoch: number,
  ): void {
    if (epoch !== this.#epoch || !this.#states.has(livemode)) return;
    this.#states.set(livemode, found.state);
    this.#trust.set(livemode, found.trust);
  }

  trust(livemode: boolean): LedgerTrust {
    return this.#trust.get(livemode) ?? this.#trustAtStart;
  }

  /** Call it when the network's recovery has recorded the loss. */
  lossRecorded(livemode: boolean): void {
    if (this.trust(livemode) === 'confirmed') this.#trust.delete(livemode);
  }

  /** True if objects may be created, canceled, paid or refunded on the network. */
  serves(livemode: boolean): boolean {
    return this.#states.get(livemode) !== 'closed';
  }

  /** True if a sender of the network may sign. */
  signs(livemode: boolean): boolean {
    return (this.#states.get(livemode) ?? 'signing') === 'signing';
  }
}

/**
 * True if the database lacks data that was seen on disk. Positions of another system are ignored.
 */
function isBehind(view: DatabaseView, seen: DatabasePlace): boolean {
  const moved = seen.timeline !== view.timeline;
  return seen.system === view.system && startOf(view, moved) < seen.position;
}

/**
 * Returns the position up to which this database's log equals the previous database's. A new
 * timeline writes immediately, so its first checkpoint, which begins where the old log ends, is
 * more precise than its position.
 */
function startOf({ position, timeline, checkpoint }: DatabaseView, moved: boolean): bigint {
  const says = moved && checkpoint.timeline === timeline && checkpoint.position < position;
  return says ? checkpoint.position : position;
}

interface ViewRow {
  readonly system: string;
  readonly timeline: string | null;
  readonly position: string | null;
  readonly checkpoint_timeline: string;
  readonly checkpoint_position: string;
}

export const VIEW = `
  select s.system_identifier || '/' || d.oid as system,
    case when not pg_is_in_recovery()
      then substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) end as timeline,
    case when not pg_is_in_recovery() then pg_current_wal_insert_lsn()::text end as position,
    lpad(upper(to_hex(c.timeline_id)), 8, '0') as checkpoint_timeline,
    c.redo_lsn::text as checkpoint_position
  from pg_control_system() s, pg_control_checkpoint() c,
    (select oid from pg_database where datname = current_database()) d`;

/** Reads a new connection's view; `null` for a replica, which takes no writes. */
export function toView(row: ViewRow | undefined): DatabaseView | null {
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
