/** Details of an error besides its message. */
export interface ErrorDetails {
  /** The HTTP status, or `null` without a response. */
  readonly status?: number | null;
  readonly type?: string | null;
  /** Branch on this. New codes may be added: handle unknown ones by their type. */
  readonly code?: string | null;
  /** The parameter that caused the error. */
  readonly param?: string | null;
  /** Include it in support requests. */
  readonly requestId?: string | null;
  readonly docUrl?: string | null;
  readonly cause?: unknown;
}

/** Base class of all errors of this package. */
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
