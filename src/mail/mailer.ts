// The port to the mail.

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mailer {
  /** Resolves once the mail is handed over. */
  send(mail: Mail): Promise<void>;
}
