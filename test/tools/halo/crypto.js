// The library imports random numbers from Node's module; browsers have the same object.
export default globalThis.crypto;
