// Replaces Node's crypto module, which the library imports for random numbers; browsers have the
// same object.
export default globalThis.crypto;
