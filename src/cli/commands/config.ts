import { existsSync } from 'node:fs';
import { configJsonSchema } from '../../config/schema.ts';
import { redactedConfig, showConfig } from '../../config/show.ts';
import {
  ADMIN_TOKENS,
  REDIS_VARIABLES,
  type Variables,
  variablePrefix,
} from '../../config/variables.ts';
import { type CommonArgs, openConfig } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { printable } from '../terminal/print.ts';

/** `config show`: the resolved configuration, secrets redacted, and which secrets are set. */
export async function configShowCommand(args: Partial<CommonArgs>, shell: Shell): Promise<number> {
  const { config, warnings } = await openConfig(args, shell, { confirm: false });
  const variables = variablesOf(Object.keys(config.environments), shell.env);
  if (args.json) {
    shell.out(
      `${JSON.stringify({ config: redactedConfig(config), variables, warnings }, null, 2)}\n`,
    );
    return 0;
  }
  const states = Object.entries(variables);
  const lines = states.map(([name, state]) => `#   ${name}: ${state}${fileOf(name, shell.env)}\n`);
  shell.out(`# ${config.file}\n${showConfig(config)}# variables\n${lines.join('')}`);
  for (const warning of warnings) shell.err(`${warning}\n`);
  return 0;
}

/** `config schema`: the JSON Schema of the configuration file, with or without `--json`. */
export async function configSchemaCommand(
  _: Partial<CommonArgs>,
  shell: Pick<Shell, 'out'>,
): Promise<number> {
  shell.out(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  return 0;
}

/** Whether each secret is set, directly or by a file; never its value. */
function variablesOf(environments: readonly string[], env: Variables): Record<string, string> {
  const credentials = environments
    .map(variablePrefix)
    .flatMap((prefix) => [`${prefix}_CLIENT_ID`, `${prefix}_CLIENT_SECRET`]);
  const redis = REDIS_VARIABLES.filter((name) => env[name] || env[`${name}_FILE`]);
  const names = [...credentials, ...Object.values(ADMIN_TOKENS), ...redis];
  return Object.fromEntries(names.map((name) => [name, stateOf(name, env)]));
}

function stateOf(name: string, env: Variables): string {
  if (env[name] !== undefined) return 'set';
  return env[`${name}_FILE`] === undefined ? 'not set' : 'set by a file';
}

/** The file of a secret, for somebody who replaces it. Anything else in its variable may be the secret, by mistake. */
function fileOf(name: string, env: Variables): string {
  const file = env[`${name}_FILE`];
  return env[name] !== undefined || file === undefined || !existsSync(file)
    ? ''
    : `, ${printable(file)}`;
}
