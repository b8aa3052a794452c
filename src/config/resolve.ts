import path from 'node:path';
import type { Config, Source } from './config.ts';
import type { Overrides } from './overrides.ts';
import type { Settings } from './schema.ts';
import { isWebAddress, type SourceSettings } from './source-schema.ts';

/** Where the settings come from and what is said instead of them. */
type Circumstances = { file: string; environment: string; overrides: Overrides };

/** The file's settings as the program uses them: paths absolute from the file's folder, overrides in, frozen. */
export function resolveConfig(settings: Settings, { file, environment, overrides }: Circumstances): Config {
  const folder = path.dirname(file);
  const absolute = (written: string) => path.resolve(folder, written);
  const url = overrides.redisUrl ?? settings.redis.url;
  return frozen({
    ...settings,
    file,
    environment,
    data: absolute(settings.data),
    redis: url === undefined ? {} : { url },
    sources: settings.sources.map((source) => resolveSource(source, absolute)),
    reports: { ...settings.reports, path: absolute(settings.reports.path) },
    notify: settings.notify.map(({ command, ...notice }) =>
      command === undefined ? notice : { ...notice, command: resolveCommand(command, absolute) },
    ),
    admin: { ...settings.admin, port: overrides.adminPort ?? settings.admin.port },
  });
}

function resolveSource(source: SourceSettings, absolute: (written: string) => string): Source {
  return source.type === 'export' && isWebAddress(source.path) ? source : { ...source, path: absolute(source.path) };
}

/** `./notify.sh` is a file beside the configuration; a bare name is looked for in PATH. */
function resolveCommand([program = '', ...args]: readonly string[], absolute: (written: string) => string): string[] {
  return [program.includes('/') ? absolute(program) : program, ...args];
}

function frozen<Value extends object>(value: Value): Value {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) frozen(inner);
  return Object.freeze(value);
}
