// The library takes random numbers from Node's module, and browsers have the same object.
export default globalThis.crypto;
