export class TaplineError extends Error {
    constructor(message, details = {}) {
        super(message, details);
        this.name = new.target.name;
        const { status = null, type = null, code = null, param = null } = details;
        const { requestId = null, docUrl = null } = details;
        Object.assign(this, { status, type, code, param, requestId, docUrl });
    }
}
