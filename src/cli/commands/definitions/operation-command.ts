import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import type { OperationContext } from '../../../operate/operation-context.ts';
import {
  type Operation,
  type Parameter,
  parametersOf,
  readInput,
  typedValue,
} from '../../../operations/operation.ts';
import { type CommonArgs, openOperatorContext } from '../../load-config.ts';
import type { Shell } from '../../shell.ts';
import { type Format, formatOf, printJson } from '../../terminal/print.ts';
import type { CommandDefinition, OptionDefinition } from './command-definition.ts';

/** What a view may use besides the result. */
export type Scene<Input> = { input: Input; context: OperationContext; format: Format; now: number };

/** How a person sees an operation. */
export type View<Input, Result> = {
  text(result: Result, scene: Scene<Input>): string | Promise<string>;
};

/** The command of an operation: its flags are the parameters, `--json` is the answer to a program. */
export function commandOf<Input extends z.ZodObject, Result>(
  one: Operation<Input, Result>,
  view: () => Promise<View<z.output<Input>, Result>>,
): CommandDefinition {
  const { parameters, required } = parametersOf(one);
  const all = Object.entries(parameters);
  const [argument] = all.filter(([, parameter]) => parameter['x-argument']);
  const options = all
    .filter(([, parameter]) => !parameter['x-argument'])
    .map(([name, parameter]) =>
      optionOf(name, parameter, { isRequired: required.includes(name), check: checkOf(one, name) }),
    );
  const { name, summary, examples, exits } = one;
  return {
    name,
    summary,
    ...(argument && {
      argument: {
        flags: `<${argument[0]}>`,
        key: argument[0],
        text: argument[1].description ?? '',
      },
    }),
    options,
    examples,
    exits,
    async load() {
      const [work, { text }] = await Promise.all([one.load(), view()]);
      return async (args: CommonArgs & Record<string, unknown>, shell: Shell): Promise<number> => {
        const given = Object.fromEntries(all.map(([key]) => [key, args[key]]));
        const input = readInput(one, given);
        await using context = await openOperatorContext(args, shell, { confirm: false });
        const result = await work.run(input, context);
        if (args.json) printJson(shell, work.json(result));
        else {
          const now = context.store.time.now();
          shell.out(await text(result, { input, context, format: formatOf(shell), now }));
        }
        return 0;
      };
    },
  };
}

/** Throws InvalidArgumentError for a text that a parameter does not take. */
function checkOf({ input }: Pick<Operation, 'input'>, name: string) {
  const schema = input.shape[name] as z.ZodType;
  const parameter = parametersOf({ input }).parameters[name];
  return (text: string): unknown => {
    const read = schema.safeParse(typedValue(parameter, text));
    if (!read.success) throw new InvalidArgumentError(read.error.issues[0]?.message ?? '');
    return read.data;
  };
}

function optionOf(
  name: string,
  parameter: Parameter,
  { isRequired, check }: { isRequired: boolean; check: (text: string) => unknown },
): OptionDefinition {
  const { type, description: text = '', enum: choices, default: usual } = parameter;
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (type === 'boolean') return { flags: name === 'yes' ? '-y, --yes' : flag, text };
  return {
    flags: `${flag} <${parameter['x-value'] ?? name}>`,
    text,
    ...(type === 'array' ? { isList: true } : choices ? { choices } : { parse: check }),
    ...(usual !== undefined && { default: { value: usual, shown: JSON.stringify(usual) } }),
    ...(isRequired && { isRequired }),
  };
}
