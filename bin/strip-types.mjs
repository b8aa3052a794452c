// Node.js does not strip types below `node_modules`, where an installed package is. With this module
// (`node --import`), it does: the same sources run from a checkout and from a package, with the same line numbers.
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

const own = new URL('../src/', import.meta.url).href;

registerHooks({
  load(url, context, next) {
    if (!url.startsWith(own) || !url.endsWith('.ts')) return next(url, context);
    const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'), {
      mode: 'strip',
    });
    return { format: 'module', source, shortCircuit: true };
  },
});
