// An account may fill in what an entry leaves out. It is said beside the empty field, and declined there.

interface DecliningProps {
  /** As the account has it; undefined: it has none. */
  readonly byDefault: string | undefined;
  readonly isDeclined: boolean;
  /** For who hears it: `the stop`. */
  readonly what: string;
  readonly onDecline: (isDeclined: boolean) => void;
}

export function Declining({ byDefault, isDeclined, what, onDecline }: DecliningProps) {
  if (byDefault === undefined) return null;
  return (
    <>
      {isDeclined ? `not ${byDefault}, as by default` : `${byDefault} by default`},{' '}
      <button type="button" className="link" onClick={() => onDecline(!isDeclined)}>
        {isDeclined ? 'take it' : 'decline it'} <span className="unseen">({what} by default)</span>
      </button>
    </>
  );
}
