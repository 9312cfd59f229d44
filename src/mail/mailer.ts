// The port to the mail.

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Alerts of attacks have a rule of their own on how many there are; a verification goes to an address that is nobody's yet. */
  readonly purpose?: 'alert' | 'verification';
}

export interface Mailer {
  /** Resolves once the mail is handed over. */
  send(mail: Mail): Promise<void>;
}
