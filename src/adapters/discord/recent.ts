/** A map that keeps only the newest entries, so that nothing learnt from a platform grows without end. Setting or reading an entry makes it new. */

/** A bounded map. */
export interface Recent<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  /** The keys now, oldest first. */
  keys(): readonly string[];
  readonly size: number;
}

/** Creates one that holds at most `limit` entries. */
export function createRecent<V>(limit: number): Recent<V> {
  const entries = new Map<string, V>();
  const renew = (key: string, value: V) => {
    entries.delete(key);
    entries.set(key, value);
  };
  return {
    get(key) {
      const value = entries.get(key);
      if (value !== undefined) renew(key, value);
      return value;
    },
    set(key, value) {
      renew(key, value);
      const oldest = entries.keys().next();
      if (entries.size > limit && !oldest.done) entries.delete(oldest.value);
    },
    delete: (key) => void entries.delete(key),
    keys: () => [...entries.keys()],
    get size() {
      return entries.size;
    },
  };
}
