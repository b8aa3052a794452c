import type { PoSyncError } from '../../core/errors.ts';
import type { CheckedFile, CheckTeller } from './check-file.ts';

/** Tells what `check` finds in one file. */
export type FilePrinter = CheckTeller & {
  done(checked: CheckedFile): void;
  failed(error: PoSyncError): void;
};

/** Tells what `check` finds, for people or for programs. */
export type CheckPrinter = {
  begin(): void;
  file(file: string): FilePrinter;
  end(): void;
};
