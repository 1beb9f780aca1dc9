/**
 * How a target is told, as `notify` of `stemma.yaml` says it: exactly one of `webhook`, `command`, `mail`, `ntfy`, `slack`. Secrets
 * are references; addresses may be.
 */
export interface TargetSettings {
  readonly webhook?: string | undefined;
  readonly command?: string | readonly string[] | undefined;
  readonly mail?: MailSettings | undefined;
  readonly ntfy?: string | undefined;
  readonly slack?: string | undefined;
  readonly secret?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly token?: string | undefined;
  /** Milliseconds. */
  readonly timeout?: number | undefined;
  readonly allowLinkLocal?: boolean | undefined;
}

/** Where a mail goes, and by which server. */
export interface MailSettings {
  readonly to: readonly string[];
  readonly from: string;
  readonly host: string;
  readonly port?: number | undefined;
  readonly security?: 'tls' | 'starttls' | 'none' | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}
