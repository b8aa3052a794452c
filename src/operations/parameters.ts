import { z } from 'zod';

const COUNT = 'Enter a whole number above 0, such as 100.';

/** Parameters that operations share. `value`: how the help of the command calls it. */
export const flag = (description: string) =>
  z.boolean('Enter true or false.').default(false).meta({ description });

export const word = (description: string, value?: string) =>
  z
    .string()
    .max(1_000)
    .meta({ description, ...(value && { 'x-value': value }) });

export const argument = (description: string) =>
  z.string().min(1).max(1_000).meta({ description, 'x-argument': true });

/** A file: its path for a command, its name for a route, which takes its bytes as the body. */
export const file = (description: string) =>
  z.string().min(1).max(4_096).meta({ description, 'x-argument': true, 'x-file': true });

export const count = (description: string, least = 1) =>
  z.int(COUNT).min(least, COUNT).max(999_999_999, COUNT).meta({ description, 'x-value': 'count' });

/** Parameters of an operation that a person confirms. A program that asks for it has confirmed it. */
export const CONFIRMED = {
  dryRun: flag('only show what would happen'),
  yes: flag('do not ask for confirmation'),
};
