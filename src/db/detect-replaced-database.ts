/**
 * Tracks which database the process is connected to, and the position of its log, to detect a
 * failover, a point-in-time restore or a restored copy.
 */

/** A new connection's report about its server. */
export interface DatabaseView {
  /**
   * System identifier of the server and OID of the database. They differ in a database that was
   * restored from a dump.
   */
  readonly system: string;
  /** The timeline, which increases when a replica is promoted and after a point-in-time restore. */
  readonly timeline: string;
  /** The end of the server's log, in bytes. */
  readonly position: bigint;
  /** The start of the newest checkpoint, and its timeline. */
  readonly checkpoint: { readonly timeline: string; readonly position: bigint };
}

/** The identity of a database, and the position up to which its log is on disk. */
export type DatabasePlace = Pick<DatabaseView, 'system' | 'timeline' | 'position'>;

/**
 * The actions that this process may take on a network's ledger. `closed`: only read. `serving`:
 * serve requests, because no data loss is known. `signing`: also sign, because the chain knows
 * nothing that the ledger lacks.
 */
export type LedgerState = 'closed' | 'serving' | 'signing';

/**
 * How far this process trusts a network's ledger in the connected database.
 *
 * | trust        | meaning                                                | ends with           |
 * |--------------|--------------------------------------------------------|---------------------|
 * | `unknown`    | Not compared with its chain yet, so a loss of data     | a comparison        |
 * |              | would go unnoticed.                                    |                     |
 * | `agreed`     | It contained every nonce of our keys that the chain    | another database,   |
 * |              | had. From then on, a loss is noticed.                  | or a shorter log    |
 * | `suspicious` | The chain has a nonce that the ledger lacks. Operators | their answer, or a  |
 * |              | are asked whether the database was restored.           | node that denies it |
 * | `confirmed`  | It has lost rows, and the network's recovery does not  | `lossRecorded`      |
 * |              | know that yet.                                         |                     |
 */
export type LedgerTrust = 'unknown' | 'agreed' | 'suspicious' | 'confirmed';

/** A network's recovery runs once per such identity. */
export function clusterIdOf({ system, timeline }: DatabaseView): string {
  return `${system}/${timeline}`;
}

/** Parses a log position such as `16/B374D848` as a number of bytes. */
export function walPosition(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/**
 * Tracks the database behind a process's connections. Has no effect until a network is guarded
 * (`recovery/detect-lost-commits.ts`), so tests and commands that only use the database are not
 * affected.
 */
export class DatabaseWatch {
  readonly #states = new Map<boolean, LedgerState>();
  /** Trust in the ledger of each mode, where it differs from the trust at the start. */
  readonly #trust = new Map<boolean, LedgerTrust>();
  readonly #listeners = new Set<() => void>();
  #view: DatabaseView | null = null;
  /** The identity and position that an earlier process recorded for its database. */
  #expected: DatabasePlace | null = null;
  /** `agreed` if the database has not gone back since an earlier process recorded its position. */
  #trustAtStart: 'unknown' | 'agreed' = 'unknown';
  /** The highest log position that is known to be on disk in the known database. */
  #highest = 0n;
  #changes = 0;
  #epoch = 0;

  /** Returns how many times the database was replaced or went back to an earlier state. */
  get changes(): number {
    return this.#changes;
  }

  /**
   * Returns how many times the database changed or a connection broke. Findings from an earlier
   * epoch may be outdated.
   */
  get epoch(): number {
    return this.#epoch;
  }

  /** Returns the cluster id of the connected database; `null` before the first connection. */
  get clusterId(): string | null {
    return this.#view === null ? null : clusterIdOf(this.#view);
  }

  /**
   * Returns the log position that is known to be on disk. Read it before identifying a new
   * connection.
   */
  get highest(): bigint {
    return this.#highest;
  }

  /**
   * Returns the identity and position to record for the next start. `null` if they are unknown, or
   * while a loss is not handled.
   */
  get place(): DatabasePlace | null {
    const isLossOpen = [...this.#trust.values()].includes('confirmed');
    if (this.#view === null || this.#highest === 0n || isLossOpen) return null;
    const { system, timeline } = this.#view;
    return { system, timeline, position: this.#highest };
  }

  /**
   * Sets the identity and position that an earlier process recorded. Call it before the first
   * connection.
   */
  expect(position: DatabasePlace): void {
    this.#expected = position;
  }

  /** Records that the database has lost data since an earlier process used it. */
  showLoss(): void {
    for (const livemode of [false, true]) this.#trust.set(livemode, 'confirmed');
  }

  /**
   * Records that the log is on disk up to this position. (Do not pass a position that was only
   * written, because a crash may lose it.)
   */
  note(position: bigint): void {
    if (position > this.#highest) this.#highest = position;
  }

  /**
   * True if a commit went to a database other than the known one, or to one that went back to an
   * earlier state. Behind a pooler, the server may change without breaking any of our connections.
   * @param before the highest known position when the statement was sent
   */
  isOther(
    expected: { readonly timeline: string; readonly position: bigint },
    before: bigint,
  ): boolean {
    return this.#view?.timeline !== expected.timeline || expected.position < before;
  }

  /**
   * Call it for each new connection, before the connection is used.
   * @param before the highest known position when the query was sent. Commits that were
   * acknowledged while its response was in flight do not mean that the database went back.
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

  /** Call it when a connection has broken. Nothing is signed until a new connection was checked. */
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
   * Closes a network to requests until its guard has checked the ledger. `onTurn` is called when
   * the database changes or a connection breaks.
   * @returns a function that removes the guard
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
   * Applies what the guard found about a network in this epoch. Does nothing if the epoch has
   * changed.
   */
  stand(
    livemode: boolean,
    current: { readonly state: LedgerState; readonly trust: LedgerTrust },
    epoch: number,
  ): void {
    if (epoch !== this.#epoch || !this.#states.has(livemode)) return;
    this.#states.set(livemode, current.state);
    this.#trust.set(livemode, current.trust);
  }

  trust(livemode: boolean): LedgerTrust {
    return this.#trust.get(livemode) ?? this.#trustAtStart;
  }

  /** Call it when the recovery of the network has recorded the loss. */
  lossRecorded(livemode: boolean): void {
    if (this.trust(livemode) === 'confirmed') this.#trust.delete(livemode);
  }

  /** True if objects may be created, canceled, paid or refunded on the network. */
  serves(livemode: boolean): boolean {
    return this.#states.get(livemode) !== 'closed';
  }

  /** True if senders of the network may sign. */
  signs(livemode: boolean): boolean {
    return (this.#states.get(livemode) ?? 'signing') === 'signing';
  }
}

/**
 * True if the database lacks data that was seen on its disk. Positions of another system are not
 * comparable and count as not lost.
 */
function isBehind(view: DatabaseView, seen: DatabasePlace): boolean {
  const moved = seen.timeline !== view.timeline;
  return seen.system === view.system && startOf(view, moved) < seen.position;
}

/**
 * Returns the position up to which this database's log equals the previous database's log. A new
 * timeline's log grows immediately, so its end is too far. Its first checkpoint starts where the
 * old log ends.
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

/** `null` for a replica, which accepts no writes. */
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
