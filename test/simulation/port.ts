import type { Store } from './store.ts';

/** A Lua script of ours in TypeScript; `scripts.test.ts` holds each against the real one in a real Redis. */
export type Port = (store: Store, keys: readonly string[], args: readonly string[]) => unknown;
