/** What the person at the terminal must mend; shown as it is, without a stack. */
export class SetupFailure extends Error {
  name = 'SetupFailure';
}
