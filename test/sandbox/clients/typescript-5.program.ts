import { registerHooks } from 'node:module';

// openapi-typescript needs the API of TypeScript 5, which TypeScript 7 no longer has.
registerHooks({
  resolve: (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context),
});
