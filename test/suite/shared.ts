// What the files of one process share, as a browser: begun by the first that needs it, ended after the last of them.

type End = () => Promise<unknown>;

/** null: this process is one file's. */
let ends: End[] | null = null;

/** From here on, in this process. What is returned ends all that is shared. */
export function beginSharing(): () => Promise<void> {
  const own: End[] = [];
  ends = own;
  return async () => {
    for (const end of own) await end();
  };
}

/** Whether it may outlive the file that began it: then it is ended in the end. */
export function isShared(end: End): boolean {
  ends?.push(end);
  return ends !== null;
}
