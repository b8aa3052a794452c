import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../../config/fields.ts';
import type { Shell } from '../../shell.ts';

/** A command as data: what its help shows, and the code that runs it, which is loaded on demand. */
export type CommandDefinition = {
  /** Words after `po-sync`, such as `batches list`. */
  name: string;
  summary: string;
  /** `key`: the name of the argument in `run`'s arguments. */
  argument?: { flags: string; key: string; text: string };
  options?: readonly OptionDefinition[];
  examples: readonly string[];
  exits: readonly ExitCode[];
  load: () => Promise<(args: never, shell: Shell) => Promise<number>>;
};

export type OptionDefinition = {
  flags: string;
  text: string;
  /** Throws InvalidArgumentError. */
  parse?: (text: string) => unknown;
  /** Can be given more than once; its value is the list of all. */
  isList?: true;
  choices?: readonly string[];
  default?: { value: unknown; shown: string };
  isRequired?: true;
};

export type ExitCode = readonly [code: string, meaning: string];

/** Adds a command to the program, and its group if the name has two words. */
export function addCommand(
  program: Command,
  definition: CommandDefinition,
  groups: Readonly<Record<string, string>>,
  run: (result: Promise<number>) => Promise<void>,
  shell: Shell,
): void {
  const words = definition.name.split(' ');
  const name = words.at(-1) ?? '';
  const parent = words.length === 1 ? program : groupOf(program, words[0] ?? '', groups);
  const command = parent.command(name).description(definition.summary);
  const { argument } = definition;
  if (argument) command.argument(argument.flags, argument.text);
  for (const option of definition.options ?? []) command.addOption(optionOf(option));
  command.addHelpText('after', helpEnd(definition.examples, definition.exits));
  command.action(async (value: unknown) => {
    const start = await definition.load();
    const given = {
      ...flagsOf(command),
      ...command.optsWithGlobals(),
      ...(argument ? { [argument.key]: value } : {}),
    };
    // Commander does not know the types of options; each command declares what its definition produces.
    await run(start(given as never, shell));
  });
}

function groupOf(
  program: Command,
  name: string,
  groups: Readonly<Record<string, string>>,
): Command {
  const existing = program.commands.find((one) => one.name() === name);
  return (
    existing ??
    program
      .command(name)
      .description(groups[name] ?? '')
      .helpCommand(false)
  );
}

function optionOf({
  flags,
  text,
  parse,
  isList,
  choices,
  default: value,
  isRequired,
}: OptionDefinition): Option {
  const option = new Option(flags, text);
  if (choices) option.choices(choices);
  if (parse) option.argParser(parse);
  if (isList) option.argParser(addToList);
  if (value) option.default(value.value, value.shown);
  if (isRequired) option.makeOptionMandatory();
  return option;
}

/** Parses an option that can be given more than once. */
export function addToList(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** Flags that are not given are false. A default in the option itself would show as "(default: false)". */
function flagsOf(command: Command): Record<string, false> {
  const all = [...command.options, ...(command.parent?.options ?? [])];
  const root = command.parent?.parent?.options ?? [];
  const flags = [...all, ...root].filter((option) => option.isBoolean());
  return Object.fromEntries(flags.map((option) => [option.attributeName(), false]));
}

/** The end of a command's help: examples and exit codes. */
export function helpEnd(examples: readonly string[], exits: readonly ExitCode[]): string {
  const lines = exits.map(([code, meaning]) => `  ${code.padEnd(8)} ${meaning}`);
  return [
    '',
    'Examples:',
    ...examples.map((one) => `  ${one}`),
    '',
    'Exit codes:',
    ...lines,
    '',
  ].join('\n');
}

/** Parses a duration as in the configuration: 250ms, 30s, 5m, 1h, 90d. Returns milliseconds. */
export function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('Enter a duration such as 30s, 15m or 1h.');
  return ms;
}
