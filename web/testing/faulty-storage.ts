/**
 * Lets `open()` never answer while `isStuck` is stored in this tab, and lets `transaction()` throw
 * as often as `throwsLeft` says.
 */
export function faultyStorage(): void {
  const { open } = IDBFactory.prototype;
  IDBFactory.prototype.open = function (...parts) {
    if (sessionStorage.getItem('isStuck') === null) return open.apply(this, parts);
    return new EventTarget() as IDBOpenDBRequest;
  };
  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function (...parts) {
    const page = globalThis as { throwsLeft?: number; throwsFor?: string };
    const names = String(parts[0]);
    if ((page.throwsLeft ?? 0) > 0 && names === (page.throwsFor ?? names)) {
      page.throwsLeft = (page.throwsLeft ?? 0) - 1;
      throw new DOMException('The database connection is closing.', 'InvalidStateError');
    }
    Object.assign(globalThis, { closeDatabase: () => this.dispatchEvent(new Event('close')) });
    return transaction.apply(this, parts);
  };
}
