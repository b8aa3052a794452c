import path from 'node:path';
import type { Config, Source } from './config.ts';
import { findingsOf, wordingOf } from './issues.ts';
import { chooseEnvironment, type Overrides, readOverrides } from './overrides.ts';
import { type ConfigProblem, type Finding, pathText } from './problem.ts';
import { type Readable, readableParts } from './readable.ts';
import { deliveryRule, environmentRule, exposureRule } from './rules/environments.ts';
import { type Ruling, type Surroundings, together } from './rules/ruling.ts';
import { folderRule, mappingRule, sourceRule } from './rules/sources.ts';
import { configSchema, type Settings } from './schema.ts';
import { isWebAddress, type SourceSettings } from './source-schema.ts';
import type { Variables } from './variables.ts';
import { readYaml, type YamlFile } from './yaml-file.ts';

type ConfigSource = {
  /** The YAML text. */
  text: string;
  /** Where it was read, absolute: relative paths in it start at this file's folder. */
  file: string;
  env: Variables;
  /** The environment that the command line names. */
  environment?: string;
};

export type LoadedConfig =
  | { ok: true; config: Config; warnings: ConfigProblem[] }
  | { ok: false; problems: ConfigProblem[] };

/**
 * Reads a configuration file's text into a frozen `Config`, or tells everything that is wrong with it at once, in
 * the order of the file. Pure: touches neither disk nor network, so whether folders exist is not asked here.
 */
export function loadConfig({ text, file, env, environment }: ConfigSource): LoadedConfig {
  const yaml = readYaml(text.replace(/^\uFEFF/, ''));
  const faults = yaml.faults.map((fault) => ({ file, path: '', ...fault }));
  if (yaml.broken) return { ok: false, problems: faults };

  const settings = configSchema.safeParse(yaml.value ?? {}, { error: wordingOf });
  const parts = readableParts(yaml.value);
  const ruling = applyRules(parts, { folder: path.dirname(file), env });
  const { overrides, problems: wrongOverrides } = readOverrides(env);
  const chosen = chooseEnvironment(
    environment,
    env,
    fileChoice(yaml.value),
    parts.environments.map(([name]) => name),
  );
  const findings = [
    ...(settings.success ? [] : findingsOf(settings.error.issues, yaml.value)),
    ...ruling.problems,
    ...wrongOverrides,
    ...chosen.problems,
  ];
  const problems = [...faults, ...findings.map((finding) => placed(finding, file, yaml))].sort(byPlace);
  if (problems.length > 0 || !settings.success || chosen.environment === undefined) return { ok: false, problems };
  const config = resolveConfig(settings.data, { file, environment: chosen.environment, overrides });
  const warnings = ruling.warnings.map((finding) => placed(finding, file, yaml)).sort(byPlace);
  return { ok: true, config, warnings };
}

function fileChoice(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'environment' in value ? value.environment : undefined;
}

function placed({ path: where, at, ...rest }: Finding, file: string, yaml: YamlFile): ConfigProblem {
  if (typeof where === 'string') return { file, line: 0, column: 0, path: where, ...rest };
  return { file, ...yaml.positionOf(where, at), path: pathText(where), ...rest };
}

function byPlace(one: ConfigProblem, other: ConfigProblem): number {
  return one.line - other.line || one.column - other.column;
}

/** Where the settings come from and what is said instead of them. */
type Circumstances = { file: string; environment: string; overrides: Overrides };

/** The file's settings as the program uses them: paths absolute from the file's folder, overrides in, frozen. */
function resolveConfig(settings: Settings, { file, environment, overrides }: Circumstances): Config {
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

/** Everything the parts of a configuration must be to one another. */
function applyRules(parts: Readable, surroundings: Surroundings): Ruling {
  const rules = [environmentRule, sourceRule, mappingRule, folderRule, deliveryRule, exposureRule];
  return together(rules.map((rule) => rule(parts, surroundings)));
}
