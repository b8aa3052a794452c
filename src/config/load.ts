import path from 'node:path';
import type { Config } from './config.ts';
import { findingsOf, wordingOf } from './issues.ts';
import { chooseEnvironment, readOverrides } from './overrides.ts';
import { type ConfigProblem, type Finding, pathText } from './problem.ts';
import { readableParts } from './readable.ts';
import { resolveConfig } from './resolve.ts';
import { applyRules } from './rules/all-rules.ts';
import { configSchema } from './schema.ts';
import type { Variables } from './variables.ts';
import { readYaml, type YamlFile } from './yaml-file.ts';

export type ConfigSource = {
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
