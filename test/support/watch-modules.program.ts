// Loaded with `node --import`: writes the packages of OpenTelemetry that a process imports to the file of
// LOADED_PACKAGES. prom-client always imports one of them.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const { LOADED_PACKAGES: file } = process.env;

registerHooks({
  resolve(specifier, context, next) {
    const isOther =
      !specifier.startsWith('@opentelemetry/') || context.parentURL?.includes('/prom-client/');
    if (isOther) return next(specifier, context);
    if (file) appendFileSync(file, `${specifier}\n`);
    return next(specifier, context);
  },
});
