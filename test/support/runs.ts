import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    isThorough: boolean;
  }
}

/** How many cases a property draws: all in `npm run test:properties`, a tenth of them in `npm test`. */
export function runs(all: number): number {
  return inject('isThorough') ? all : Math.ceil(all / 10);
}
