/** The service does not start, or a command does not run, and rightly so: the text says all that there is to know, and what to do. */
export class CannotStart extends Error {
  override readonly name: string = 'CannotStart';
}
