import path from 'node:path';
import type { Config, Source } from './config.ts';
import type { TlsKeys } from './fields.ts';
import { findingsOf, wordingOf } from './issues.ts';
import { type ConfigProblem, type Finding, pathText } from './problem.ts';
import { deliveryRule, environmentRule, exposureRule } from './rules/environments.ts';
import {
  type Readable,
  type Ruling,
  readableParts,
  type Surroundings,
  together,
} from './rules/ruling.ts';
import { folderRule, sourceRule } from './rules/sources.ts';
import { configSchema, port, type Settings } from './schema.ts';
import { isWebAddress, type SourceSettings } from './source-schema.ts';
import type { Variables } from './variables.ts';
import {
  ADMIN_PORT,
  chooseEnvironment,
  FIRST_INSTANCE,
  INSTANCE,
  type Overrides,
  readOverrides,
} from './variables.ts';
import { readYaml, type YamlFile } from './yaml-file.ts';

type ConfigSource = {
  /** The YAML text. */
  text: string;
  /** The file, absolute. Relative paths in it start at its folder. */
  file: string;
  env: Variables;
  /** The environment named on the command line. */
  environment?: string;
};

export type LoadedConfig =
  | { ok: true; config: Config; warnings: ConfigProblem[] }
  | { ok: false; problems: ConfigProblem[] };

/**
 * Reads the text of a configuration file into a frozen `Config`, or reports every problem at once, in the order of the
 * file. Touches neither disk nor network, so it does not check whether folders exist.
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
    ...(settings.success ? portProblems(settings.data.admin.port, overrides) : []),
    ...chosen.problems,
  ];
  const problems = [...faults, ...findings.map((finding) => placed(finding, file, yaml))].sort(
    byPlace,
  );
  if (problems.length > 0 || !settings.success || chosen.environment === undefined)
    return { ok: false, problems };
  const config = resolveConfig(settings.data, { file, environment: chosen.environment, overrides });
  const warnings = ruling.warnings.map((finding) => placed(finding, file, yaml)).sort(byPlace);
  return { ok: true, config, warnings };
}

function fileChoice(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'environment' in value
    ? value.environment
    : undefined;
}

function placed(
  { path: where, at, ...rest }: Finding,
  file: string,
  yaml: YamlFile,
): ConfigProblem {
  if (typeof where === 'string') return { file, line: 0, column: 0, path: where, ...rest };
  return { file, ...yaml.positionOf(where, at), path: pathText(where), ...rest };
}

function byPlace(one: ConfigProblem, other: ConfigProblem): number {
  return one.line - other.line || one.column - other.column;
}

/** The origin of the settings and the values that override them. */
type Circumstances = { file: string; environment: string; overrides: Overrides };

/** Makes paths absolute from the file's folder, applies the overrides and freezes the result. */
function resolveConfig(
  settings: Settings,
  { file, environment, overrides }: Circumstances,
): Config {
  const folder = path.dirname(file);
  const absolute = (written: string) => path.resolve(folder, written);
  return frozen({
    ...settings,
    file,
    environment,
    data: absolute(settings.data),
    redis: resolveRedis(settings.redis, overrides.redisUrl, absolute),
    environments: Object.fromEntries(
      Object.entries(settings.environments).map(([name, one]) => [
        name,
        { ...one, ...resolveTls(one, absolute), ...resolveHeaders(one, absolute) },
      ]),
    ),
    sources: settings.sources.map((source) => resolveSource(source, absolute)),
    reports: { ...settings.reports, path: absolute(settings.reports.path) },
    notify: settings.notify.map(({ command, ...notice }) => ({
      ...notice,
      ...resolveTls(notice, absolute),
      ...(command !== undefined && { command: resolveCommand(command, absolute) }),
    })),
    admin: { ...settings.admin, port: resolvePort(settings.admin.port, overrides) },
  });
}

/** Daemons that are started with the same variables need different ports, except where 0 takes any free one. */
function resolvePort(port: number, { adminPort = port, instance = 0 }: Overrides): number {
  return adminPort === 0 ? 0 : adminPort + instance;
}

/** The number of the instance can lead past the last port. */
function portProblems(inFile: number, overrides: Overrides): Finding[] {
  const sum = resolvePort(inFile, overrides);
  if (port.safeParse(sum).success) return [];
  const { adminPort, instance = 0 } = overrides;
  const [path, name] =
    adminPort === undefined ? [['admin', 'port'], 'admin.port'] : [ADMIN_PORT, ADMIN_PORT];
  const added = `with ${INSTANCE} and ${FIRST_INSTANCE} added it is ${sum - instance} + ${instance} = ${sum}`;
  const hint = `set ${name} lower, with a port above it for each further daemon, or to 0 for any free port`;
  return [{ path, message: `${added}, but the highest port is 65535`, hint }];
}

/** Without TLS in the address that the variable gives, the keys of TLS mean nothing. */
function resolveRedis(
  redis: Settings['redis'],
  url: string | undefined,
  absolute: (written: string) => string,
) {
  const secure = resolveTls(redis, absolute);
  if (url === undefined) return { ...redis, ...secure };
  return { url, ...(url.startsWith('rediss:') && secure) };
}

function resolveSource(source: SourceSettings, absolute: (written: string) => string): Source {
  const answers = source.answers === undefined ? {} : { answers: absolute(source.answers) };
  const isAddress = source.type === 'export' && isWebAddress(source.path);
  const resolved = { ...source, ...answers, ...(isAddress ? {} : { path: absolute(source.path) }) };
  return resolved.type === 'export' ? { ...resolved, ...resolveTls(resolved, absolute) } : resolved;
}

function resolveTls(
  { tls }: { tls?: TlsKeys },
  absolute: (written: string) => string,
): { tls?: TlsKeys } {
  if (tls === undefined) return {};
  const files = (['caFile', 'certFile', 'keyFile'] as const).flatMap((key) => {
    const written = tls[key];
    return written === undefined ? [] : [[key, absolute(written)]];
  });
  return { tls: { ...tls, ...Object.fromEntries(files) } };
}

function resolveHeaders(
  { headers }: Settings['environments'][string],
  absolute: (written: string) => string,
): Pick<Settings['environments'][string], 'headers'> {
  if (headers === undefined) return {};
  const resolved = Object.entries(headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : { file: absolute(value.file) },
  ]);
  return { headers: Object.fromEntries(resolved) };
}

/** `./notify.sh` is a file next to the configuration; a bare name is searched in PATH. */
function resolveCommand(
  [program = '', ...args]: readonly string[],
  absolute: (written: string) => string,
): string[] {
  return [program.includes('/') ? absolute(program) : program, ...args];
}

function frozen<Value extends object>(value: Value): Value {
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && inner !== null) frozen(inner);
  return Object.freeze(value);
}

/** Checks every relation between parts of the configuration. */
function applyRules(parts: Readable, surroundings: Surroundings): Ruling {
  const rules = [environmentRule, sourceRule, folderRule, deliveryRule, exposureRule];
  return together(rules.map((rule) => rule(parts, surroundings)));
}
