/** What an error says beside its message. */
export interface ErrorDetails {
  /** The HTTP status; null when no answer came. */
  readonly status?: number | null;
  readonly type?: string | null;
  /** Branch on this. New codes may appear: handle those by their type. */
  readonly code?: string | null;
  /** The parameter that the error is about. */
  readonly param?: string | null;
  /** Quote it when you ask for help. */
  readonly requestId?: string | null;
  readonly docUrl?: string | null;
  readonly cause?: unknown;
}

/** Every error of this package is one of these. */
export class TaplineError extends Error {
  declare readonly status: number | null;
  declare readonly type: string | null;
  declare readonly code: string | null;
  declare readonly param: string | null;
  declare readonly requestId: string | null;
  declare readonly docUrl: string | null;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.name = new.target.name;
    const { status = null, type = null, code = null, param = null } = details;
    const { requestId = null, docUrl = null } = details;
    Object.assign(this, { status, type, code, param, requestId, docUrl });
  }
}
