/** An error that the user can fix; its message is shown without a stack trace. */
export class SetupFailure extends Error {
  name = 'SetupFailure';
}
