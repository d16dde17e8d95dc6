/** A page that a list of pages leads to. */
export interface Place {
  readonly href: string;
  readonly label: string;
}
